package lossmodel

// entry is a packet under way. The order is (due, seq): of two packets due at
// once the one sent first comes first.
type entry struct {
	due  int64  // nanoseconds of virtual time
	seq  uint64 // order of sending; unique
	slot int32  // where the packet's bytes are
}

func (e entry) before(o entry) bool {
	return e.due < o.due || e.due == o.due && e.seq < o.seq
}

// heap is a 4-ary min-heap: half as deep as a binary one, and the four children
// lie side by side in memory. Typed, so that nothing is boxed.
type heap []entry

func (h *heap) push(e entry) {
	*h = append(*h, e)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(s[up]) {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = e
}

// pop removes and returns the least entry; the heap must not be empty.
func (h *heap) pop() entry {
	s := *h
	top, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) > 0 {
		s.sink(last)
	}
	return top
}

// sink puts e in the place of the root and lets it sink to where it belongs.
func (h heap) sink(e entry) {
	i := 0
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(h[least]) {
				least = c
			}
		}
		if !h[least].before(e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}
