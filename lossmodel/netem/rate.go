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

// waiting is the packets that have not left, as a heap of their departure times in nanoseconds.
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

// lastSend returns the latest send time of the waiting packets; false if none.
func (w *waiting) lastSend() (int64, bool) { return w.latestSend, len(w.departures) > 0 }

// removeDeparted removes packets that left before now.
func (w *waiting) removeDeparted(now int64) {
	for len(w.departures) > 0 && w.departures[0] < now {
		n := len(w.departures) - 1
		w.departures[0] = w.departures[n]
		w.departures = w.departures[:n]
		heap.Fix(w, 0)
	}
}

// add adds a packet. send is when it leaves without slots, and leaves its departure, which slots
// may delay.
func (w *waiting) add(send, leaves int64) {
	if len(w.departures) == 0 || send > w.latestSend {
		w.latestSend = send
	}
	w.departures = append(w.departures, leaves)
	w.peak = max(w.peak, len(w.departures))
	heap.Fix(w, len(w.departures)-1)
}
