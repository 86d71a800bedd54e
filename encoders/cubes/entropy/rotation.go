package entropy

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/rotation"
)

// orientationGrid is the grid of the smallest three: 361.33 steps to 1, with zero
// between two steps.
var orientationGrid = rotation.SmallestThree{Scale: stepsToOne, Zero: zeroStep}

const (
	stepsToOne = 361.33
	zeroStep   = 255.5
)

// orientation returns the orientation of a cube.
func orientation(q *cube.Row) rotation.Quaternion {
	return orientationGrid.Decode(q[frame.CubeLargest], q[frame.CubeA:frame.CubeX])
}

// withPositive returns p or -p, the same rotation, whichever has component k positive.
func withPositive(p rotation.Quaternion, k int32) rotation.Quaternion {
	if p[k&3] < 0 {
		return p.Negative()
	}
	return p
}

// dot returns the scalar product.
func dot(p, q *rotation.Quaternion) float64 {
	return float64(p[0]*q[0]) + float64(p[1]*q[1]) + float64(p[2]*q[2]) + float64(p[3]*q[3])
}

// margins is the number of classes of margin.
const margins = 12

// margin returns a class of the difference between the largest and the second component.
func margin(p *rotation.Quaternion, largest, second int) int {
	return min(int(float64(min(math.Abs(p[largest])-math.Abs(p[second]), 1)*40)), margins-1)
}

// signOf returns 0, 1 or 2 for a negative number, about zero and a positive one.
func signOf(v float64) int { return 1 + rangecoder.Flag(v > 0.001) - rangecoder.Flag(v < -0.001) }

// gridStep returns the step of the grid for component v.
func gridStep(v float64) int32 {
	return int32(min(max(math.Floor(float64(v*stepsToOne)+(zeroStep+0.5)), 0), 1<<cube.SmallBits-1))
}

// A turn is a vector along its axis. Its length is about the angle, exactly four times
// the tangent of a quarter of it, in units of 1/spinOne.
const (
	spinOne = 4096
	maxSpin = 4 * spinOne
)

// turnBetween returns the turn from one orientation to another.
func turnBetween(from, to *rotation.Quaternion) (v [3]int32) {
	r := to.Times(from.Conjugate())
	if r[3] < 0 {
		r = r.Negative()
	}
	scale := 4 * spinOne / (1 + r[3])
	for i := range v {
		v[i] = rounded(min(max(float64(r[i]*scale), -maxSpin), maxSpin))
	}
	return v
}

// rounded is math.Round for small numbers, without its branches.
func rounded(x float64) int32 {
	n := int32(x)
	rest := x - float64(n) // exact
	return n + int32(rangecoder.Flag(rest >= 0.5)-rangecoder.Flag(rest <= -0.5))
}

// rotated returns the orientation after a turn.
func rotated(p *rotation.Quaternion, v [3]int32) rotation.Quaternion {
	const unit = 1.0 / (4 * spinOne)
	x, y, z := float64(float64(v[0])*unit), float64(float64(v[1])*unit), float64(float64(v[2])*unit)
	bb := float64(x*x) + float64(y*y) + float64(z*z)
	s := 1 / (1 + bb)
	r := rotation.Quaternion{float64(2 * x * s), float64(2 * y * s), float64(2 * z * s), float64((1 - bb) * s)}
	return r.Times(*p)
}
