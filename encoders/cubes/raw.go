package cubes

import (
	"errors"
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Raw sends what a first program would: orientation as four floats, velocity and
// position as three each, and one bit: 321 bits a cube. The floats are the
// snapshot's integers in metres; the decoder quantises them again, exactly.
func Raw() encoders.Codec {
	return encoders.Codec{
		ID: 1, Name: "raw", Refs: 1, Suits: frame.IsCubes,
		Summary: "every cube as ten floats and a bit, as a first program would send it",
		Source:  "Snapshot Compression, Glenn Fiedler, 2015",
		New:     climb(func(int, any) rung { return raw{} }),
	}
}

type raw struct{}

func (raw) code(c *coder, cur, base *frame.Frame) {
	ticks := elapsed(cur, base)
	for i := range len(cur.Table) / frame.CubeFields {
		q, p := row(cur.Table, i), row(base.Table, i)
		if !c.admit(i, q) {
			return
		}
		floatOrientation(c, q)
		for k := frame.CubeX; k <= frame.CubeZ; k++ {
			// Nothing is decoded from it: it is what a first program spends.
			c.bits(uint64(math.Float32bits(float32(velocity(q[k], p[k], ticks)))), 32)
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

var errFloat = errors.New("float is not on the snapshot's grid")

// floatPosition codes the position as three floats in metres.
func floatPosition(c *coder, q *cube) {
	for k := frame.CubeX; k <= frame.CubeZ; k++ {
		metres := float32(q[k]) / frame.UnitsPerMetre
		metres = math.Float32frombits(uint32(c.bits(uint64(math.Float32bits(metres)), 32)))
		if c.reading {
			lo, hi := int32(-xyOffset), int32(xyOffset-1)
			if k == frame.CubeZ {
				lo, hi = 0, 1<<zBits-1
			}
			q[k] = c.requantise(metres*frame.UnitsPerMetre, lo, hi)
		}
	}
	c.charge(encoders.SlotPosition)
}

// requantise rounds a float to the nearest integer and insists on the range.
func (c *coder) requantise(f float32, lo, hi int32) int32 {
	v := math.Round(float64(f))
	if !(v >= float64(lo) && v <= float64(hi)) { // also catches NaN
		c.fail(errFloat)
		return lo
	}
	return int32(v)
}

// smallScale is how many steps of a smallest-three component make 1: 511 steps
// span -1/sqrt(2) to +1/sqrt(2). Step 256 is zero.
const (
	smallScale = 361.33
	smallZero  = 256
)

// floatOrientation codes the orientation as the four floats of a quaternion.
func floatOrientation(c *coder, q *cube) {
	var f [4]float32
	if !c.reading {
		f = quaternion(q)
	}
	for i := range f {
		f[i] = math.Float32frombits(uint32(c.bits(uint64(math.Float32bits(f[i])), 32)))
	}
	if c.reading {
		c.smallestThree(q, f)
	}
	c.charge(encoders.SlotOrientation)
}

// quaternion returns the quaternion of q's smallest three. The component that
// was left out is the root of what the others leave of 1, but always the largest
// of the four: only codes that no quantiser makes leave less.
func quaternion(q *cube) [4]float32 {
	var f [4]float32
	var sum float64
	var most float32
	k := frame.CubeA
	for i := range f {
		if int32(i) == q[frame.CubeLargest] {
			continue
		}
		v := float64(q[k]-smallZero) / smallScale
		sum += float64(v * v)
		f[i] = float32(v)
		most = max(most, float32(math.Abs(v)))
		k++
	}
	largest := float32(math.Sqrt(max(0, 1-sum)))
	f[q[frame.CubeLargest]] = max(largest, math.Nextafter32(most, 2))
	return f
}

// smallestThree quantises a quaternion again.
func (c *coder) smallestThree(q *cube, f [4]float32) {
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
			q[k] = c.requantise(float32(float64(f[i])*smallScale+smallZero), 0, 1<<smallBits-1)
			k++
		}
	}
}
