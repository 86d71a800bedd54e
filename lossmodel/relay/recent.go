package relay

import (
	"fmt"
	"sync"
	"time"

	"wirelab/lossmodel"
)

// Fated is a datagram and its outcome.
type Fated struct {
	Client  Client
	Way     Way
	Seq     uint64 // of its direction, from 0
	Size    int
	At      time.Duration     // when it was read
	Overrun bool              // too much was under way already: the link never saw it
	Verdict lossmodel.Verdict // of the link
	Ends    [1 + lossmodel.MaxCopies]ending
	Trail   lossmodel.Trail // what each stage did to the datagram itself; last, as most of it is seldom touched
}

// ending is how a datagram, or a copy of it, ended.
type ending struct {
	Kind kind          // Entered: it has not ended yet
	At   time.Duration // when
}

// Recent remembers the newest datagrams of each direction. Its Tap copies a few hundred
// bytes, and allocates nothing.
type Recent struct {
	mu   sync.Mutex
	ways [2]struct {
		ring []Fated
		n    uint64 // that there ever were
	}
}

// NewRecent returns a Recent for size datagrams of each direction.
func NewRecent(size int) *Recent {
	r := &Recent{}
	for way := range r.ways {
		r.ways[way].ring = make([]Fated, size)
	}
	return r
}

// Tap notes an event.
func (r *Recent) Tap(e *Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &r.ways[e.Way]
	x := &w.ring[e.Seq%uint64(len(w.ring))]
	switch {
	case e.Kind == Entered || e.Kind == overrun:
		x.Client, x.Way, x.Seq, x.Size, x.At, x.Overrun, x.Verdict = e.Client, e.Way, e.Seq, len(e.Data), e.Sent, e.Kind == overrun, e.Verdict
		clear(x.Ends[:1+e.Verdict.Copies])
		x.Trail.N = 0
		if e.Trail != nil {
			x.Trail.N = copy(x.Trail.Steps[:], e.Trail.All())
		}
		w.n = e.Seq + 1
	case x.Seq == e.Seq && e.Copy < len(x.Ends):
		x.Ends[e.Copy] = ending{e.Kind, e.At}
	}
}

// Find returns the n-th datagram of a direction, from 0; false if it is not remembered.
func (r *Recent) Find(way Way, n uint64) (Fated, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &r.ways[way]
	if n >= w.n || n+uint64(len(w.ring)) < w.n {
		return Fated{}, false
	}
	x := w.ring[n%uint64(len(w.ring))]
	return x, x.Seq == n
}

// Newest appends the newest datagrams of a direction, at most n, from the oldest on. It
// holds up the traffic for a few of them at a time only.
func (r *Recent) Newest(list []Fated, way Way, n int) []Fated {
	const atOnce = 16
	w := &r.ways[way]
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

// Fate describes the outcome of the datagram so far in a few words.
func (x *Fated) Fate() string {
	end := x.Ends[0]
	switch {
	case x.Overrun:
		return "lost by queue: too much is under way"
	case x.Verdict.Lost != lossmodel.None:
		return "lost by " + x.Verdict.Lost.String()
	case end.Kind == Left:
		return "left after " + shortTime(end.At-x.At)
	case end.Kind == ended:
		return "lost by " + lossmodel.Corrupt.String()
	case end.Kind == unsent:
		return "the system would not send it"
	}
	return "under way, due after " + shortTime(x.Verdict.Due-x.At)
}

// Lost reports whether the datagram was not delivered and will not be.
func (x *Fated) Lost() bool {
	return x.Overrun || x.Verdict.Lost != lossmodel.None || x.Ends[0].Kind == ended || x.Ends[0].Kind == unsent
}

// Stages returns the name of each stage and what it did.
func (x *Fated) Stages() (list [][2]string) {
	for i := range x.Trail.All() {
		s := &x.Trail.Steps[i]
		words := "lets it pass"
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
				words = "under way"
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
