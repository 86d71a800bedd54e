package entropy

import (
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
)

// memo is the memo of a frame: the motions of its cubes since its own baseline, and the adaptive
// counters. It is a function of the frame, its baseline and the baseline's memo alone.
type memo struct {
	ticks    int32                // frames from the baseline to this frame, 1..maxTicks
	idle     []uint8              // of each cube: packets of the chain since it changed, at most idleMax
	steps    []step               // of the cubes that changed with this frame, in the order of coding
	counters []rangecoder.Counter // adaptive probabilities; empty if they never change
}

// step is the motion of one cube from the baseline to the frame.
type step struct {
	row               int32    // number of the cube
	fromOrientation   uint32   // the orientation in the baseline, see cube.PackOrientation
	shift             [3]int32 // of x, y and z
	maxResidualLength uint8    // bit length of the largest residual of the position
}

const (
	idleMax  = 255 // the idle count of a cube that has not changed for 255 packets, or never
	maxTicks = 255 // bound of memo.ticks
)

// newMemo returns the memo of the initial state, in which no cube has ever moved.
func newMemo(rows int, counters []rangecoder.Counter) *memo {
	m := &memo{ticks: 1, idle: make([]uint8, rows), counters: counters}
	rangecoder.Fill(m.idle, idleMax)
	return m
}

// begin starts m, the memo of cur, as a copy of baseMemo, the memo of base, but without steps.
func (m *memo) begin(baseMemo *memo, cur, base *frame.Frame) {
	// The difference is clamped: it is not meaningful if base is the initial state, which has no tick of
	// its own, and a tick may differ from that of its baseline by any number.
	m.ticks = int32(min(max(cur.Tick-base.Tick, 1), maxTicks))
	m.idle = append(m.idle[:0], baseMemo.idle...)
	m.steps = m.steps[:0]
	m.counters = append(m.counters[:0], baseMemo.counters...)
}

// recordUnchanged records that cube i did not change.
func (m *memo) recordUnchanged(i int) {
	if m.idle[i] < idleMax {
		m.idle[i]++
	}
}

// recordChanged records the step of cube i from base to q. The caller may fill in the residuals of
// the step that it returns, until the next call.
func (m *memo) recordChanged(i int, q, base *cube.Row) *step {
	m.idle[i] = 0
	s := step{row: int32(i), fromOrientation: cube.PackOrientation(base)}
	for k := range s.shift {
		s.shift[k] = q[frame.CubeX+k] - base[frame.CubeX+k]
	}
	m.steps = append(m.steps, s)
	return &m.steps[len(m.steps)-1]
}

// scaled returns the shift of s, which took the given number of ticks, scaled to newTicks. It is 0 if
// s is nil, for a cube that did not change.
func (s *step) scaled(ticks, newTicks int32) (v [3]int32) {
	switch {
	case s == nil:
	case ticks == newTicks:
		v = s.shift
	default:
		for k := range v {
			v[k] = int32(int64(s.shift[k]) * int64(newTicks) / int64(ticks))
		}
	}
	return v
}

// clampCoordinate clamps v to the range of coordinate k of the position.
func clampCoordinate(k int, v int32) int32 {
	low, high := cube.Bounds(k)
	return min(max(v, low), high)
}

// distance2 returns the square of the distance between two cubes, in units of 1/512 m.
func distance2(q, p *cube.Row) uint64 { return uint64(cube.Distance2(q, p)) }

// bitLength returns the number of bits of |v|, at most limit.
func bitLength(v int32, limit int) int { return min(bits.Len32(uint32(max(v, -v))), limit) }

// speedClass returns the largest bitLength of the components of a motion, below numSpeedClasses.
func speedClass(v [3]int32) int {
	return bitLength(max(v[0], -v[0])|max(v[1], -v[1])|max(v[2], -v[2]), numSpeedClasses-1)
}

// signClass returns 0 for a negative number, 1 for zero and 2 for a positive number.
func signClass(v int32) int { return 1 + rangecoder.Flag(v > 0) - rangecoder.Flag(v < 0) }

// Numbers of classes for contexts.
const (
	numIdleClasses     = 6  // see idleClass
	numDistanceClasses = 12 // see distanceClass
	numSpeedClasses    = 12 // bit lengths of a motion
)

// idleClass returns the class of a cube that has not changed for n packets, at most idleMax: class n for n
// below 3, class 3 for 3 to 7 packets, 4 for 8 to idleMax-1, and 5 for idleMax.
func idleClass(n uint8) int {
	switch {
	case n < 3:
		return int(n)
	case n < 8:
		return 3
	case n < idleMax:
		return 4
	}
	return 5
}

// distanceClass returns the class of a distance, given its square in units of 1/512 m: 0 below 64 units (1/8 m),
// then two classes for each factor of two of the distance.
func distanceClass(square uint64) int {
	return min(max(bits.Len64(square)-12, 0), numDistanceClasses-1)
}
