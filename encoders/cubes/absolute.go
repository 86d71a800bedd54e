package cubes

import (
	"errors"
	"fmt"
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// elapsedTicks returns the ticks from base to cur, at least 1. The difference is not meaningful if base
// is the initial state, which has no tick of its own.
func elapsedTicks(cur, base *frame.Frame) int32 { return max(1, int32(cur.Tick-base.Tick)) }

// everyRow is a function that codes one cube. As a rung it is called for each cube, changed or not. The function
// codes q; base is the same cube in the baseline, ticks frames earlier.
type everyRow func(c *coder, q, base *cube.Row, ticks int32)

// codeFrame implements rung: it calls the function code for each cube.
func (code everyRow) codeFrame(c *coder, cur, base *frame.Frame) {
	if c.trace != nil {
		code = code.traced()
	}
	ticks := elapsedTicks(cur, base)
	for i := range len(cur.Table) / frame.CubeFields {
		q := cube.At(cur.Table, i)
		if !c.checkRange(i, q) {
			return
		}
		code(c, q, cube.At(base.Table, i), ticks)
	}
}

// codeRaw codes a cube q as floats: four of the orientation, three of the velocity, three of the
// position, and the interacting flag, 321 bits. The decoder ignores the velocity. It is there because
// a first, simple program would send it.
func codeRaw(c *coder, q, base *cube.Row, ticks int32) {
	codeFloatOrientation(c, q)
	for k := frame.CubeX; k <= frame.CubeZ; k++ {
		c.codeFloat(float32(velocity(q[k], base[k], ticks)))
	}
	c.charge(encoders.SlotVelocity)
	codeFloatPosition(c, q)
	codeInteracting(c, q)
}

// velocityBits is the number of bits of a component of the velocity: -32 to 32 m/s in steps of 1/32.
const velocityBits = 11

// codeAtRest codes a cube: the smallest three, an at-rest flag, the velocity unless it is at rest, the
// position as floats, and the interacting flag. A game would extrapolate by the velocity; this decoder
// ignores it.
func codeAtRest(c *coder, q, base *cube.Row, ticks int32) {
	codeAbsoluteOrientation(c, q)
	if rest := c.codeFlag(cube.SamePosition(q, base)); !rest {
		for k := frame.CubeX; k <= frame.CubeZ; k++ {
			c.codeBits(quantiseVelocity(velocity(q[k], base[k], ticks)), velocityBits)
		}
	}
	c.charge(encoders.SlotVelocity)
	codeFloatPosition(c, q)
	codeInteracting(c, q)
}

// quantiseVelocity returns the step of a velocity in m/s, clamped to the range of velocityBits.
func quantiseVelocity(v float64) uint64 {
	const half = 1 << (velocityBits - 1)
	return uint64(min(max(math.Round(v*(half/32)), -half), half-1) + half)
}

// tickHz is the number of ticks per second, for velocities.
const tickHz = 60

// velocity returns the mean speed in m/s between two coordinates that are ticks apart. It is a single
// division of integers that float64 represents exactly, so the result is the same on every machine.
func velocity(to, from, ticks int32) float64 {
	return float64(int64(to-from)*tickHz) / float64(int64(ticks)*frame.UnitsPerMetre)
}

// codeAbsoluteOrientation codes the smallest three in 29 bits.
func codeAbsoluteOrientation(c *coder, q *cube.Row) {
	cube.UnpackOrientation(q, uint32(c.codeBits(uint64(cube.PackOrientation(q)), cube.OrientationBits)))
	c.charge(encoders.SlotOrientation)
}

// codeInteracting codes the interacting flag.
func codeInteracting(c *coder, q *cube.Row) {
	q[frame.CubeInteracting] = int32(c.codeBits(uint64(q[frame.CubeInteracting]), 1))
	c.charge(encoders.SlotInteracting)
}

// codeAbsolute codes a whole cube in 80 bits: the smallest three in 29, the position in 50 and the
// interacting flag. It reads and writes several fields at a time for speed. Baseline and ticks, the last two
// parameters, are those of an everyRow function and not used.
func codeAbsolute(c *coder, q, _ *cube.Row, _ int32) {
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
	c.charged += cube.OrientationBits + cube.PositionBits + 1
}

// packPosition returns the position in 50 bits: x, y and z from the lowest bit.
func packPosition(q *cube.Row) uint64 {
	x, y, z := uint64(q[frame.CubeX]+cube.XYOffset), uint64(q[frame.CubeY]+cube.XYOffset), uint64(q[frame.CubeZ])
	return x | y<<cube.XYBits | z<<(2*cube.XYBits)
}

// unpackPosition is the inverse of packPosition: it sets q's position.
func unpackPosition(q *cube.Row, v uint64) {
	const xy, z = 1<<cube.XYBits - 1, 1<<cube.ZBits - 1
	q[frame.CubeX] = int32(v&xy) - cube.XYOffset
	q[frame.CubeY] = int32(v>>cube.XYBits&xy) - cube.XYOffset
	q[frame.CubeZ] = int32(v >> (2 * cube.XYBits) & z)
}

// errFloat marks a decoded float that does not correspond to a value of the schema.
var errFloat = errors.New("float is out of the snapshot's range")

// codeFloatPosition codes the position as three floats in metres. The decoder rounds them to the
// schema's units, which restores the integers exactly.
func codeFloatPosition(c *coder, q *cube.Row) {
	for k := frame.CubeX; k <= frame.CubeZ; k++ {
		metres := c.codeFloat(float32(q[k]) / frame.UnitsPerMetre)
		if c.reading {
			lo, hi := cube.Bounds(k - frame.CubeX)
			q[k] = c.requantise(float64(metres)*frame.UnitsPerMetre, lo, hi)
		}
	}
	c.charge(encoders.SlotPosition)
}

// requantise rounds f to the nearest integer. Outside of lo..hi it stores an error in c and returns lo.
func (c *coder) requantise(f float64, lo, hi int32) int32 {
	v := math.Round(f)
	if !(v >= float64(lo) && v <= float64(hi)) { // also true for NaN
		c.fail(fmt.Errorf("%w: %g, expected %d to %d", errFloat, f, lo, hi))
		return lo
	}
	return int32(v)
}

// codeFloatOrientation codes the orientation as the four floats of a quaternion, in
// the order x y z w.
func codeFloatOrientation(c *coder, q *cube.Row) {
	var f [4]float32
	if !c.reading {
		f = floatQuaternion(q)
	}
	for i := range f {
		f[i] = c.codeFloat(f[i])
	}
	if c.reading {
		c.quantiseFloats(q, f)
	}
	c.charge(encoders.SlotOrientation)
}

// floatQuaternion returns the quaternion of q's smallest three. The component that is not stored is
// computed from the others. For smallest three that no quantiser makes, this component could be smaller
// than another one; it is then raised, so that the decoder finds the same largest component.
func floatQuaternion(q *cube.Row) [4]float32 {
	exact := orientation(q)
	var f [4]float32
	var maxOther float32
	for i, v := range exact {
		f[i] = float32(v)
		if int32(i) != q[frame.CubeLargest] {
			maxOther = max(maxOther, float32(math.Abs(v)))
		}
	}
	largest := &f[q[frame.CubeLargest]]
	*largest = max(*largest, math.Nextafter32(maxOther, 2)) // just above maxOther; 2 is the direction
	return f
}

// quantiseFloats sets the orientation of q to the smallest three of the decoded quaternion f. It stores
// an error in c if a component is out of range.
func (c *coder) quantiseFloats(q *cube.Row, f [4]float32) {
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

// floatBits is the number of bits of a float.
const floatBits = 32

// codeFloat writes the bits of f (IEEE 754), or reads and returns a float.
func (c *coder) codeFloat(f float32) float32 {
	return math.Float32frombits(uint32(c.codeBits(uint64(math.Float32bits(f)), floatBits)))
}
