package cubes

import (
	"errors"
	"fmt"
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

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
