package rows

import (
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

type counter = rangecoder.Counter

const (
	// All contexts share a hash table of counters: 4096 for each field, up to 128 KB.
	leastBits = 12
	mostBits  = 15

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
	shift        []int32               // of those, by field: its shift
	acceleration []int32               // of those, by field: the change of its shift
	miss         []uint8               // of those, by field: the length of the residual
	from         [][rotationSize]int32 // of those: the rotation that base had

	rows    []counter // by row: whether it changes
	model   []counter
	weights []rangecoder.Weights       // of the mixer
	error   [][paces][predictors]int32 // by field and length of the shift, see prediction
	blends  [][2]blend                 // by field and whether it moved
}

func newMemo(p *plan) *memo {
	m := &memo{ticks: 1, idle: make([]uint8, p.rows), rows: make([]counter, p.rows), model: make([]counter,
		1<<min(max(bits.Len(uint(p.fields*(1<<leastBits-1))), leastBits), mostBits)),
		weights: make([]rangecoder.Weights, (p.shared+1)*nodeCount), error: make([][paces][predictors]int32, p.fields),
		blends: make([][2]blend, p.fields)}
	for i := range m.idle {
		m.idle[i] = forever
	}
	rangecoder.Fill(m.model, rangecoder.NewCounter(rangecoder.One/2, 0))
	rangecoder.Fill(m.rows, rangecoder.NewCounter(rangecoder.One/8, 1))
	for i := range m.weights {
		for j := range m.weights[i] {
			m.weights[i][j] = firstWeight
		}
	}
	for i := range m.blends {
		m.blends[i] = [2]blend{{weightOne}, {weightOne}}
	}
	return m
}

// begin copies past into m, with an empty list of changes from base to cur.
func (m *memo) begin(past *memo, cur, base *frame.Frame) {
	// The tick of the initial state means nothing, and a tick may be any distance
	// from its baseline's.
	m.ticks = int32(min(max(cur.Tick-base.Tick, 1), maxTicks))
	m.idle = append(m.idle[:0], past.idle...)
	m.moved, m.shift, m.acceleration, m.miss, m.from = m.moved[:0], m.shift[:0], m.acceleration[:0], m.miss[:0], m.from[:0]
	m.rows = append(m.rows[:0], past.rows...)
	m.model = append(m.model[:0], past.model...)
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
