package cubes

import (
	"errors"
	"fmt"
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// elapsed returns the ticks from base to cur, at least 1: an initial state stands outside of time.
func elapsed(cur, base *frame.Frame) int32 { return max(1, int32(cur.Tick-base.Tick)) }

// everyRow is a rung that codes every cube by itself, changed or not.
type everyRow func(c *coder, q, base *cube.Row, ticks int32)

func (code everyRow) code(c *coder, cur, base *frame.Frame) {
	ticks := elapsed(cur, base)
	for i := range len(cur.Table) / frame.CubeFields {
		q := cube.At(cur.Table, i)
		if !c.admit(i, q) {
			return
		}
		code(c, q, cube.At(base.Table, i), ticks)
	}
}

// raw codes a cube in floats. The velocity is not decoded: it is what a first program spends.
func raw(c *coder, q, base *cube.Row, ticks int32) {
	floatOrientation(c, q)
	for k := frame.CubeX; k <= frame.CubeZ; k++ {
		c.float(float32(velocity(q[k], base[k], ticks)))
	}
	c.charge(encoders.SlotVelocity)
	floatPosition(c, q)
	interacting(c, q)
}

// velocityBits of a component span -32 to +32 m/s in steps of 1/32 m/s.
const velocityBits = 11

// atRest codes a cube with its velocity if it moves. A receiver of this format extrapolates by the
// velocity; ours decodes nothing from it.
func atRest(c *coder, q, base *cube.Row, ticks int32) {
	absoluteOrientation(c, q)
	if rest := c.flag(cube.SamePosition(q, base)); !rest {
		for k := frame.CubeX; k <= frame.CubeZ; k++ {
			c.bits(quantiseVelocity(velocity(q[k], base[k], ticks)), velocityBits)
		}
	}
	c.charge(encoders.SlotVelocity)
	floatPosition(c, q)
	interacting(c, q)
}

// quantiseVelocity returns the step of a velocity in m/s, kept within range.
func quantiseVelocity(v float64) uint64 {
	const half = 1 << (velocityBits - 1)
	return uint64(min(max(math.Round(v*(half/32)), -half), half-1) + half)
}

// tickHz is the rate of snapshots that velocities are computed for.
const tickHz = 60

// velocity returns metres a second between two positions ticks apart. It is one
// division of integers that float64 holds exactly, so the same everywhere.
func velocity(to, from, ticks int32) float64 {
	return float64(int64(to-from)*tickHz) / float64(int64(ticks)*frame.UnitsPerMetre)
}

// absoluteOrientation codes the smallest three in 29 bits.
func absoluteOrientation(c *coder, q *cube.Row) {
	cube.UnpackOrientation(q, uint32(c.bits(uint64(cube.PackOrientation(q)), cube.OrientationBits)))
	c.charge(encoders.SlotOrientation)
}

// interacting codes the flag.
func interacting(c *coder, q *cube.Row) {
	q[frame.CubeInteracting] = int32(c.bits(uint64(q[frame.CubeInteracting]), 1))
	c.charge(encoders.SlotInteracting)
}

// absolute codes a whole cube in 80 bits: what absoluteOrientation, absolutePosition and
// interacting code, put together.
func absolute(c *coder, q, _ *cube.Row, _ int32) {
	if c.reading {
		cube.UnpackOrientation(q, uint32(c.r.Peek()))
		c.r.Skip(cube.OrientationBits)
		rest := c.r.Peek()
		c.r.Skip(cube.PositionBits + 1)
		unpackPosition(q, rest)
		q[frame.CubeInteracting] = int32(rest >> cube.PositionBits & 1)
		return
	}
	c.w.Bits(uint64(cube.PackOrientation(q)), cube.OrientationBits)
	c.w.Bits(packPosition(q)|uint64(q[frame.CubeInteracting])<<cube.PositionBits, cube.PositionBits+1)
	c.spent[encoders.SlotOrientation] += cube.OrientationBits
	c.spent[encoders.SlotPosition] += cube.PositionBits
	c.spent[encoders.SlotInteracting]++
	c.mark += cube.OrientationBits + cube.PositionBits + 1
}

func packPosition(q *cube.Row) uint64 {
	x, y, z := uint64(q[frame.CubeX]+cube.XYOffset), uint64(q[frame.CubeY]+cube.XYOffset), uint64(q[frame.CubeZ])
	return x | y<<cube.XYBits | z<<(2*cube.XYBits)
}

func unpackPosition(q *cube.Row, v uint64) {
	const xy, z = 1<<cube.XYBits - 1, 1<<cube.ZBits - 1
	q[frame.CubeX] = int32(v&xy) - cube.XYOffset
	q[frame.CubeY] = int32(v>>cube.XYBits&xy) - cube.XYOffset
	q[frame.CubeZ] = int32(v >> (2 * cube.XYBits) & z)
}

var errFloat = errors.New("float is out of the snapshot's range")

// floatPosition codes the position as three floats in metres.
func floatPosition(c *coder, q *cube.Row) {
	for k := frame.CubeX; k <= frame.CubeZ; k++ {
		metres := c.float(float32(q[k]) / frame.UnitsPerMetre)
		if c.reading {
			lo, hi := cube.Bounds(k - frame.CubeX)
			q[k] = c.requantise(float64(metres)*frame.UnitsPerMetre, lo, hi)
		}
	}
	c.charge(encoders.SlotPosition)
}

// requantise rounds f to the nearest integer and insists on the range.
func (c *coder) requantise(f float64, lo, hi int32) int32 {
	v := math.Round(f)
	if !(v >= float64(lo) && v <= float64(hi)) { // NaN is not within any range
		c.fail(fmt.Errorf("%w: %g", errFloat, f))
		return lo
	}
	return int32(v)
}

// floatOrientation codes the orientation as the four floats of a quaternion, in
// the order x y z w.
func floatOrientation(c *coder, q *cube.Row) {
	var f [4]float32
	if !c.reading {
		f = floatQuaternion(q)
	}
	for i := range f {
		f[i] = c.float(f[i])
	}
	if c.reading {
		c.smallestThree(q, f)
	}
	c.charge(encoders.SlotOrientation)
}

// floatQuaternion returns the quaternion of the smallest three. The component that was
// left out is recovered from the others, but is always the largest of the four, even for
// codes that no quantiser makes.
func floatQuaternion(q *cube.Row) [4]float32 {
	exact := orientation(q)
	var f [4]float32
	var most float32
	for i, v := range exact {
		f[i] = float32(v)
		if int32(i) != q[frame.CubeLargest] {
			most = max(most, float32(math.Abs(v)))
		}
	}
	largest := &f[q[frame.CubeLargest]]
	*largest = max(*largest, math.Nextafter32(most, 2))
	return f
}

// smallestThree quantises a quaternion again.
func (c *coder) smallestThree(q *cube.Row, f [4]float32) {
	largest := 0
	for i := range f {
		if math.Abs(float64(f[i])) > math.Abs(float64(f[largest])) {
			largest = i
		}
	}
	q[frame.CubeLargest] = int32(largest)
	k := frame.CubeA
	for i := range f {
		if i != largest {
			q[k] = c.requantise(float64(float64(f[i])*smallScale)+smallZero, 0, 1<<cube.SmallBits-1)
			k++
		}
	}
}

// float codes 32 bits of floating point.
func (c *coder) float(f float32) float32 {
	return math.Float32frombits(uint32(c.bits(uint64(math.Float32bits(f)), 32)))
}
