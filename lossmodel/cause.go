package lossmodel

import "fmt"

// Cause says which stage ended a packet.
type Cause uint8

// The causes of loss.
const (
	None     Cause = iota // not lost
	Loss                  // dropped by itself, independently of its neighbours
	Burst                 // dropped in the bad state of a model with memory
	Queue                 // the queue before the bottleneck was full
	Fragment              // would have survived whole, but one of its fragments was dropped
	Corrupt               // damaged, and the checksum says so; a Link delivers these, marked Damaged
	NumCauses
)

// String returns the cause's name as reports spell it; None is "none".
func (c Cause) String() string {
	names := [NumCauses]string{"none", "loss", "burst", "queue", "fragment", "corrupt"}
	if c < NumCauses {
		return names[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}
