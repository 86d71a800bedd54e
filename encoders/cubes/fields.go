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
	x, y, z := uint64(q[frame.CubeX]+cube.XYOffset), uint64(q[frame.CubeY]+cube.XYOffset), uint64(q[frame.CubeZ])
	v := c.bits(x|y<<cube.XYBits|z<<(2*cube.XYBits), cube.PositionBits)
	const mask = 1<<cube.XYBits - 1
	q[frame.CubeX] = int32(v&mask) - cube.XYOffset
	q[frame.CubeY] = int32(v>>cube.XYBits&mask) - cube.XYOffset
	q[frame.CubeZ] = int32(v >> (2 * cube.XYBits))
	c.charge(encoders.SlotPosition)
}

// interacting codes the flag as it is.
func interacting(c *coder, q *cube.Row) {
	q[frame.CubeInteracting] = int32(c.bits(uint64(q[frame.CubeInteracting]), 1))
	c.charge(encoders.SlotInteracting)
}

// absolute codes a whole cube in 80 bits.
func absolute(c *coder, q, _ *cube.Row) {
	absoluteOrientation(c, q)
	absolutePosition(c, q)
	interacting(c, q)
}
