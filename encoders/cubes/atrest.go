package cubes

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// AtRest spends one bit on "this cube stands still" and leaves out the velocity
// of those that do. The orientation is already the smallest three, the velocity
// 11 bits a component; the position is still three floats: 127 bits for a cube
// at rest, 160 for one that moves.
func AtRest() encoders.Codec {
	return encoders.Codec{
		ID: 2, Name: "at-rest", Refs: 1, Standalone: true, Suits: frame.IsCubes,
		Summary: "no velocity for cubes at rest; orientation as smallest three, position still in floats",
		Source:  "Snapshot Compression, Glenn Fiedler, 2015",
		New:     newCodec(func(int, any) rung { return atRest{} }),
	}
}

type atRest struct{}

func (atRest) code(c *coder, cur, base *frame.Frame) {
	ticks := elapsed(cur, base)
	for i := range len(cur.Table) / frame.CubeFields {
		q, p := cube.At(cur.Table, i), cube.At(base.Table, i)
		if !c.admit(i, q) {
			return
		}
		absoluteOrientation(c, q)
		// A receiver of this format extrapolates by what follows; ours decodes
		// nothing from it.
		if rest := c.flag(cube.SamePosition(q, p)); !rest {
			for k := frame.CubeX; k <= frame.CubeZ; k++ {
				c.bits(quantiseVelocity(velocity(q[k], p[k], ticks)), velocityBits)
			}
		}
		c.charge(encoders.SlotVelocity)
		floatPosition(c, q)
		interacting(c, q)
	}
}

// velocityBits of a component span -32 to +32 m/s in steps of 1/32 m/s.
const velocityBits = 11

// quantiseVelocity returns the step of a velocity in m/s, kept within range.
func quantiseVelocity(v float64) uint64 {
	const half = 1 << (velocityBits - 1)
	return uint64(min(max(math.Round(v*(half/32)), -half), half-1) + half)
}
