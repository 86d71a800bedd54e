package endpoint

import "fmt"

// Outcome is what a receiver made of a datagram.
type Outcome uint8

// The outcomes.
const (
	Decoded      Outcome = iota // decoded, and newer than everything decoded before
	Stale                       // decoded, but older than another; still kept and acked
	Duplicate                   // a copy of a packet that was decoded already
	NoBaseline                  // the receiver no longer holds the reference
	Corrupt                     // malformed, or the decoder refused it
	UnknownCodec                // names a codec or an epoch that the receiver does not know
	numOutcomes
)

// String returns the outcome's name as reports spell it.
func (o Outcome) String() string {
	names := [numOutcomes]string{"decoded", "stale", "duplicate", "no_baseline", "corrupt", "unknown_codec"}
	if o < numOutcomes {
		return names[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}
