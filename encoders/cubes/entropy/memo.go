package entropy

import (
	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
)

type counter = rangecoder.Counter

// memo is what an end remembers of a frame: how it came about from its own
// baseline, and what the models had learnt by then. It is a function of the
// frame, its reference and the reference's memo, and of nothing else.
type memo struct {
	ticks   int32     // frames from the baseline to this frame, 1..maxTicks
	idle    []uint8   // by cube: packets of the chain since it last changed, up to forever
	moved   []step    // the cubes that changed with this frame, in the order they were coded
	model   []counter // what is learnt; empty for a codec that learns nothing
	weights []int32   // of the mixer; empty for a codec without
}

// step is how one cube came from the baseline to where it is.
type step struct {
	row      int32
	from     uint32   // the orientation it had, see cube.PackOrientation
	shift    [3]int32 // of x, y and z
	miss     [3]int16 // by how much the position was off what was predicted
	turnMiss uint8    // the same of the orientation: the length of the largest component
}

const (
	forever  = 255
	maxTicks = 255
)

// newMemo returns the memo of the initial state: nothing has ever moved.
func newMemo(rows int, model []counter, weights []int32) *memo {
	m := &memo{ticks: 1, idle: make([]uint8, rows), model: model, weights: weights}
	for i := range m.idle {
		m.idle[i] = forever
	}
	return m
}

// follow makes m what past is, but that nothing has moved yet on the way from
// base to cur.
func (m *memo) begin(past *memo, cur, base *frame.Frame) {
	// The initial state stands outside of time, and nobody says how far apart two
	// ticks may be.
	m.ticks = int32(min(max(cur.Tick-base.Tick, 1), maxTicks))
	m.idle = append(m.idle[:0], past.idle...)
	m.moved = m.moved[:0]
	m.model = append(m.model[:0], past.model...)
	m.weights = append(m.weights[:0], past.weights...)
}

// rested notes that cube i did not change.
func (m *memo) noteUnchanged(i int) {
	if m.idle[i] < forever {
		m.idle[i]++
	}
}

// changed notes how cube i came from base and returns the note.
func (m *memo) noteChanged(i int, q, base *cube.Row) *step {
	m.idle[i] = 0
	s := step{row: int32(i), from: cube.PackOrientation(base)}
	for k := range s.shift {
		s.shift[k] = q[frame.CubeX+k] - base[frame.CubeX+k]
	}
	m.moved = append(m.moved, s)
	return &m.moved[len(m.moved)-1]
}

// scaled returns the shift of s, of which was ticks are the time, over now ticks.
// s may be nil: the cube stood still.
func (s *step) scaled(was, now int32) (v [3]int32) {
	if s != nil {
		for k := range v {
			v[k] = int32(int64(s.shift[k]) * int64(now) / int64(was))
		}
	}
	return v
}
