package cubes

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// Raw sends what a first program would: orientation as four floats, velocity and
// position as three each, and one bit: 321 bits a cube. The floats are those
// that the snapshot's integers stand for; the decoder quantises them again,
// exactly.
func Raw() encoders.Codec {
	return encoders.Codec{
		ID: 1, Name: "raw", Refs: 1, Standalone: true, Suits: frame.IsCubes,
		Summary: "every cube as ten floats and a bit, as a first program would send it",
		Source:  "Snapshot Compression, Glenn Fiedler, 2015",
		New:     newCodec(func(int, any) rung { return raw{} }),
	}
}

type raw struct{}

func (raw) code(c *coder, cur, base *frame.Frame) {
	ticks := elapsed(cur, base)
	for i := range len(cur.Table) / frame.CubeFields {
		q, p := cube.At(cur.Table, i), cube.At(base.Table, i)
		if !c.admit(i, q) {
			return
		}
		floatOrientation(c, q)
		for k := frame.CubeX; k <= frame.CubeZ; k++ {
			// Nothing is decoded from it: it is what a first program spends.
			c.float(float32(velocity(q[k], p[k], ticks)))
		}
		c.charge(encoders.SlotVelocity)
		floatPosition(c, q)
		interacting(c, q)
	}
}

// elapsed returns the ticks from base to cur, at least 1: an initial state
// stands outside of time.
func elapsed(cur, base *frame.Frame) int32 { return max(1, int32(cur.Tick-base.Tick)) }

// tickHz is the rate of snapshots that velocities are computed for.
const tickHz = 60

// velocity returns metres a second between two positions ticks apart. It is one
// division of integers that float64 holds exactly, so the same everywhere.
func velocity(to, from, ticks int32) float64 {
	return float64(int64(to-from)*tickHz) / float64(int64(ticks)*frame.UnitsPerMetre)
}

// float codes 32 bits of floating point.
func (c *coder) float(f float32) float32 {
	return math.Float32frombits(uint32(c.bits(uint64(math.Float32bits(f)), 32)))
}
