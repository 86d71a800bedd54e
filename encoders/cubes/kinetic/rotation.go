package kinetic

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rotation"
)

// position returns the position of a cube in units of 1/512 m.
func position(q *cube.Row) vec {
	return vec{float64(q[frame.CubeX]), float64(q[frame.CubeY]), float64(q[frame.CubeZ])}
}

// orientationGrid is the grid of the smallest three (Gaffer on Games, "Snapshot Compression"): 511
// steps from -1/sqrt(2) to 1/sqrt(2). The exact scale is 361.3316 steps to 1. The nets were trained
// with 361.3297, so it must stay.
var orientationGrid = rotation.SmallestThree{Scale: smallScale, Zero: smallZero}

const (
	smallScale = 361.3297
	smallZero  = 255.5
	turnUnit   = smallScale / 2 // a rotation vector of length 1 moves a smallest component by about 1
)

// quat is a unit quaternion x y z w.
type quat = rotation.Quaternion

// orientation returns the orientation of a cube. Its length is 1 even if the components of the row
// do not form a unit quaternion, which corrupt packets can cause.
func orientation(q *cube.Row) quat {
	return orientationGrid.DecodeUnit(q[frame.CubeLargest], q[frame.CubeA:frame.CubeX])
}

// rotate returns v rotated by q: v + w*t + u x t, where u and w are the vector and the scalar part
// of q and t = 2 u x v.
func rotate(q quat, v vec) vec {
	t := vec{
		2 * (float64(q[1]*v[2]) - float64(q[2]*v[1])),
		2 * (float64(q[2]*v[0]) - float64(q[0]*v[2])),
		2 * (float64(q[0]*v[1]) - float64(q[1]*v[0])),
	}
	return vec{
		v[0] + float64(q[3]*t[0]) + float64(q[1]*t[2]) - float64(q[2]*t[1]),
		v[1] + float64(q[3]*t[1]) + float64(q[2]*t[0]) - float64(q[0]*t[2]),
		v[2] + float64(q[3]*t[2]) + float64(q[0]*t[1]) - float64(q[1]*t[0]),
	}
}

// axisHeights returns the z component of each of a cube's own axes in the world: the last row of
// the rotation matrix of q.
func axisHeights(q quat) vec {
	return vec{
		2 * (float64(q[0]*q[2]) - float64(q[1]*q[3])),
		2 * (float64(q[1]*q[2]) + float64(q[0]*q[3])),
		1 - float64(2*(float64(q[0]*q[0])+float64(q[1]*q[1]))),
	}
}

// rotationVector returns the rotation q as axis times angle, in units of turnUnit. Of the two
// rotations with the same result it is the one of at most half a turn.
func rotationVector(q quat) vec {
	if q[3] < 0 {
		q = q.Negative()
	}
	square := float64(q[0]*q[0]) + float64(q[1]*q[1]) + float64(q[2]*q[2])
	// With w = cos(angle/2), the half-angle formula tan(x/2) = sin(x)/(1+cos(x)) applied twice gives
	// t = tan(angle/8), and angle = 8 atan(t). The vector part of q is axis*sin(angle/2); the sine
	// cancels in the quotient, so small angles do not divide by zero.
	w := 1 + q[3]
	half := 1 + math.Sqrt(1+square/float64(w*w))
	t2 := square / float64(float64(w*half)*float64(w*half))
	series := 0.0
	for n := 17.0; n > 0; n -= 2 { // the series of atan(t)/t; t is at most tan(pi/8) = 0.42
		series = 1/n - float64(series*t2)
	}
	scale := turnUnit * 8 * series / float64(w*half)
	return vec{q[0], q[1], q[2]}.times(scale)
}

// turnBetween returns the rotation vector from one orientation to another.
func turnBetween(from, to quat) vec { return rotationVector(to.Times(from.Conjugate())) }

// quaternion returns the rotation of a rotation vector. Vectors longer than 10 radians, about a turn
// and a half, are shortened to that. The series are those of sine and cosine of an eighth of
// the angle; two squarings of the half-angle quaternion then give the whole.
func (v vec) quaternion() quat {
	square := min(v.lengthSquared()/(turnUnit*turnUnit), 100) / 64 // (angle/8) squared
	sine, cosine := 1.0, 1.0                                       // sin(angle/8) / (angle/8), and cos(angle/8)
	for n := 14.0; n > 0; n -= 2 {
		sine = 1 - float64(sine*square)/(n*(n+1))
		cosine = 1 - float64(cosine*square)/(n*(n-1))
	}
	sine /= 8 * turnUnit
	q := quat{v[0] * sine, v[1] * sine, v[2] * sine, cosine}
	if length := v.length(); length > 10*turnUnit { // too long: keep the axis
		q[0], q[1], q[2] = q[0]*(10*turnUnit/length), q[1]*(10*turnUnit/length), q[2]*(10*turnUnit/length)
	}
	q = q.Times(q)
	return q.Times(q)
}

// smallestThree returns the components of q other than largest on the grid, not rounded. The sign is
// that for which the component left out is positive.
func smallestThree(q quat, largest int) vec {
	scale := smallScale
	if q[largest] < 0 {
		scale = -scale
	}
	var v vec
	k := 0
	for i := range q {
		if i != largest {
			v[k] = float64(q[i]*scale) + smallZero
			k++
		}
	}
	return v
}

// jacobian returns the derivatives of the smallest three components of q by the components of a
// small rotation vector applied after q, one row for each component in the order of smallestThree.
func jacobian(q quat, largest int) [3]vec {
	sign := 1.0
	if q[largest] < 0 {
		sign = -1
	}
	derivatives := [4]vec{{q[3], q[2], -q[1]}, {-q[2], q[3], q[0]}, {q[1], -q[0], q[3]}, {-q[0], -q[1], -q[2]}}
	var rows [3]vec
	k := 0
	for i := range derivatives {
		if i != largest {
			rows[k] = derivatives[i].times(sign)
			k++
		}
	}
	return rows
}

// vec is a position or a motion in units of 1/512 m, or a rotation vector: axis times angle, in
// units of turnUnit.
type vec [3]float64

func (v vec) plus(w vec) vec { return vec{v[0] + w[0], v[1] + w[1], v[2] + w[2]} }

func (v vec) minus(w vec) vec { return vec{v[0] - w[0], v[1] - w[1], v[2] - w[2]} }

// times returns v scaled by s. The conversions forbid the compiler to fuse the products with sums.
func (v vec) times(s float64) vec {
	return vec{float64(v[0] * s), float64(v[1] * s), float64(v[2] * s)}
}

func (v vec) lengthSquared() float64 {
	return float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2])
}

func (v vec) length() float64 { return math.Sqrt(v.lengthSquared()) }

// sumAbs returns the sum of the magnitudes of the components.
func (v vec) sumAbs() float64 { return math.Abs(v[0]) + math.Abs(v[1]) + math.Abs(v[2]) }
