package netem

import (
	"container/heap"
	"time"
)

// lineTime returns how long the line takes for a packet, in nanoseconds, by the
// kernel's widths of integers: an overhead that leaves less than nothing lasts
// for ages, and what would last beyond the horizon is cut there.
func (p *Params) lineTime(wire int) int64 {
	size := uint64(wire) + uint64(int64(p.Rate.Overhead))
	if p.Rate.CellSize > 0 {
		cells := uint32(size) / p.Rate.CellSize
		if size > uint64(cells*p.Rate.CellSize) {
			cells++
		}
		size = uint64(cells * (p.Rate.CellSize + uint32(p.Rate.CellOverhead)))
	}
	return int64(min(size*uint64(time.Second)/p.Rate.Bytes, 2*horizon))
}

// waiting is the packets that have not left: a heap of when they do.
type waiting struct {
	leaves []int64
	latest int64 // of the times to send of those that wait
	peak   int   // the most there were
}

// Len, Less and Swap implement heap.Interface. heap.Fix does not call Push and Pop, which would
// allocate.
func (w *waiting) Len() int           { return len(w.leaves) }
func (w *waiting) Less(i, j int) bool { return w.leaves[i] < w.leaves[j] }
func (w *waiting) Swap(i, j int)      { w.leaves[i], w.leaves[j] = w.leaves[j], w.leaves[i] }
func (w *waiting) Push(any)           { panic("not used") }
func (w *waiting) Pop() any           { panic("not used") }

// last returns the latest time to send of those that wait.
func (w *waiting) last() (int64, bool) { return w.latest, len(w.leaves) > 0 }

// leave removes the packets that left before now.
func (w *waiting) leave(now int64) {
	for len(w.leaves) > 0 && w.leaves[0] < now {
		n := len(w.leaves) - 1
		w.leaves[0] = w.leaves[n]
		w.leaves = w.leaves[:n]
		heap.Fix(w, 0)
	}
}

func (w *waiting) add(send, leaves int64) {
	if len(w.leaves) == 0 || send > w.latest {
		w.latest = send
	}
	w.leaves = append(w.leaves, leaves)
	w.peak = max(w.peak, len(w.leaves))
	heap.Fix(w, len(w.leaves)-1)
}
