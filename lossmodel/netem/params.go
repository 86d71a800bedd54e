package netem

import (
	"fmt"
	"time"
)

// Params are the parameters of a netem line, as tc passes them to the kernel. They can be
// compared with ==. Parse of String returns equal Params. The zero value means that there is no
// line.
type Params struct {
	On    bool   // false means no line; all other fields are then zero
	Limit uint32 // largest number of waiting packets, including delayed ones

	Delay     delay
	Loss      lossParams
	Duplicate event
	// DuplicateCorrUnsent means that Duplicate.Corr has no effect: tc passes it to the
	// kernel only together with another correlation, and none was given.
	DuplicateCorrUnsent bool
	Corrupt             event
	Reorder             event
	Gap                 uint32 // every Gap-th packet may be reordered; 0 means no reordering
	Rate                rate
	Slot                slot

	Seeded bool // Seed was given
	Seed   uint64
}

// delay is the latency and its variation.
type delay struct {
	Latency      time.Duration // whole microseconds, at most maxTime
	Jitter       time.Duration // whole microseconds, at most maxTime
	Corr         probability
	Distribution distribution
}

// event is something that happens to packets with a probability, and its correlation.
type event struct{ Probability, Corr probability }

// lossParams is a loss model with its parameters. Parameters of other models are zero.
type lossParams struct {
	Model lossModel
	event
	P13, P31, P32, P23, P14 probability // parameters of fourState: Pij is the probability of changing from state i to j
	P, R                    probability // parameters of gilbertElliott: probabilities of changing to the bad state, and back
	// H and K1 are parameters of gilbertElliott: the probability to pass in the bad state, and to
	// be lost in the good state.
	H, K1 probability
	ECN   bool // mark ECN-capable packets instead of dropping them; has no effect here
}

// rate limits the bytes per second. The zero value means no limit.
type rate struct {
	Bytes        uint64 // bytes per second; 0 means no limit
	Overhead     int32  // bytes added to each packet
	CellSize     uint32 // payload of a cell in bytes; 0 means no cells
	CellOverhead int32  // bytes added to each cell
}

// slot delays packets until a slot opens, in which several leave at once. The interval between
// slots is uniform from Min to Max, or has a distribution.
type slot struct {
	Min, Max     time.Duration
	Distribution distribution // uniform uses Min and Max, the others Delay and Jitter
	Delay        time.Duration
	Jitter       time.Duration
	Packets      int32 // largest number of packets per slot; 0 means no limit
	Bytes        int32 // largest number of bytes per slot; 0 means no limit
}

// on reports whether slots are used. As in the kernel, they are not if all times are 0.
func (s slot) on() bool { return s.Min|s.Max|s.Jitter != 0 }

// maxTime is the largest delay or jitter: 2^32-1 ticks of tc, 15.625 per microsecond.
const maxTime = 274_877_906 * time.Microsecond

// maxRate is the largest rate that Parse accepts, in bytes per second. tc accepts larger ones.
const maxRate = 1 << 50

// defaultLimit is the largest number of waiting packets of a line without the option limit.
const defaultLimit = 1000

// lossModel is a model of packet loss.
type lossModel uint8

const (
	randomLoss     lossModel = iota // losses are independent, or have netem's correlation
	fourState                       // tc's "state": Salsano's general and intuitive model
	gilbertElliott                  // tc's "gemodel"
)

// distribution is the distribution of jitter. All but uniform are tables in units of the jitter,
// which is only approximately their standard deviation.
type distribution uint8

const (
	uniform distribution = iota
	normal
	pareto
	paretoNormal
	numDistributions
)

// String returns tc's name of the distribution. tc has no name for uniform, which is used without
// the word distribution.
func (d distribution) String() string {
	names := [numDistributions]string{"uniform", "normal", "pareto", "paretonormal"}
	if d < numDistributions {
		return names[d]
	}
	return fmt.Sprintf("distribution(%d)", uint8(d))
}

// sentDuplicateCorr returns the correlation of duplicates that the kernel uses: 0 if tc does not
// pass it on; see DuplicateCorrUnsent.
func (p *Params) sentDuplicateCorr() probability {
	if p.DuplicateCorrUnsent {
		return 0
	}
	return p.Duplicate.Corr
}
