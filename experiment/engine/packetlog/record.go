// Package packetlog records the packets of a lane: what each of them carried, and its
// outcome. Meters, the inspector, reports and screens share its types.
package packetlog

import (
	"fmt"
	"time"

	"wirelab/lossmodel"
)

// Outcome is how one copy of a packet ended. Law, tested: packets sent plus copies made by
// the link equal the sum over all outcomes.
type Outcome uint8

// The outcomes. Wrong must never happen: it turns the whole lab red.
const (
	InFlight     Outcome = iota // still in flight at the moment of the record
	Decoded                     // decoded, and newer than everything shown
	Stale                       // decoded, but older than what is shown; still kept and acked
	Duplicate                   // a copy of a packet that was decoded already
	Lost                        // dropped by the link; Record.Cause is the stage
	NoBaseline                  // the receiver no longer holds the reference
	Corrupt                     // failed the checksum, or the receiver refused or doubted it
	UnknownCodec                // names a codec or an epoch that the receiver does not know
	Tainted                     // checksum off: decoded from damaged bytes, from a tainted frame, or as another packet
	Wrong                       // decoded without an error, yet different from what was sent
	Unknown                     // its fate was still unknown when the run ended, over a real network
	NumOutcomes
)

// String returns the outcome's name as reports spell it.
func (o Outcome) String() string {
	names := [NumOutcomes]string{"in_flight", "decoded", "stale", "duplicate", "lost", "no_baseline", "corrupt", "unknown_codec",
		"tainted", "wrong", "unknown"}
	if o < NumOutcomes {
		return names[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// Failed reports whether the packet arrived, but gave no frame that the receiver can trust.
// Every page, report and chart uses failure in this sense. Wrong is not among them: it is a
// fault of the encoder and not of the link.
func (o Outcome) Failed() bool {
	return o == NoBaseline || o == Corrupt || o == UnknownCodec || o == Tainted
}

// Stored reports whether a packet with this outcome went into the receiver's history.
func (o Outcome) Stored() bool { return o == Decoded || o == Stale || o == Tainted || o == Wrong }

// Record describes one packet, or one copy of it, from sending to outcome.
type Record struct {
	Seq      uint64
	Copy     int           // 0, or 1.. for a copy made by the link
	Sent     time.Duration // virtual time
	Due      time.Duration // when it arrives; 0 if lost
	Arrived  time.Duration // 0 while in flight or if lost
	Encoder  string
	Epoch    uint64
	Baseline int // distance in packets; 0 = the initial state
	Payload  int // bytes
	Wire     int // bytes
	Items    int
	Changed  int // rows that differed from the baseline
	Outcome  Outcome
	Cause    lossmodel.Cause // when lost
	EncodeNS int64           // nanoseconds in this process; not reproducible
	DecodeNS int64
	Seam     bool // first packet after the source's recording restarted
	// Across: sent after a restart of the recording, and builds on a frame from before the
	// restart, so it is as large as the first packet after it; that packet counts too.
	Across bool
}

// ID identifies one packet of a lane, or one copy of it.
type ID struct {
	Seq  uint64
	Copy int
}

// ID returns the identity of the packet.
func (r *Record) ID() ID { return ID{r.Seq, r.Copy} }
