package relay

import (
	"time"

	"wirelab/lossmodel"
)

// kind is the kind of an event.
type kind uint8

// Kinds of events. A datagram enters; then it and each of its copies end with one of the other kinds.
const (
	Entered   kind = iota // the datagram was read and passed to its link, which returned Verdict
	Left                  // the datagram was sent on
	dropped               // the queue of the link dropped it after it had entered
	unsent                // the system refused to send it
	overLimit             // the datagram was read and dropped because of Options.MaxQueued, without passing the link
	abandoned             // the datagram was in flight when the relay ended
)

// Event is something that happened to a datagram. The Event, Data and Trail are valid only during
// the call of the Tap.
type Event struct {
	Kind      kind
	At        time.Duration // time of the event
	Client    Client
	Way       Direction
	Seq       uint64 // number of the datagram in its direction, from 0
	Copy      int    // 0 for the datagram, 1 and up for copies made by the link
	Data      []byte
	Sent, Due time.Duration     // when the datagram was read, and when it was due
	Verdict   lossmodel.Verdict // decision of the link, if Kind is Entered
	Trail     *lossmodel.Trail  // what each stage did, if Kind is Entered; may be nil
	Lost      lossmodel.Cause   // cause of loss, if the datagram was lost; None otherwise
	Flipped   int               // number of flipped bits, if Kind is Left
	Spec      *lossmodel.Spec   // settings of the link, if Kind is Entered; must not be modified
	Waited    time.Duration     // see lossmodel.Delivery; if Kind is Left or dropped
}

// Tap is called for every event, in order, with the relay's lock held. It must return quickly.
type Tap func(*Event)

// Tap adds a tap. It must be called before Run. The links then record a Trail for each datagram.
func (r *Relay) Tap(t Tap) {
	r.taps = append(r.taps, t)
	for _, l := range r.lanes {
		l.link.RecordTrails()
	}
}

// emit passes an event to all taps. The event is copied to r.event, because a pointer to the
// parameter would cost an allocation for each event. The lock must be held.
func (r *Relay) emit(e Event) {
	r.event = e
	for _, t := range r.taps {
		t(&r.event)
	}
}

// emitEntered reports a datagram that was passed to its link.
func (r *Relay) emitEntered(c *client, l *lane, seq uint64, data []byte, v *lossmodel.Verdict) {
	const original = 0 // the trail of the datagram, not of a copy
	r.emit(Event{Kind: Entered, At: r.virtualNow, Client: c.Client, Way: l.direction, Seq: seq, Data: data,
		Sent: r.virtualNow,
		Due:  v.Due, Verdict: *v, Trail: l.link.Trail(original), Lost: v.Lost, Spec: l.spec})
}

// emitDone reports the end of a delivery to the taps: kind is how it ended, at when, and lost the
// cause if it was lost, otherwise lossmodel.None.
func (r *Relay) emitDone(c *client, l *lane, kind kind, d *lossmodel.Delivery, at time.Duration, lost lossmodel.Cause) {
	if len(r.taps) == 0 {
		return
	}
	r.emit(Event{Kind: kind, At: at, Client: c.Client, Way: l.direction, Seq: d.Tag & tagSeqMask, Copy: d.Copy,
		Data: d.Data,
		Sent: d.Sent, Due: d.Due, Lost: lost, Flipped: d.Flipped, Waited: d.Waited})
}
