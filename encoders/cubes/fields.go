package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// cube is one row of a snapshot, indexed by frame.CubeLargest and so on.
type cube = [frame.CubeFields]int32

// row returns cube i of a snapshot's table.
func row(table []int32, i int) *cube { return (*cube)(table[i*frame.CubeFields:]) }

// Widths of the fields when they are sent as they are; together 80 bits a cube.
const (
	largestBits = 2
	smallBits   = 9
	xyBits      = 18
	zBits       = 14

	orientationBits = largestBits + 3*smallBits
	positionBits    = 2*xyBits + zBits

	xyOffset = 1 << (xyBits - 1) // makes x and y non-negative
)

// inRange reports whether every field of q is within the schema.
func inRange(q *cube) bool {
	return uint32(q[frame.CubeLargest])>>largestBits|
		uint32(q[frame.CubeA]|q[frame.CubeB]|q[frame.CubeC])>>smallBits|
		uint32(q[frame.CubeX]+xyOffset)>>xyBits|
		uint32(q[frame.CubeY]+xyOffset)>>xyBits|
		uint32(q[frame.CubeZ])>>zBits|
		uint32(q[frame.CubeInteracting])>>1 == 0
}

// sameOrientation reports whether q and p are turned the same way.
func sameOrientation(q, p *cube) bool {
	return q[frame.CubeLargest] == p[frame.CubeLargest] && q[frame.CubeA] == p[frame.CubeA] &&
		q[frame.CubeB] == p[frame.CubeB] && q[frame.CubeC] == p[frame.CubeC]
}

// samePosition reports whether q and p are in the same place.
func samePosition(q, p *cube) bool {
	return q[frame.CubeX] == p[frame.CubeX] && q[frame.CubeY] == p[frame.CubeY] && q[frame.CubeZ] == p[frame.CubeZ]
}

// absoluteOrientation codes the smallest three as they are, in 29 bits.
func absoluteOrientation(c *coder, q *cube) {
	v := c.bits(uint64(q[frame.CubeLargest])|uint64(q[frame.CubeA])<<2|uint64(q[frame.CubeB])<<11|uint64(q[frame.CubeC])<<20, orientationBits)
	q[frame.CubeLargest] = int32(v & 3)
	q[frame.CubeA] = int32(v >> 2 & 511)
	q[frame.CubeB] = int32(v >> 11 & 511)
	q[frame.CubeC] = int32(v >> 20 & 511)
	c.charge(encoders.SlotOrientation)
}

// absolutePosition codes the position as it is, in 50 bits.
func absolutePosition(c *coder, q *cube) {
	v := c.bits(uint64(q[frame.CubeX]+xyOffset)|uint64(q[frame.CubeY]+xyOffset)<<xyBits|uint64(q[frame.CubeZ])<<(2*xyBits), positionBits)
	const mask = 1<<xyBits - 1
	q[frame.CubeX] = int32(v&mask) - xyOffset
	q[frame.CubeY] = int32(v>>xyBits&mask) - xyOffset
	q[frame.CubeZ] = int32(v >> (2 * xyBits))
	c.charge(encoders.SlotPosition)
}

// interacting codes the flag as it is.
func interacting(c *coder, q *cube) {
	q[frame.CubeInteracting] = int32(c.bits(uint64(q[frame.CubeInteracting]), 1))
	c.charge(encoders.SlotInteracting)
}

// absolute codes a whole cube in 80 bits.
func absolute(c *coder, q, _ *cube) {
	absoluteOrientation(c, q)
	absolutePosition(c, q)
	interacting(c, q)
}
