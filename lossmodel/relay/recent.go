package relay

import (
	"fmt"
	"sync"
	"time"

	"wirelab/lossmodel"
)

// Fated is a datagram with its outcome.
type Fated struct {
	Client  Client
	Way     Way
	Seq     uint64                           // number in its direction, from 0
	Size    int                              // payload bytes
	At      time.Duration                    // when it was read
	Overrun bool                             // dropped because of Options.MaxQueued; the link did not see it
	Verdict lossmodel.Verdict                // decision of the link
	Ends    [1 + lossmodel.MaxCopies]outcome // of the datagram and its copies
	// Trail is what each stage did to the datagram. It is the last field because it is rarely
	// read.
	Trail lossmodel.Trail
}

// outcome is how a datagram or a copy of it ended.
type outcome struct {
	Kind kind          // Entered while it is in flight
	At   time.Duration // when it ended
}

// Recent stores the newest datagrams of each direction. Its Tap copies a few hundred bytes and
// does not allocate.
type Recent struct {
	mu    sync.Mutex
	rings [2]struct {
		ring []Fated
		n    uint64 // number of datagrams so far
	}
}

// NewRecent returns a Recent for the given number of datagrams of each direction.
func NewRecent(size int) *Recent {
	r := &Recent{}
	for way := range r.rings {
		r.rings[way].ring = make([]Fated, size)
	}
	return r
}

// Tap records an event.
func (r *Recent) Tap(e *Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &r.rings[e.Way]
	x := &w.ring[e.Seq%uint64(len(w.ring))]
	switch {
	case e.Kind == Entered || e.Kind == overLimit:
		x.Client, x.Way, x.Seq, x.Size, x.At, x.Overrun, x.Verdict = e.Client, e.Way, e.Seq, len(e.Data), e.Sent,
			e.Kind == overLimit, e.Verdict
		clear(x.Ends[:1+e.Verdict.Copies])
		x.Trail.N = 0
		if e.Trail != nil {
			x.Trail.N = copy(x.Trail.Steps[:], e.Trail.All())
		}
		w.n = e.Seq + 1
	case x.Seq == e.Seq && e.Copy < len(x.Ends):
		x.Ends[e.Copy] = outcome{e.Kind, e.At}
	}
}

// Find returns datagram n of a direction, counted from 0; false if it is not stored.
func (r *Recent) Find(way Way, n uint64) (Fated, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &r.rings[way]
	if n >= w.n || n+uint64(len(w.ring)) < w.n {
		return Fated{}, false
	}
	x := w.ring[n%uint64(len(w.ring))]
	return x, x.Seq == n
}

// Newest appends at most n of the newest datagrams of a direction to list, oldest first. It
// releases the lock after every 16 datagrams so that traffic is not delayed.
func (r *Recent) Newest(list []Fated, way Way, n int) []Fated {
	const atOnce = 16
	w := &r.rings[way]
	r.mu.Lock()
	from := w.n - min(w.n, uint64(min(n, len(w.ring))))
	for i := from; i < w.n && i-from < uint64(n); i++ { // w.n grows while the lock is released
		if x := &w.ring[i%uint64(len(w.ring))]; x.Seq == i {
			list = append(list, *x)
		}
		if i%atOnce == 0 {
			r.mu.Unlock()
			r.mu.Lock()
		}
	}
	r.mu.Unlock()
	return list
}

// Fate describes the outcome of the datagram so far.
func (x *Fated) Fate() string {
	end := x.Ends[0]
	switch {
	case x.Overrun:
		return "lost by queue: memory limit reached"
	case x.Verdict.Lost != lossmodel.None:
		return "lost by " + x.Verdict.Lost.String()
	case end.Kind == Left:
		return "left after " + shortTime(end.At-x.At)
	case end.Kind == refusedByChecksum:
		return "lost by " + lossmodel.Corrupt.String()
	case end.Kind == unsent:
		return "not sent: refused by the system"
	}
	return "in flight, due after " + shortTime(x.Verdict.Due-x.At)
}

// Lost reports whether the datagram was not delivered and will not be.
func (x *Fated) Lost() bool {
	return x.Overrun || x.Verdict.Lost != lossmodel.None || x.Ends[0].Kind == refusedByChecksum || x.Ends[0].Kind == unsent
}

// Stages returns, for each stage, its name and what it did, followed by copies and the socket.
func (x *Fated) Stages() (list [][2]string) {
	for i := range x.Trail.All() {
		s := &x.Trail.Steps[i]
		words := "no effect"
		for n, w := range stepWords(s) {
			if n == 0 {
				words = w
			} else {
				words += "; " + w
			}
		}
		list = append(list, [2]string{s.Stage.String(), words})
		if s.Lost != lossmodel.None {
			break // the later stages have no effect
		}
	}
	for i, lost := range x.Verdict.CopyLost[:x.Verdict.Copies] {
		words := "lost by " + lost.String()
		if end := x.Ends[i+1]; lost == lossmodel.None {
			switch end.Kind {
			case Entered:
				words = "in flight"
			case Left:
				words = "left after " + shortTime(end.At-x.At)
			default:
				words = "lost by " + lossmodel.Corrupt.String()
			}
		}
		list = append(list, [2]string{fmt.Sprintf("copy %d", i+1), words})
	}
	if end := x.Ends[0]; end.Kind == Left {
		list = append(list, [2]string{"socket", "sent " + shortTime(end.At-x.Verdict.Due) + " after it was due"})
	}
	return list
}
