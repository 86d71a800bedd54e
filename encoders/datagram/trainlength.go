package datagram

import (
	"cmp"
	"maps"
	"slices"
)

// learnLengths counts lengths in the context of the packet's length.
func (t *trainer) learnLengths() {
	l := &t.m.length
	seen := map[int]int{}
	for _, s := range t.samples {
		if n := len(s.data); n > 0 && n <= maxBytes {
			seen[n]++
		}
	}
	list := slices.SortedFunc(maps.Keys(seen), func(a, b int) int { return cmp.Or(seen[b]-seen[a], a-b) })
	for i, n := range list[:min(len(list), common-1)] {
		l.known[i+1] = uint16(n)
	}
	l.fill()
	var which [sizes][common][2]int64
	var off [offsets][2]int64
	f, k := newFlow(t.m), newCoder(t.m, false)
	k.bare = true
	for i := range t.samples {
		s := &t.samples[i]
		past := f.before(s)
		n := len(s.data)
		if n == 0 || n > maxBytes {
			continue
		}
		size := len(k.encode(nil, s.data, past))
		// The cost of the length is not known yet: it may be a byte more.
		for _, size := range []int{size, size, size + 1} {
			i := int(l.index[n])
			countTree(which[min(size, sizes-1)][:], i, 6)
			countTree(which[0][:], i, 6)
			if d := n - size - offsetMin; i == 0 && d >= 0 && d < offsets {
				countTree(off[:], d, 5)
			} else if i == 0 {
				countTree(off[:], offsets-1, 5)
			}
		}
	}
	share := func(n [2]int64, prior int64) int64 { return (n[1]<<16 + 2*prior) / (n[0] + n[1] + 2) }
	bound := func(p int64) uint16 { return uint16(min(max(p, 32), 1<<16-32)) }
	for i := range common {
		l.which[0][i] = bound(share(which[0][i], 1<<15))
		for size := 1; size < sizes; size++ {
			l.which[size][i] = bound(share(which[size][i], int64(l.which[0][i])))
		}
	}
	for i := range off {
		l.off[i] = bound(share(off[i], 1<<15))
	}
}

// countTree counts the bits of v, of n bits, as tree codes them.
func countTree(t [][2]int64, v, n int) {
	at := 1
	for i := n - 1; i >= 0; i-- {
		bit := v >> i & 1
		t[at][bit]++
		at = at<<1 | bit
	}
}
