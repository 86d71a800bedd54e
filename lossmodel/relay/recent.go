package relay

import (
	"slices"
	"sync"
	"time"

	"wirelab/lossmodel"
)

// TracedDatagram is a datagram with its outcome.
type TracedDatagram struct {
	Client    Client
	Way       Direction
	Seq       uint64                           // number of the datagram in its direction, from 0
	Size      int                              // payload bytes
	At        time.Duration                    // time at which the datagram was read
	OverLimit bool                             // whether the datagram was dropped because of Options.MaxQueued; the link did not see it
	Verdict   lossmodel.Verdict                // decision of the link
	Spec      *lossmodel.Spec                  // settings of the link at that time; must not be modified
	Outcomes  [1 + lossmodel.MaxCopies]outcome // outcomes of the datagram and its copies
	// Trail is what each stage did to the datagram. It is the last field because it is rarely
	// read.
	Trail lossmodel.Trail
}

// outcome is how a datagram or a copy of it ended.
type outcome struct {
	Kind kind          // how the datagram or copy ended; Entered while it is in flight
	At   time.Duration // time at which the datagram or copy ended
}

// Recent stores the newest datagrams of each direction. Its Tap copies a few hundred bytes and
// does not allocate.
type Recent struct {
	mu    sync.Mutex
	rings [2]struct {
		ring []TracedDatagram
		n    uint64 // number of datagrams so far
	}
}

// NewRecent returns a Recent for the given number of datagrams of each direction.
func NewRecent(size int) *Recent {
	r := &Recent{}
	for direction := range r.rings {
		r.rings[direction].ring = make([]TracedDatagram, size)
	}
	return r
}

// Tap records an event: Entered and overLimit store a new datagram in place of the oldest, other
// events the outcome of a stored datagram or of a copy of it.
func (r *Recent) Tap(e *Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	window := &r.rings[e.Way]
	stored := &window.ring[e.Seq%uint64(len(window.ring))]
	switch {
	case e.Kind == Entered || e.Kind == overLimit:
		stored.Client, stored.Way, stored.Seq, stored.Size, stored.At, stored.OverLimit, stored.Verdict = e.Client, e.Way, e.Seq, len(e.Data), e.Sent,
			e.Kind == overLimit, e.Verdict
		stored.Spec = e.Spec
		clear(stored.Outcomes[:1+e.Verdict.Copies]) // the zero kind is Entered: in flight
		stored.Trail.N = 0
		if e.Trail != nil {
			stored.Trail.N = copy(stored.Trail.Steps[:], e.Trail.All())
		}
		window.n = e.Seq + 1
	case stored.Seq == e.Seq && e.Copy < len(stored.Outcomes):
		stored.Outcomes[e.Copy] = outcome{e.Kind, e.At}
		if e.Copy == 0 {
			stored.Trail.Served(&lossmodel.Delivery{Waited: e.Waited, Lost: e.Lost})
		}
	}
}

// Find returns datagram n of a direction, counted from 0; false if it is not stored.
func (r *Recent) Find(direction Direction, n uint64) (TracedDatagram, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	window := &r.rings[direction]
	if n >= window.n || n+uint64(len(window.ring)) < window.n {
		return TracedDatagram{}, false
	}
	stored := window.ring[n%uint64(len(window.ring))]
	return stored, stored.Seq == n // Seq differs if no event of datagram n was recorded
}

// Newest appends at most n of the newest datagrams of a direction to list, oldest first. It
// releases the lock after every 16 datagrams so that traffic is not delayed.
func (r *Recent) Newest(list []TracedDatagram, direction Direction, n int) []TracedDatagram {
	const perLock = 16 // datagrams copied before the lock is released
	window := &r.rings[direction]
	r.mu.Lock()
	from := window.n - min(window.n, uint64(min(n, len(window.ring))))
	for i := from; i < window.n && i-from < uint64(n); i++ { // window.n grows while the lock is released
		if stored := &window.ring[i%uint64(len(window.ring))]; stored.Seq == i {
			list = append(list, *stored)
		}
		if i%perLock == 0 {
			r.mu.Unlock()
			r.mu.Lock()
		}
	}
	r.mu.Unlock()
	return list
}

// Describe describes the outcome of the datagram (0) or of a copy of it (1 and up) so far, such as "lost (queue)" or
// "sent on after 52.000 ms".
func (d *TracedDatagram) Describe(copyNumber int) string {
	lost, end := d.Verdict.Lost, d.Outcomes[copyNumber]
	if copyNumber > 0 {
		lost = d.Verdict.CopyLost[copyNumber-1]
	}
	switch {
	case d.OverLimit:
		return "lost (memory limit of the proxy)"
	case lost != lossmodel.None:
		return "lost (" + lost.String() + ")"
	case end.Kind == Left:
		return "sent on after " + shortTime(end.At-d.At)
	case end.Kind == dropped:
		return "lost (" + lossmodel.Queue.String() + ")"
	case end.Kind == unsent:
		return "not sent: refused by the system"
	case copyNumber > 0:
		return "in flight"
	case d.Verdict.Waiting:
		return "in the queue"
	}
	return "in flight, due after " + shortTime(d.Verdict.Due-d.At)
}

// Delay returns the time from reading the datagram to sending it on; false if it was not sent.
func (d *TracedDatagram) Delay() (time.Duration, bool) {
	end := d.Outcomes[0]
	return end.At - d.At, end.Kind == Left
}

// Lost reports whether the datagram was not delivered and will not be.
func (d *TracedDatagram) Lost() bool {
	return d.OverLimit || d.Verdict.Lost != lossmodel.None || slices.Contains([]kind{dropped, unsent}, d.Outcomes[0].Kind)
}
