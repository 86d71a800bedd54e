package engine

import (
	"fmt"

	"wirelab/experiment/endpoint"
)

// Outcome is how one copy of a packet ended. Law, tested: packets sent plus
// copies made by the link equal the sum over all outcomes.
type Outcome uint8

// The outcomes. Wrong must never happen: it turns the whole lab red.
const (
	InFlight     Outcome = iota // still in flight when asked
	Decoded                     // decoded, and newer than everything shown
	Stale                       // decoded, but older than what is shown; still kept and acked
	Duplicate                   // a copy of a packet that was decoded already
	Lost                        // dropped by the link; the cause says by which stage
	NoBaseline                  // the receiver no longer holds the reference
	Corrupt                     // failed the checksum, or the receiver refused or doubted it
	UnknownCodec                // names a codec or an epoch that the receiver does not know
	Tainted                     // checksum off: decoded from damaged bytes, from a frame that was, or as another packet
	Wrong                       // decoded without complaint, yet different from what was sent
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

// outcomeOf converts a receiver's outcome to the lab's.
func outcomeOf(o endpoint.Outcome) Outcome {
	return [...]Outcome{endpoint.Decoded: Decoded, endpoint.Stale: Stale, endpoint.Duplicate: Duplicate,
		endpoint.NoBaseline: NoBaseline, endpoint.Corrupt: Corrupt, endpoint.UnknownCodec: UnknownCodec}[o]
}

// Failed reports whether the packet arrived, but gave no frame that the receiver can
// trust. Every page, report and chart means this by failure. Wrong is not among them:
// it is a fault of the encoder and not of the link.
func (o Outcome) Failed() bool {
	return o == NoBaseline || o == Corrupt || o == UnknownCodec || o == Tainted
}
