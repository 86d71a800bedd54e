package datagram

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
)

// maxAnchored leaves room for kinds that follow others.
const maxAnchored = 12

// findAnchors finds the four bytes with which many datagrams begin.
func (t *trainer) findAnchors() {
	seen := map[uint32]int{}
	for _, s := range t.samples {
		if len(s.data) >= 4 {
			seen[binary.BigEndian.Uint32(s.data)]++
		}
	}
	maps.DeleteFunc(seen, func(_ uint32, n int) bool { return n*300 < len(t.samples) || n < 4 })
	list := slices.SortedFunc(maps.Keys(seen), func(a, b uint32) int { return cmp.Or(seen[b]-seen[a], cmp.Compare(a, b)) })
	for _, a := range list[:min(len(list), maxAnchored-1)] {
		t.m.kinds = append(t.m.kinds, kind{anchor: a, hooked: true, key: -1, clock: -1})
	}
	t.resize()
}

// maxKey bounds where a key is looked for.
const maxKey = 24

// findKeys finds for each kind the unit that identifies the messages which resemble one another.
func (t *trainer) findKeys() {
	some := t.samples[:min(len(t.samples), 800)]
	score := func() []int {
		s := make([]int, len(t.m.kinds))
		for kind, list := range t.messages(some) {
			for i := range list {
				s[kind] += alike(&list[i], int(t.m.kinds[kind].key))
			}
		}
		return s
	}
	set := func(key int8) {
		for i := range t.m.kinds {
			t.m.kinds[i].key = key
		}
	}
	set(-1)
	best := score()
	keys := make([]int8, len(best))
	for i := range keys {
		keys[i] = -1
	}
	for key := range int8(maxKey) {
		set(key)
		for i, s := range score() {
			if s > best[i]+best[i]/100 {
				best[i], keys[i] = s, key
			}
		}
	}
	for i := range keys {
		t.m.kinds[i].key = keys[i]
	}
}

// alike counts the units that are what the reference has.
func alike(c *compared, key int) (n int) {
	for i, u := range c.units[:min(len(c.units), maxPlaces)] {
		r := c.ref.units
		if i <= key {
			r = c.any.units
		}
		if i < len(r) && r[i] == u {
			n++
		}
	}
	return n
}

// Bounds of lists.
const (
	minPeriod = 3
	fewest    = 60 // messages of a kind from which anything is concluded
)

// findLists finds the kinds that consist of a head and records of one size, and makes the records a
// kind of their own.
func (t *trainer) findLists() {
	for i, list := range t.messages(t.samples[:min(len(t.samples), 2000)]) {
		if len(list) < fewest || len(t.m.kinds) == maxKinds {
			continue
		}
		head, period := findList(list)
		if period == 0 {
			continue
		}
		record := uint8(len(t.m.kinds))
		t.m.kinds = append(t.m.kinds, kind{key: -1, clock: -1, size: uint8(period), then: record})
		t.m.kinds[i].size, t.m.kinds[i].then = uint8(head), record
		if head == 0 { // the message is a record already
			t.m.kinds[i].size = uint8(period)
		}
	}
	t.resize()
}

// findList returns the head and the period of messages that are lists, 0 if they are not. With the
// right period, bytes cost much less by their place in a record than with one more or less.
func findList(list []compared) (head, period int) {
	list = spread(list, 300)
	var table tally
	mean := 0
	for i := range list {
		mean += len(list[i].raw)
	}
	mean /= len(list)
	flat, whole := table.cost(list, 0, 1), table.cost(list, 256, 0)
	best := (flat - whole) / 10
	for p := minPeriod; p <= maxPlaces; p++ {
		for h := 0; h <= mean/3 && h+3*p <= mean; h++ {
			fits := 0
			for i := range list {
				if n := len(list[i].raw); n >= h && (n-h)%p == 0 {
					fits++
				}
			}
			if fits*20 < len(list)*19 {
				continue
			}
			c := table.cost(list, h, p)
			peak := min(table.cost(list, h, p-1), table.cost(list, h, p+1)) - c
			if peak > best && (flat-c)*20 >= (flat-whole)*9 {
				best, head, period = peak, h, p
			}
		}
	}
	return head, period
}

// tally counts bytes by place, as bits in the context of those before.
type tally [257 + maxPlaces][256][2]uint16

// cost returns the cost of the bytes of messages, in 1/1024 bit, if each is coded adaptively by its
// place: in the head, then in records of some period, 0 for none.
func (t *tally) cost(list []compared, head, period int) (bits int64) {
	clear(t[:])
	for i := range list {
		for at, b := range list[i].raw {
			if period == 0 {
				at = min(at, 255)
			} else if at >= head {
				at = 256 + (at-head)%period
			}
			node := 1
			for n := 7; n >= 0; n-- {
				bit := b >> n & 1
				c := &t[at][node]
				bits += int64(countLogs.all[c[0]+c[1]] - countLogs.one[c[bit]])
				c[bit]++
				if c[0]+c[1] >= 4095 {
					c[0], c[1] = c[0]/2, c[1]/2
				}
				node = node<<1 | int(bit)
			}
		}
	}
	return bits
}

// spread returns at most n messages, evenly chosen.
func spread[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}
