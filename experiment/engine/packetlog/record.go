// Package packetlog defines the record of a packet, from sending to outcome, and stores the newest
// records of a lane. Meters, the inspector, reports and screens share its types.
package packetlog

import (
	"fmt"
	"time"

	"wirelab/experiment/container"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// Outcome is the outcome of one copy of a packet. The sum over all outcomes equals the number of
// packets sent plus the number of copies made by the link.
type Outcome uint8

// The outcomes. Wrong must never happen.
const (
	InFlight     Outcome = iota // still in flight when the record was made
	Decoded                     // decoded, and accepted as the newest frame
	Stale                       // decoded after a newer frame; still stored and acked
	Duplicate                   // a copy of a packet that was decoded before
	Lost                        // dropped by the link; Record.Cause is the stage
	NoBaseline                  // the receiver no longer has the reference
	Corrupt                     // damaged, or rejected by the decoder
	UnknownCodec                // has a codec or an epoch that is unknown to the receiver
	Wrong                       // decoded without an error, but different from the sender's frame
	Unknown                     // real network: no arrival was reported in time
	NumOutcomes
)

// Kinds of datagrams without a packet of their own, in place of the outcome. Their records have only
// Sent, Wire and, as Seq, the number of the next packet.
const (
	Parity   Outcome = NumOutcomes + iota // of redundancy
	Messages                              // parts of messages
	Segment                               // of a stream
	numKinds
)

// String returns the outcome's name as in reports.
func (o Outcome) String() string {
	names := [numKinds]string{"in_flight", "decoded", "stale", "duplicate", "lost", "no_baseline", "corrupt", "unknown_codec",
		"wrong", "unknown", "parity", "messages", "segment"}
	if o < numKinds {
		return names[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// Failed reports whether the packet arrived, but the receiver has no correct frame of it. All pages,
// reports and charts use the word failure in this sense. Wrong is not a failure: the encoder causes
// it, not the link.
func (o Outcome) Failed() bool {
	return o == NoBaseline || o == Corrupt || o == UnknownCodec
}

// In returns the count of c that the outcome belongs to.
func (o Outcome) In(c *figures.Counts) *int64 {
	return [NumOutcomes]*int64{&c.InFlight, &c.Decoded, &c.Stale, &c.Duplicate, &c.Lost, &c.Failures.NoBaseline, &c.Failures.Corrupt,
		&c.Failures.UnknownCodec, &c.Wrong, &c.Unknown}[o]
}

// Stored reports whether the receiver stored the frame of a packet with this outcome in its history.
func (o Outcome) Stored() bool { return o == Decoded || o == Stale || o == Wrong }

// Record describes one packet, or one copy of it, from sending to outcome.
type Record struct {
	Seq      uint64
	Copy     int           // 0 for the packet itself, from 1 for the copies made by the link
	Sent     time.Duration // virtual time
	Due      time.Duration // when it will arrive; 0 if lost or unknown
	Arrived  time.Duration // 0 if in flight or lost
	Late     time.Duration // how long after its display time it arrived; 0 if in time, or over a network
	Encoder  string
	Epoch    uint64
	Baseline int // distance to the baseline in packets; 0 means the initial state
	Payload  int // bytes
	Wire     int // bytes
	Items    int // items in the frame
	Changed  int // rows that differed from the baseline
	Outcome  Outcome
	Cause    lossmodel.Cause // stage that dropped it, if Outcome is Lost or it was repaired
	EncodeNS int64           // wall time of the encoder; not reproducible
	DecodeNS int64           // wall time of the decoder; not reproducible
	Seam     bool            // first packet after a restart of the recording
	// Repair is how redundancy delivered the packet instead of its own datagram. RepairedFrom is then the
	// sequence number of the packet that repeated it, or the number of its group.
	Repair       container.Repair
	RepairedFrom uint64
	// CrossesLoop is set for the first packet after a restart of the recording, and for packets after it
	// with a reference from before the restart. They are large, since all cubes jump at a loop point.
	CrossesLoop bool
}

// RepairedBy describes the redundancy that delivered the packet, such as "parity of group 17"; "" if
// none did.
func (r *Record) RepairedBy() string {
	switch r.Repair {
	case container.ByRepeat:
		return fmt.Sprintf("a repeat in the datagram of packet %d", r.RepairedFrom)
	case container.ByParity:
		return fmt.Sprintf("parity of group %d", r.RepairedFrom)
	}
	return ""
}

// ID identifies a packet of a lane, or a copy of it.
type ID struct {
	Seq  uint64
	Copy int
}

// ID returns the identity of the packet.
func (r *Record) ID() ID { return ID{r.Seq, r.Copy} }
