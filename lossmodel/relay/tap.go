package relay

import (
	"time"

	"wirelab/lossmodel"
)

// kind is what happened to a datagram.
type kind uint8

// What can happen to a datagram: it enters, then it and each of its copies leave, or end.
const (
	Entered   kind = iota // was read and given to its link, which decided Verdict
	Left                  // was sent on
	ended                 // was damaged, and its checksum would say so
	unsent                // the system would not send it
	overrun               // was read, but there was too much under way already: the link never saw it
	abandoned             // was under way when the relay ended
)

// Event is something that happened to a datagram. It, Data and Trail are valid during the call only.
type Event struct {
	Kind      kind
	At        time.Duration // when it happened
	Client    Client
	Way       Way
	Seq       uint64 // of its direction, from 0
	Copy      int
	Data      []byte
	Sent, Due time.Duration     // when it entered; when it was to leave
	Verdict   lossmodel.Verdict // of Entered
	Trail     *lossmodel.Trail  // of Entered: what each stage did
	Lost      lossmodel.Cause   // of Ended and Overrun
	Flipped   int               // bits, of Left and Ended
}

// Tap sees all events, in order, with the relay's lock held: it must be quick.
type Tap func(*Event)

// Tap makes t see all events of a relay that does not run yet. Links are watched then,
// which costs a little.
func (r *Relay) Tap(t Tap) {
	r.taps = append(r.taps, t)
	for _, l := range r.lanes {
		l.link.Watch()
	}
}

// tell shows an event to all taps. It lies in the relay's own memory, which is why it is
// theirs during the call only.
func (r *Relay) tell(e Event) {
	r.event = e
	for _, t := range r.taps {
		t(&r.event)
	}
}

func (r *Relay) tapEntered(c *client, l *lane, seq uint64, data []byte, v *lossmodel.Verdict) {
	r.tell(Event{Kind: Entered, At: r.now, Client: c.Client, Way: l.way, Seq: seq, Data: data, Sent: r.now,
		Due: v.Due, Verdict: *v, Trail: l.link.Trail(0), Lost: v.Lost})
}

func (r *Relay) tapLeft(c *client, l *lane, kind kind, d *lossmodel.Delivery, at time.Duration, lost lossmodel.Cause) {
	if len(r.taps) == 0 {
		return
	}
	r.tell(Event{Kind: kind, At: at, Client: c.Client, Way: l.way, Seq: d.Tag & maxSeq, Copy: d.Copy, Data: d.Data,
		Sent: d.Sent, Due: d.Due, Lost: lost, Flipped: d.Flipped})
}
