package netem

import (
	"fmt"
	"time"
)

// Params is what a line says, as tc passes it to the kernel. It compares with ==;
// String writes it so that Parse reads the same Params. The zero value means that
// there is no line, see On.
type Params struct {
	On    bool   // false: there is no line, and all other fields are zero
	Limit uint32 // packets that wait at most, the delayed ones included

	Delay     delay
	Loss      lossParams
	Duplicate chance
	// DuplicateCorrUnsent means that Duplicate.Corr has no effect: tc passes it to the
	// kernel only together with another correlation, and none was given.
	DuplicateCorrUnsent bool
	Corrupt             chance
	Reorder             chance
	Gap                 uint32 // 0: no reordering
	Rate                rate
	Slot                slot

	Seeded bool
	Seed   uint64
}

// delay is the latency of packets and its variation.
type delay struct {
	Latency      time.Duration // whole microseconds, at most maxTime
	Jitter       time.Duration // likewise
	Corr         share
	Distribution distribution
}

// chance is the share of packets that something happens to, and its correlation.
type chance struct{ Share, Corr share }

// lossParams is a loss model with its parameters. Those of other models are zero.
type lossParams struct {
	Model lossModel
	chance
	P13, P31, P32, P23, P14 share // of fourState
	P, R                    share // of gilbertElliott: into the bad state, and out of it
	H, K1                   share // of gilbertElliott: passed in the bad state; lost in the good one
	ECN                     bool  // mark packets instead of dropping them, where they allow it; no datagram here does
}

// rate limits how many bytes leave per second. The zero value is no limit.
type rate struct {
	Bytes        uint64 // per second
	Overhead     int32  // bytes added to each packet
	CellSize     uint32 // bytes; 0: no cells
	CellOverhead int32  // bytes added to each cell
}

// slot holds packets back until a slot opens, in which many leave at once. The time
// between slots is from Min to Max, or follows a distribution of its own.
type slot struct {
	Min, Max     time.Duration
	Distribution distribution // uniform: Min and Max count, otherwise Delay and Jitter
	Delay        time.Duration
	Jitter       time.Duration
	Packets      int32 // that leave in one slot; 0: no limit
	Bytes        int32 // likewise
}

// on follows the kernel: slots that last no time are none.
func (s slot) on() bool { return s.Min|s.Max|s.Jitter != 0 }

// maxTime is the longest delay or jitter: 2^32-1 of the scheduler's ticks, of
// which there are 15.625 in a microsecond.
const maxTime = 274_877_906 * time.Microsecond

// maxRate is the fastest rate that Parse accepts, in bytes per second; tc accepts
// faster ones.
const maxRate = 1 << 50

// defaultLimit is the limit of a line without one.
const defaultLimit = 1000

// lossModel is a process that loses packets.
type lossModel uint8

const (
	randomLoss     lossModel = iota // independent losses, or netem's correlation
	fourState                       // Salsano's general and intuitive model
	gilbertElliott                  // two states
)

// distribution is the distribution of the jitter. All but the first are tables in
// units of the jitter, which is only approximately their standard deviation.
type distribution uint8

const (
	uniform distribution = iota
	normal
	pareto
	paretoNormal
	numDistributions
)

// String returns tc's name of the table. There is no table for uniform, which is
// the distribution of a line without the word distribution.
func (d distribution) String() string {
	names := [numDistributions]string{"uniform", "normal", "pareto", "paretonormal"}
	if d < numDistributions {
		return names[d]
	}
	return fmt.Sprintf("distribution(%d)", uint8(d))
}

// sentDuplicateCorr is the correlation of duplicates that reaches the kernel.
func (p *Params) sentDuplicateCorr() share {
	if p.DuplicateCorrUnsent {
		return 0
	}
	return p.Duplicate.Corr
}
