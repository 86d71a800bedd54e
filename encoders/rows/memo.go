package rows

import (
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

type counter = rangecoder.Counter

const (
	// The counters that all contexts share, by hash: 4096 a field, up to 128 KB.
	leastBits = 12
	mostBits  = 15

	forever  = 255
	maxTicks = 255
	maxSlots = 40 // fields with weights of their own
	paces    = 12 // lengths of a shift
)

// memo is what an end remembers of a frame: how it came about from its own baseline,
// and what the models had learnt by then. It is a function of the frame, its reference
// and the reference's memo, and of nothing else.
type memo struct {
	ticks        int32                 // from the baseline to this frame, 1..maxTicks
	idle         []uint8               // by row: packets of the chain since it last changed, up to forever
	moved        []int32               // the rows that changed with this frame, ascending
	shift        []int32               // of those, by field: how far it came
	acceleration []int32               // of those, by field: by how much that was more than before
	miss         []uint8               // of those, by field: the length of the residual
	from         [][rotationSize]int32 // of those: the rotation that base had

	rows    []counter // by row: whether it changes
	model   []counter
	weights []int32                    // of the mixer
	error   [][paces][predictors]int32 // by field and length of the shift, see guess
	blends  [][2]blend                 // by field and whether it moved
}

func newMemo(p *plan) *memo {
	m := &memo{ticks: 1, idle: make([]uint8, p.rows), rows: make([]counter, p.rows), model: make([]counter, 1<<min(max(bits.Len(uint(p.fields*(1<<leastBits-1))), leastBits), mostBits)),
		weights: make([]int32, (p.shared+1)*nodeCount*weightStride), error: make([][paces][predictors]int32, p.fields), blends: make([][2]blend, p.fields)}
	for i := range m.idle {
		m.idle[i] = forever
	}
	rangecoder.Fill(m.model, rangecoder.NewCounter(rangecoder.One/2, 0))
	rangecoder.Fill(m.rows, rangecoder.NewCounter(rangecoder.One/8, 1))
	for i := range m.weights {
		m.weights[i] = firstWeight
	}
	for i := range m.blends {
		m.blends[i] = [2]blend{{weightOne}, {weightOne}}
	}
	return m
}

// follow makes m what past is, but that nothing has changed yet on the way from base
// to cur.
func (m *memo) begin(past *memo, cur, base *frame.Frame) {
	// The initial state stands outside of time, and nobody says how far apart two
	// ticks may be.
	m.ticks = int32(min(max(cur.Tick-base.Tick, 1), maxTicks))
	m.idle = append(m.idle[:0], past.idle...)
	m.moved, m.shift, m.acceleration, m.miss, m.from = m.moved[:0], m.shift[:0], m.acceleration[:0], m.miss[:0], m.from[:0]
	m.rows = append(m.rows[:0], past.rows...)
	m.model = append(m.model[:0], past.model...)
	m.weights = append(m.weights[:0], past.weights...)
	m.error = append(m.error[:0], past.error...)
	m.blends = append(m.blends[:0], past.blends...)
}

// step is what is remembered of a row that changed, by field.
type step struct {
	shift, acceleration []int32
	miss                []uint8
}

// grow makes room for one more row that changed.
func (m *memo) appendStep(row, fields int) step {
	m.moved = append(m.moved, int32(row))
	for range fields {
		m.shift, m.acceleration, m.miss = append(m.shift, 0), append(m.acceleration, 0), append(m.miss, 0)
	}
	return m.step(len(m.moved)-1, fields)
}

// step returns what is remembered of the n-th row that changed.
func (m *memo) step(n, fields int) step {
	return step{m.shift[n*fields:][:fields], m.acceleration[n*fields:][:fields], m.miss[n*fields:][:fields]}
}
