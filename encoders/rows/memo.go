package rows

import (
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

const (
	// All contexts share a hash table of counters: with the default parameters 4096 for each field, up to 128 KB.
	minCounterBits = 12
	maxCounterBits = 15
	defaultMemory  = 256 // see params.Memory

	maxAge        = 255 // ages saturate here
	maxTicks      = 255
	maxWeightSets = 40 // fields with mixing weights of their own
	deltaLengths  = 12 // number of classes of the length of a delta
)

// A memo holds the coder's state after a frame: the changes since the frame's baseline, and the
// adaptive models. It is a pure function of the frame, its baseline and the baseline's memo.
type memo struct {
	ticks           int32                 // ticks from the baseline to this frame, 1..maxTicks
	unchangedFor    []uint8               // by row: packets in the chain of baselines since it last changed, up to maxAge
	changedRows     []int32               // rows that differ between the baseline and this frame, ascending
	deltas          []int32               // by changed row and field: difference from the baseline; of floats the bits of a float
	accelerations   []int32               // by changed row and field: difference from the previous delta
	residualLengths []uint8               // by changed row and field: bits of the residual
	rotations       [][rotationSize]int32 // by changed row: the rotation's fields in the baseline

	rowCounters     []rangecoder.Counter // by row: whether it changes
	counters        []rangecoder.Counter
	weights         []rangecoder.Weights
	predictorErrors [][deltaLengths][predictors]int32 // by field and length of the delta; see prediction.errors
	blends          [][2]blendWeights                 // by field and by whether the last delta was 0
}

// newMemo returns the initial memo of a plan, with as many counters as params.Memory allows.
func newMemo(p *plan, memory int) *memo {
	// 1<<minCounterBits counters for each field, rounded up to a power of two.
	counterBits := min(max(bits.Len(uint(p.fields*(1<<minCounterBits-1))), minCounterBits), maxCounterBits)
	counterBits += bits.Len(uint(memory)) - bits.Len(uint(defaultMemory))
	m := &memo{ticks: 1, unchangedFor: make([]uint8, p.rows), rowCounters: make([]rangecoder.Counter, p.rows),
		counters: make([]rangecoder.Counter, 1<<counterBits), weights: make([]rangecoder.Weights, (p.sharedWeights+1)*nodeCount),
		predictorErrors: make([][deltaLengths][predictors]int32, p.fields), blends: make([][2]blendWeights, p.fields)}
	var w rangecoder.Weights
	rangecoder.Fill(w[:], firstWeight)
	rangecoder.Fill(m.weights, w)
	rangecoder.Fill(m.unchangedFor, maxAge) // the largest age: no change of any row is known
	rangecoder.Fill(m.counters, rangecoder.NewCounter(rangecoder.One/2, 0))
	rangecoder.Fill(m.rowCounters, rangecoder.NewCounter(rangecoder.One/8, 1)) // most rows do not change
	rangecoder.Fill(m.blends, [2]blendWeights{{weightOne}, {weightOne}})       // the first input has the whole weight
	return m
}

// begin copies past into m, with an empty list of changes from base to cur.
func (m *memo) begin(past *memo, cur, base *frame.Frame) {
	// Limited, because the tick of the initial state is meaningless and others can differ by any number.
	m.ticks = int32(min(max(cur.Tick-base.Tick, 1), maxTicks))
	m.unchangedFor = append(m.unchangedFor[:0], past.unchangedFor...)
	m.changedRows, m.deltas, m.accelerations, m.residualLengths, m.rotations = m.changedRows[:0], m.deltas[:0], m.accelerations[:0], m.residualLengths[:0], m.rotations[:0]
	m.rowCounters = append(m.rowCounters[:0], past.rowCounters...)
	m.counters = append(m.counters[:0], past.counters...)
	m.weights = append(m.weights[:0], past.weights...)
	m.predictorErrors = append(m.predictorErrors[:0], past.predictorErrors...)
	m.blends = append(m.blends[:0], past.blends...)
}

// A motion is the last change of a row, by field.
type motion struct {
	delta, acceleration []int32
	residualLength      []uint8
}

// appendMotion appends a changed row and returns its motion, to be filled in.
func (m *memo) appendMotion(row, fields int) motion {
	m.changedRows = append(m.changedRows, int32(row))
	for range fields {
		m.deltas, m.accelerations, m.residualLengths = append(m.deltas, 0), append(m.accelerations, 0), append(m.residualLengths, 0)
	}
	return m.motionAt(len(m.changedRows)-1, fields)
}

// motionAt returns the motion of the n-th changed row, in m's memory. fields is the number of fields of
// a row.
func (m *memo) motionAt(n, fields int) motion {
	return motion{delta: m.deltas[n*fields:][:fields], acceleration: m.accelerations[n*fields:][:fields],
		residualLength: m.residualLengths[n*fields:][:fields]}
}
