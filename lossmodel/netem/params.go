package netem

import (
	"fmt"
	"time"
)

// Params is what a line says, as tc hands it to the kernel. It compares with ==;
// String writes it so that Parse reads the same Params. The zero value stands for
// no netem at all, see On.
type Params struct {
	On    bool   // false: there is no line, and nothing below counts
	Limit uint32 // packets that wait at most, the delayed ones included

	Latency      time.Duration // whole microseconds, at most MaxTime
	Jitter       time.Duration // likewise
	DelayCorr    Share
	Distribution Distribution

	Model         LossModel
	Loss          Share // of model Random
	LossCorr      Share
	P13, P31, P32 Share // of model FourState
	P23, P14      Share
	P, R          Share // of model GilbertElliott: into the bad state, and out of it
	H, K1         Share // passed in the bad state; lost in the good one
	ECN           bool  // mark instead of dropping what allows it; no datagram here does

	Duplicate     Share
	DuplicateCorr Share
	// DuplicateCorrUnsent: tc hands the kernel a correlation of duplicates only
	// along with that of something else, and none was given.
	DuplicateCorrUnsent bool

	Corrupt     Share
	CorruptCorr Share

	Reorder     Share
	ReorderCorr Share
	Gap         uint32 // 0: no reordering

	Rate         uint64 // bytes per second; 0: no limit
	Overhead     int32  // bytes added to each packet
	CellSize     uint32 // bytes; 0: no cells
	CellOverhead int32  // bytes added to each cell

	Slot Slot

	Seeded bool
	Seed   uint64
}

// MaxTime is the longest delay or jitter: 2^32-1 of the scheduler's ticks, of
// which there are 15.625 in a microsecond.
const MaxTime = 274_877_906 * time.Microsecond

// MaxRate is the fastest rate that Parse takes, in bytes per second; tc takes
// some more.
const MaxRate = 1 << 50

// defaultLimit is how many packets wait at most if the line does not say.
const defaultLimit = 1000

// LossModel says which process loses packets.
type LossModel uint8

// The loss models.
const (
	Random         LossModel = iota // each by itself, or so netem's correlation claims
	FourState                       // Salsano's general and intuitive model
	GilbertElliott                  // two states
)

// Distribution says how the delay strays.
type Distribution uint8

// The distributions. All but the first are tables in units of the jitter, which
// is their standard deviation only roughly.
const (
	Uniform Distribution = iota
	Normal
	Pareto
	ParetoNormal
	numDistributions
)

// String returns the name that tc knows the table by. There is no table for
// Uniform: it is what one gets without the word distribution.
func (d Distribution) String() string {
	names := [numDistributions]string{"uniform", "normal", "pareto", "paretonormal"}
	if d < numDistributions {
		return names[d]
	}
	return fmt.Sprintf("distribution(%d)", uint8(d))
}

// Slot holds packets back until a slot opens, in which many leave at once. Slots
// are apart by Min to Max, or by a distribution of its own.
type Slot struct {
	Min, Max     time.Duration
	Distribution Distribution // Uniform: Min and Max count, otherwise Delay and Jitter
	Delay        time.Duration
	Jitter       time.Duration
	Packets      int32 // that leave in one slot; 0: no limit
	Bytes        int32 // likewise
}

// on follows the kernel: slots that last no time are none.
func (s Slot) on() bool { return s.Min|s.Max|s.Jitter != 0 }

// sentDuplicateCorr is the correlation of duplicates that reaches the kernel.
func (p *Params) sentDuplicateCorr() Share {
	if p.DuplicateCorrUnsent {
		return 0
	}
	return p.DuplicateCorr
}
