package rows

import (
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

const (
	// All contexts share a hash table of counters: 4096 for each field, up to 128 KB.
	minBits = 12
	maxBits = 15

	forever  = 255
	maxTicks = 255
	maxSlots = 40 // fields with weights of their own
	paces    = 12 // lengths of a shift
)

// memo is the memo of a frame: the changes since its own baseline and the state of
// adaptive models. It is a pure function of the frame, its reference and the reference's
// memo.
type memo struct {
	ticks        int32                 // from the baseline to this frame, 1..maxTicks
	idle         []uint8               // by row: packets of the chain since it last changed, up to forever
	moved        []int32               // the rows that changed with this frame, ascending
	shift        []int32               // of those, by field: the shift
	acceleration []int32               // of those, by field: the change of the shift
	miss         []uint8               // of those, by field: the length of the residual
	from         [][rotationSize]int32 // of those: the rotation in base

	rows     []rangecoder.Counter // by row: whether it changes
	counters []rangecoder.Counter
	weights  []rangecoder.Weights
	error    [][paces][predictors]int32 // by field and length of the shift, see prediction
	blends   [][2]blend                 // by field and whether it moved
}

func newMemo(p *plan) *memo {
	counterBits := min(max(bits.Len(uint(p.fields*(1<<minBits-1))), minBits), maxBits)
	m := &memo{ticks: 1, idle: make([]uint8, p.rows), rows: make([]rangecoder.Counter, p.rows),
		counters: make([]rangecoder.Counter, 1<<counterBits), weights: make([]rangecoder.Weights, (p.shared+1)*nodeCount),
		error: make([][paces][predictors]int32, p.fields), blends: make([][2]blend, p.fields)}
	var w rangecoder.Weights
	rangecoder.Fill(w[:], firstWeight)
	rangecoder.Fill(m.weights, w)
	rangecoder.Fill(m.idle, forever)
	rangecoder.Fill(m.counters, rangecoder.NewCounter(rangecoder.One/2, 0))
	rangecoder.Fill(m.rows, rangecoder.NewCounter(rangecoder.One/8, 1))
	rangecoder.Fill(m.blends, [2]blend{{weightOne}, {weightOne}})
	return m
}

// begin copies past into m, with an empty list of changes from base to cur.
func (m *memo) begin(past *memo, cur, base *frame.Frame) {
	// The initial state has no tick of its own, and a tick may be at any distance from its
	// baseline's.
	m.ticks = int32(min(max(cur.Tick-base.Tick, 1), maxTicks))
	m.idle = append(m.idle[:0], past.idle...)
	m.moved, m.shift, m.acceleration, m.miss, m.from = m.moved[:0], m.shift[:0], m.acceleration[:0], m.miss[:0], m.from[:0]
	m.rows = append(m.rows[:0], past.rows...)
	m.counters = append(m.counters[:0], past.counters...)
	m.weights = append(m.weights[:0], past.weights...)
	m.error = append(m.error[:0], past.error...)
	m.blends = append(m.blends[:0], past.blends...)
}

// step is what the memo holds of a row that changed, by field.
type step struct {
	shift, acceleration []int32
	miss                []uint8
}

// appendStep appends a row that changed.
func (m *memo) appendStep(row, fields int) step {
	m.moved = append(m.moved, int32(row))
	for range fields {
		m.shift, m.acceleration, m.miss = append(m.shift, 0), append(m.acceleration, 0), append(m.miss, 0)
	}
	return m.step(len(m.moved)-1, fields)
}

// step returns the step of the n-th row that changed.
func (m *memo) step(n, fields int) step {
	return step{m.shift[n*fields:][:fields], m.acceleration[n*fields:][:fields], m.miss[n*fields:][:fields]}
}
