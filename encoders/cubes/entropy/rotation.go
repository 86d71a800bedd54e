package entropy

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/rotation"
)

// orientationGrid is the grid of the smallest three (Gaffer on Games, "Snapshot Compression"): 511
// steps from -1/sqrt(2) to 1/sqrt(2), which is 361.33 steps to 1. Zero lies between two steps.
var orientationGrid = rotation.SmallestThree{Scale: stepsToOne, Zero: zeroStep}

const (
	stepsToOne = 361.33
	zeroStep   = 255.5
)

// orientation returns the orientation of a cube.
func orientation(q *cube.Row) rotation.Quaternion {
	return orientationGrid.Decode(q[frame.CubeLargest], q[frame.CubeA:frame.CubeX])
}

// withPositiveComponent returns q or -q, which are the same rotation: the one with a positive
// component k.
func withPositiveComponent(q rotation.Quaternion, k int32) rotation.Quaternion {
	if q[k&3] < 0 {
		return q.Negative()
	}
	return q
}

// dot returns the scalar product of p and q.
func dot(p, q *rotation.Quaternion) float64 {
	return float64(p[0]*q[0]) + float64(p[1]*q[1]) + float64(p[2]*q[2]) + float64(p[3]*q[3])
}

// numMargins is the number of values of marginClass.
const numMargins = 12

// marginClass returns a class of the difference between the magnitudes of the largest and the second
// largest component, in steps of 1/40.
func marginClass(p *rotation.Quaternion, largest, second int) int {
	return min(int(float64(min(math.Abs(p[largest])-math.Abs(p[second]), 1)*40)), numMargins-1)
}

// floatSignClass is signClass for a float; magnitudes up to 0.001 count as zero.
func floatSignClass(v float64) int {
	return 1 + rangecoder.Flag(v > 0.001) - rangecoder.Flag(v < -0.001)
}

// gridStep returns the nearest step of orientationGrid for component v.
func gridStep(v float64) int32 {
	return int32(min(max(math.Floor(float64(v*stepsToOne)+(zeroStep+0.5)), 0), 1<<cube.SmallBits-1))
}

// A turn is a rotation as a vector along its axis. Its length is four times the tangent of a quarter
// of the angle (modified Rodrigues parameters), which is about the angle and needs no trigonometric
// function. Components are integers in units of 1/turnUnit.
const (
	turnUnit = 4096
	maxTurn  = 4 * turnUnit // the length of half a turn, the largest
)

// turnBetween returns the turn from one orientation to another, at most 180 degrees, as a vector along its axis. Its
// length is four times the tangent of a quarter of the angle, in units of 1/turnUnit.
func turnBetween(from, to *rotation.Quaternion) (v [3]int32) {
	r := to.Times(from.Conjugate())
	if r[3] < 0 { // take the shorter way
		r = r.Negative()
	}
	scale := 4 * turnUnit / (1 + r[3])
	for i := range v {
		v[i] = roundInt32(min(max(float64(r[i]*scale), -maxTurn), maxTurn))
	}
	return v
}

// roundInt32 is math.Round, halves away from zero, for numbers that fit an int32. It has no branches.
func roundInt32(x float64) int32 {
	n := int32(x)
	rest := x - float64(n) // exact
	return n + int32(rangecoder.Flag(rest >= 0.5)-rangecoder.Flag(rest <= -0.5))
}

// rotate returns the orientation p after the turn v, a vector as turnBetween returns it.
func rotate(p *rotation.Quaternion, v [3]int32) rotation.Quaternion {
	const unit = 1.0 / (4 * turnUnit)
	x, y, z := float64(float64(v[0])*unit), float64(float64(v[1])*unit), float64(float64(v[2])*unit)
	bb := float64(x*x) + float64(y*y) + float64(z*z)
	s := 1 / (1 + bb)
	r := rotation.Quaternion{float64(2 * x * s), float64(2 * y * s), float64(2 * z * s), float64((1 - bb) * s)}
	return r.Times(*p)
}
