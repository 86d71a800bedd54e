package entropy

import (
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
)

// memo is the memo of a frame: the motions of its cubes since its own baseline, and the
// state of adaptive models. It is a pure function of the frame, its reference and the
// reference's memo.
type memo struct {
	ticks    int32                // frames from the baseline to this frame, 1..maxTicks
	idle     []uint8              // by cube: packets of the chain since it last changed, up to forever
	moved    []step               // the cubes that changed with this frame, in the order they were coded
	counters []rangecoder.Counter // empty for static
	weights  []rangecoder.Weights // empty unless predictive
}

// step is the motion of one cube from the baseline to the frame.
type step struct {
	row      int32
	from     uint32   // the orientation before, see cube.PackOrientation
	shift    [3]int32 // of x, y and z
	miss     [3]int16 // residual of the position
	turnMiss uint8    // length of the largest component of the orientation's residual
}

const (
	forever  = 255
	maxTicks = 255
)

// newMemo returns the memo of the initial state, in which no cube has ever moved.
func newMemo(rows int, counters []rangecoder.Counter, weights []rangecoder.Weights) *memo {
	m := &memo{ticks: 1, idle: make([]uint8, rows), counters: counters, weights: weights}
	rangecoder.Fill(m.idle, forever)
	return m
}

// begin copies past into m, with an empty list of changes from base to cur.
func (m *memo) begin(past *memo, cur, base *frame.Frame) {
	// The initial state has no tick of its own, and a tick may be at any distance from its
	// baseline's.
	m.ticks = int32(min(max(cur.Tick-base.Tick, 1), maxTicks))
	m.idle = append(m.idle[:0], past.idle...)
	m.moved = m.moved[:0]
	m.counters = append(m.counters[:0], past.counters...)
	m.weights = append(m.weights[:0], past.weights...)
}

// noteUnchanged notes that cube i did not change.
func (m *memo) noteUnchanged(i int) {
	if m.idle[i] < forever {
		m.idle[i]++
	}
}

// noteChanged records the step of cube i from base and returns it.
func (m *memo) noteChanged(i int, q, base *cube.Row) *step {
	m.idle[i] = 0
	s := step{row: int32(i), from: cube.PackOrientation(base)}
	for k := range s.shift {
		s.shift[k] = q[frame.CubeX+k] - base[frame.CubeX+k]
	}
	m.moved = append(m.moved, s)
	return &m.moved[len(m.moved)-1]
}

// scaled returns the shift of s, which took lastTicks, scaled to ticks. A nil s is a
// cube that did not move.
func (s *step) scaled(was, now int32) (v [3]int32) {
	switch {
	case s == nil:
	case was == now:
		v = s.shift
	default:
		for k := range v {
			v[k] = int32(int64(s.shift[k]) * int64(now) / int64(was))
		}
	}
	return v
}

// clampCoordinate clamps v to the range of coordinate k of the position.
func clampCoordinate(k int, v int32) int32 {
	low, high := cube.Bounds(k)
	return min(max(v, low), high)
}

// distance2 returns the square of the distance between two cubes.
func distance2(q, p *cube.Row) uint64 { return uint64(cube.Distance2(q, p)) }

// length returns the number of bits of |v|, at most most.
func length(v int32, most int) int { return min(bits.Len32(uint32(max(v, -v))), most) }

// span returns the length of the longest component.
func span(v [3]int32, most int) int {
	return length(max(v[0], -v[0])|max(v[1], -v[1])|max(v[2], -v[2]), most)
}

// sign returns 0, 1 or 2 for a negative number, zero and a positive one.
func sign(v int32) int { return 1 + rangecoder.Flag(v > 0) - rangecoder.Flag(v < 0) }

// Numbers of classes for contexts.
const (
	idleClasses     = 6  // of packets without a change
	distanceClasses = 12 // distance from the player's cube
	speeds          = 12 // lengths of a motion
)

// idleClass returns the class of n packets without a change.
func idleClass(n uint8) int {
	switch {
	case n < 3:
		return int(n)
	case n < 8:
		return 3
	case n < forever:
		return 4
	}
	return 5
}

// distanceClass returns the class of a squared distance, two to each doubling, from an
// eighth of a metre.
func distanceClass(d uint64) int { return min(max(bits.Len64(d)-12, 0), distanceClasses-1) }
