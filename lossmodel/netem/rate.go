package netem

import (
	"container/heap"
	"time"
)

// transmissionTime returns how long the line takes for a packet of wire bytes, in nanoseconds, with the
// kernel's integer widths: with an overhead that makes the size negative, the time is very long.
// It is limited to twice the horizon.
func (p *Params) transmissionTime(wire int) int64 {
	size := uint64(wire) + uint64(int64(p.Rate.Overhead)) // a negative sum wraps around
	if p.Rate.CellSize > 0 {
		cells := uint32(size) / p.Rate.CellSize
		if size > uint64(cells*p.Rate.CellSize) {
			cells++
		}
		size = uint64(cells * (p.Rate.CellSize + uint32(p.Rate.CellOverhead)))
	}
	return int64(min(size*uint64(time.Second)/p.Rate.Bytes, 2*horizon))
}

// waiting holds the departure times of the packets that have not left, as a heap. All times are in
// nanoseconds.
type waiting struct {
	departures []int64
	latestSend int64 // latest send time (without slots) among the waiting packets
	peak       int   // largest number of waiting packets so far
}

// Len, Less and Swap implement heap.Interface. heap.Fix does not call Push and Pop, which would
// allocate.
func (w *waiting) Len() int           { return len(w.departures) }
func (w *waiting) Less(i, j int) bool { return w.departures[i] < w.departures[j] }
func (w *waiting) Swap(i, j int)      { w.departures[i], w.departures[j] = w.departures[j], w.departures[i] }
func (w *waiting) Push(any)           { panic("not used") }
func (w *waiting) Pop() any           { panic("not used") }

// findLatestSend returns the latest send time of the waiting packets, or false if none is waiting.
func (w *waiting) findLatestSend() (int64, bool) { return w.latestSend, len(w.departures) > 0 }

// removeDeparted removes packets that left before now.
func (w *waiting) removeDeparted(now int64) {
	for len(w.departures) > 0 && w.departures[0] < now {
		n := len(w.departures) - 1
		w.departures[0] = w.departures[n]
		w.departures = w.departures[:n]
		heap.Fix(w, 0)
	}
}

// add adds a packet. departure is the time at which the packet leaves. send is the earlier time at which it
// would leave if packets could leave at any time, not only in the intervals that netem's option "slot"
// opens. Both are in nanoseconds.
func (w *waiting) add(send, departure int64) {
	if len(w.departures) == 0 || send > w.latestSend {
		w.latestSend = send
	}
	w.departures = append(w.departures, departure)
	w.peak = max(w.peak, len(w.departures))
	heap.Fix(w, len(w.departures)-1)
}
