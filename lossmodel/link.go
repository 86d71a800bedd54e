package lossmodel

import "time"

// Link is one direction of a modelled network. It is not safe for concurrent
// use: it belongs to one event loop.
type Link struct {
	spec Spec
}

// NewLink returns a link that behaves as spec says. Each stage's stream is
// seeded from seed and name+"."+stage ("down.loss"), so two links of one seed
// differ.
func NewLink(spec Spec, seed uint64, name string) (*Link, error) { return &Link{spec: spec}, nil }

// Send gives a datagram of at most MaxDatagram bytes to the link at virtual time
// now, which must not be earlier than that of the last call. The bytes are
// copied. tag is handed back with each delivery and never travels.
func (l *Link) Send(now time.Duration, datagram []byte, tag uint64) Verdict { return Verdict{} }

// Next returns when the next delivery is due; ok is false if nothing is in flight.
func (l *Link) Next() (due time.Duration, ok bool) { return 0, false }

// Receive returns the next delivery that is due at or before now, ordered by due
// time and then by order of sending.
func (l *Link) Receive(now time.Duration) (Delivery, bool) { return Delivery{}, false }

// Reshape replaces the link's whole spec. It resets no state and re-times
// nothing that is in flight; a stage that is switched on for the first time
// starts its stream. On error the link stays as it was.
func (l *Link) Reshape(spec Spec) error { l.spec = spec; return nil }

// Spec returns what the link does at present.
func (l *Link) Spec() Spec { return l.spec }

// InFlight returns how many deliveries are under way, copies included.
func (l *Link) InFlight() int { return 0 }
