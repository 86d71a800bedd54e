package kinetic

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rotation"
)

func position(q *cube.Row) vec {
	return vec{float64(q[frame.CubeX]), float64(q[frame.CubeY]), float64(q[frame.CubeZ])}
}

// orientationGrid is the grid of the smallest three. The scale of 511 steps from -1/sqrt(2) to
// 1/sqrt(2) is 361.3316; the nets were trained with 361.3297 and hold only for that.
var orientationGrid = rotation.SmallestThree{Scale: smallScale, Zero: smallZero}

const (
	smallScale = 361.3297
	smallZero  = 255.5
	turnUnit   = smallScale / 2 // so that a turn of length 1 moves a smallest component by about 1
)

type quat = rotation.Quaternion

// orientation returns the orientation of a cube, of length 1 whatever the row holds.
func orientation(q *cube.Row) quat {
	return orientationGrid.DecodeUnit(q[frame.CubeLargest], q[frame.CubeA:frame.CubeX])
}

// rotate returns v turned by q.
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

// up returns the height of each of the cube's own axes: the last row of the
// rotation matrix.
func up(q quat) vec {
	return vec{
		2 * (float64(q[0]*q[2]) - float64(q[1]*q[3])),
		2 * (float64(q[1]*q[2]) + float64(q[0]*q[3])),
		1 - float64(2*(float64(q[0]*q[0])+float64(q[1]*q[1]))),
	}
}

// turn returns the shorter turn that q is.
func turn(q quat) vec {
	if q[3] < 0 {
		q = q.Negative()
	}
	square := float64(q[0]*q[0]) + float64(q[1]*q[1]) + float64(q[2]*q[2])
	// The angle is eight times that whose tangent is t, from the half-angle
	// formula applied twice; the sine cancels, so nothing is divided by zero.
	w := 1 + q[3]
	half := 1 + math.Sqrt(1+square/float64(w*w))
	t2 := square / float64(float64(w*half)*float64(w*half))
	series := 0.0
	for n := 17.0; n > 0; n -= 2 { // atan(t)/t; t is at most 0.42
		series = 1/n - float64(series*t2)
	}
	scale := turnUnit * 8 * series / float64(w*half)
	return vec{q[0], q[1], q[2]}.times(scale)
}

// turnBetween returns the shorter turn from one orientation to another.
func turnBetween(from, to quat) vec { return turn(to.Times(from.Conjugate())) }

// rotation returns the rotation that v is, of at most a turn and a half.
func (v vec) rotation() quat {
	square := min(v.square()/(turnUnit*turnUnit), 100) / 64 // an eighth of the angle, squared
	sine, cosine := 1.0, 1.0                                // of that angle; sine divided by it
	for n := 14.0; n > 0; n -= 2 {
		sine = 1 - float64(sine*square)/(n*(n+1))
		cosine = 1 - float64(cosine*square)/(n*(n-1))
	}
	sine /= 8 * turnUnit
	q := quat{v[0] * sine, v[1] * sine, v[2] * sine, cosine}
	if length := v.length(); length > 10*turnUnit { // beyond reach: keep the axis
		q[0], q[1], q[2] = q[0]*(10*turnUnit/length), q[1]*(10*turnUnit/length), q[2]*(10*turnUnit/length)
	}
	q = q.Times(q)
	return q.Times(q)
}

// small returns the smallest three, unrounded, if the one left out is largest.
func small(q quat, largest int) vec {
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

// jacobian returns, in rows, by how much each of the smallest three changes with
// a turn that follows q.
func jacobian(q quat, largest int) [3]vec {
	sign := 1.0
	if q[largest] < 0 {
		sign = -1
	}
	by := [4]vec{{q[3], q[2], -q[1]}, {-q[2], q[3], q[0]}, {q[1], -q[0], q[3]}, {-q[0], -q[1], -q[2]}}
	var rows [3]vec
	k := 0
	for i := range by {
		if i != largest {
			rows[k] = by[i].times(sign)
			k++
		}
	}
	return rows
}

// vec is a position or a motion in units of 1/512 m, or a turn: the axis times the angle
// in units of turnUnit.
type vec [3]float64

func (v vec) plus(w vec) vec  { return vec{v[0] + w[0], v[1] + w[1], v[2] + w[2]} }
func (v vec) minus(w vec) vec { return vec{v[0] - w[0], v[1] - w[1], v[2] - w[2]} }

func (v vec) times(s float64) vec {
	return vec{float64(v[0] * s), float64(v[1] * s), float64(v[2] * s)}
}

func (v vec) square() float64 {
	return float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2])
}

func (v vec) length() float64 { return math.Sqrt(v.square()) }

// sum returns the sum of the magnitudes.
func (v vec) sum() float64 { return math.Abs(v[0]) + math.Abs(v[1]) + math.Abs(v[2]) }
