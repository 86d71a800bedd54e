package lossmodel

import (
	"time"

	"wirelab/lossmodel/netem"
)

// Spec is everything that can be set on a link. It is a plain value: copy it,
// compare it with ==; files are named, not held. Start from DefaultSpec; set fields, or use Set, which
// takes what people write.
type Spec struct {
	Loss      LossModel // nil: nothing is lost
	Duplicate Duplicate
	Corrupt   Corruption
	Rate      Rate
	Delay     Delay
	Reorder   Reorder
	MTU       int // bytes of the largest IP packet
	// Netem, if it is on, decides in place of all of the above but MTU and
	// Corrupt.Checksum.
	Netem netem.Params
}

// DefaultSpec returns a perfect link: nothing is lost, delayed, doubled, damaged
// or held up. The checksum is on and the MTU is Ethernet's.
func DefaultSpec() Spec {
	return Spec{
		Duplicate: Duplicate{Copies: 1},
		Corrupt:   Corruption{Bits: 1, Checksum: true},
		Rate:      Rate{Queue: 64_000},
		Reorder:   Reorder{Delay: 25 * time.Millisecond},
		MTU:       1500,
	}
}

// Validate says whether the spec makes sense as a whole: every value in its
// range, and those that depend on each other (a mean loss and a mean burst)
// possible together. The error is a *KeyError.
func (s Spec) Validate() error {
	for _, k := range settings {
		if err := k.check(&s); err != nil {
			return err
		}
	}
	if err := s.checkDelay(); err != nil || s.Loss == nil {
		return err
	}
	return s.Loss.check()
}
