package lossmodel

// heapEntry is a packet in flight. Entries are ordered by due time, then by order of sending.
type heapEntry struct {
	due  int64  // due time, virtual, in nanoseconds
	seq  uint64 // number of the packet in the order of sending, unique
	slot int32  // slot of the packet in the pool
}

// before reports whether e is ordered before o.
func (e heapEntry) before(o heapEntry) bool {
	return e.due < o.due || e.due == o.due && e.seq < o.seq
}

// heap is a 4-ary min-heap. It is half as deep as a binary heap, and four children share a cache
// line. It is not container/heap because that would allocate an interface value for each entry.
type heap []heapEntry

// push adds an entry. In this heap, each entry has four children that are not before it.
func (h *heap) push(e heapEntry) {
	*h = append(*h, e)
	s := *h // from the end up, parents that come after e move down
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(s[parent]) {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = e
}

// pop removes and returns the smallest entry. The heap must not be empty.
func (h *heap) pop() heapEntry {
	s := *h
	top, last := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	if len(s) > 0 {
		s.siftDown(0, last)
	}
	return top
}

// init orders entries that are in any order.
func (h heap) init() {
	for i := (len(h) - 2) / 4; i >= 0 && len(h) > 1; i-- {
		h.siftDown(i, h[i])
	}
}

// siftDown stores e at index i and moves it down to its position.
func (h heap) siftDown(i int, e heapEntry) {
	for {
		first := 4*i + 1 // first of the four children of i
		if first >= len(h) {
			break
		}
		smallest := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(h[smallest]) {
				smallest = c
			}
		}
		if !h[smallest].before(e) {
			break
		}
		h[i] = h[smallest]
		i = smallest
	}
	h[i] = e
}
