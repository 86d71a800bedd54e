package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Quantized sends every cube as integers of just enough bits: smallest three
// 2+9+9+9, position 18+18+14, interacting 1. Velocity is not sent: receivers
// interpolate.
func Quantized() encoders.Codec {
	return encoders.Codec{
		ID: 3, Name: "quantized", Refs: 1, Suits: frame.IsCubes,
		Summary: "every cube as integers: smallest three in 29 bits, position in 50, no velocity",
		Source:  "Snapshot Compression, Glenn Fiedler, 2015",
		New:     climb(func(int, any) rung { return quantized{} }),
	}
}

type quantized struct{}

func (quantized) code(c *coder, cur, _ *frame.Frame) {
	for i := range len(cur.Table) / frame.CubeFields {
		q := row(cur.Table, i)
		if !c.admit(i, q) {
			return
		}
		absoluteOrientation(c, q)
		absolutePosition(c, q)
		interacting(c, q)
	}
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

// interacting codes the flag.
func interacting(c *coder, q *cube) {
	q[frame.CubeInteracting] = int32(c.bits(uint64(q[frame.CubeInteracting]), 1))
	c.charge(encoders.SlotInteracting)
}
