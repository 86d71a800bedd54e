package align

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sort"

	"wirelab/encoders/rangecoder"
)

const (
	maxCells = 128 // in a window: 4 MB
	probe    = 512 // bytes by which the suffix array tells candidates apart
	maxSieve = 25  // bits of a hash: as many bits as eight times the largest window
)

// window is the part of the source that is searched thoroughly for one block: the
// cells that the index says are most like it, side by side, and the order of
// their suffixes.
type window struct {
	text  []byte
	parts []part
	order []int32
	room  *scratch
	taken []bool   // cells
	grams []uint64 // a sieve: hashes of the eight bytes from each place
	shift uint     // of such a hash
}

// part is a piece of the source in a window.
type part struct {
	at      int // in the window
	address int64
	size    int
}

// covers reports whether the window suffices, where votes measure how much each cell
// resembles the block: it has nine tenths of what the best cells have. If it has half, that
// is enough where cells are hardly more like the block than most are: then one part of
// the source is as good as another, and to sort its suffixes would be in vain.
func (w *window) covers(votes []int32, want []bool) bool {
	var have, all, haveBest, best int64
	floor := 2 * median(votes)
	for i, v := range votes {
		taken := i < len(w.taken) && w.taken[i]
		if taken {
			have += int64(v)
		}
		if want[i] {
			all += int64(v)
			if v > floor {
				best += int64(v)
				haveBest += int64(v) * int64(rangecoder.Flag(taken))
			}
		}
	}
	return len(w.taken) > 0 && have*2 >= all && haveBest*10 >= best*9
}

// median returns the middle one of the values, 0 of none.
func median(values []int32) int32 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// choose picks the cells with the most votes, and the neighbours of those with
// many.
func choose(votes []int32) []bool {
	order := make([]int, 0, len(votes))
	for i, v := range votes {
		if v > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(votes[b]) - int(votes[a]) })
	want, left := make([]bool, len(votes)), maxCells
	take := func(i int) {
		if left > 0 && i >= 0 && i < len(want) && !want[i] {
			want[i] = true
			left--
		}
	}
	for _, i := range order {
		take(i)
		if votes[i] > 200 {
			take(i - 1)
			take(i + 1)
		}
	}
	return want
}

// fill makes the window hold the cells that are wanted of the space.
func (w *window) fill(s *space, want []bool) {
	w.taken = want
	if w.text == nil { // all at once, so that nothing is left over from growing
		most := int(min(maxCells*Cell, int64(len(s.old)+len(s.new))))
		w.text, w.order, w.room = make([]byte, 0, most), make([]int32, most), newScratch(most)
	}
	w.text, w.parts = w.text[:0], w.parts[:0]
	for i, wanted := range want {
		if wanted {
			w.take(s, int64(i)*Cell)
		}
	}
	w.order = w.order[:len(w.text)]
	suffixes(w.text, w.order, 256, w.room)
	if w.grams == nil {
		size := min(max(bits.Len(uint(cap(w.text)-1))+3, 6), maxSieve)
		w.grams, w.shift = make([]uint64, 1<<size/64), uint(64-size)
	}
	clear(w.grams)
	for i := 0; i+8 <= len(w.text); i++ {
		h := gram(w.text[i:]) >> w.shift
		w.grams[h>>6] |= 1 << (h & 63)
	}
}

// take appends the cell at an address, which may lie in two files.
func (w *window) take(s *space, address int64) {
	for end := address + Cell; address < end; {
		b := s.from(address)
		if len(b) == 0 {
			return
		}
		b = b[:min(int64(len(b)), end-address)]
		if last := len(w.parts) - 1; last >= 0 && w.parts[last].address+int64(w.parts[last].size) == address &&
			address != int64(len(s.old)) {
			w.parts[last].size += len(b)
		} else {
			w.parts = append(w.parts, part{len(w.text), address, len(b)})
		}
		w.text = append(w.text, b...)
		address += int64(len(b))
	}
}

// gram hashes eight bytes.
func gram(b []byte) uint64 {
	return binary.LittleEndian.Uint64(b) * 0x9E3779B97F4A7C15
}

// longest returns where in the source the longest beginning of t lies and how long
// it is; at least eight bytes or nothing. What is longer than probe is as good as
// another that is. What it takes is added to compared.
func (w *window) longest(t []byte, compared *int64) (address int64, n int) {
	if len(t) < 8 || len(w.text) < 8 {
		return 0, 0
	}
	if h := gram(t) >> w.shift; w.grams[h>>6]>>(h&63)&1 == 0 {
		return 0, 0
	}
	at, n := w.search(t[:min(len(t), probe)], compared)
	i := sort.Search(len(w.parts), func(i int) bool { return w.parts[i].at > at }) - 1
	p := w.parts[i]
	return p.address + int64(at-p.at), min(n, p.at+p.size-at)
}

// search finds the suffix that begins with most of t.
func (w *window) search(t []byte, compared *int64) (at, n int) {
	lo, hi := 0, len(w.order)-1
	var low, high int // bytes that the suffixes at lo and hi share with t, at least
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		k := min(low, high)
		s := w.text[w.order[mid]:]
		k = min(k, len(s))
		more := commonPrefix(s[k:], t[k:])
		k += more
		*compared += int64(more) + 1
		switch {
		case k == len(t):
			return int(w.order[mid]), k
		case k < len(s) && s[k] > t[k]:
			hi, high = mid, k
		default:
			lo, low = mid, k
		}
	}
	a, b := commonPrefix(w.text[w.order[lo]:], t), commonPrefix(w.text[w.order[hi]:], t)
	if a > b {
		return int(w.order[lo]), a
	}
	return int(w.order[hi]), b
}
