package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// absoluteOrientation codes the smallest three as they are, in 29 bits.
func absoluteOrientation(c *coder, q *cube.Row) {
	cube.UnpackOrientation(q, uint32(c.bits(uint64(cube.PackOrientation(q)), cube.OrientationBits)))
	c.charge(encoders.SlotOrientation)
}

// absolutePosition codes the position as it is, in 50 bits.
func absolutePosition(c *coder, q *cube.Row) {
	unpackPosition(q, c.bits(packPosition(q), cube.PositionBits))
	c.charge(encoders.SlotPosition)
}

// interacting codes the flag as it is.
func interacting(c *coder, q *cube.Row) {
	q[frame.CubeInteracting] = int32(c.bits(uint64(q[frame.CubeInteracting]), 1))
	c.charge(encoders.SlotInteracting)
}

// absolutes is the rowCoder of absolute.
type absolutes struct{}

func (absolutes) begin(*coder, *frame.Frame, *frame.Frame, []int32) {}

func (absolutes) code(c *coder, _ int, q, base *cube.Row) { absolute(c, q, base) }

// absolute codes a whole cube in 80 bits: what absoluteOrientation, absolutePosition and
// interacting code, put together.
func absolute(c *coder, q, _ *cube.Row) {
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
