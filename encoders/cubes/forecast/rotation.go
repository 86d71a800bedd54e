package forecast

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
	"wirelab/encoders/rotation"
)

// vec and quat are the vectors and unit quaternions of package physics.
type (
	vec  = physics.Vec
	quat = physics.Quat
)

// metre converts units of a snapshot to metres.
const metre = 1.0 / frame.UnitsPerMetre

// orientationGrid is the grid of the smallest three: 511 steps from -1/sqrt(2) to 1/sqrt(2), which is
// 511/sqrt(2) steps to 1.
var orientationGrid = rotation.SmallestThree{Scale: smallScale, Zero: smallZero}

const (
	smallScale = 361.3315623039
	smallZero  = 255.5
)

// Position returns the position of the cube in row, in units of the snapshot.
func Position(row []int32) vec {
	return vec{X: float64(row[frame.CubeX]), Y: float64(row[frame.CubeY]), Z: float64(row[frame.CubeZ])}
}

// Orientation returns the orientation of the cube in row. It is a unit quaternion even if the components of
// the row are not those of one.
func Orientation(row []int32) quat {
	return toQuat(orientationGrid.DecodeUnit(row[frame.CubeLargest], row[frame.CubeA:frame.CubeX]))
}

// toQuat converts a quaternion of package rotation.
func toQuat(q rotation.Quaternion) quat { return quat{X: q[0], Y: q[1], Z: q[2], W: q[3]} }

// Mul returns the rotation b followed by a. It rounds exactly as rotation.Quaternion.Times. It exists because
// the compiler keeps the struct quat in registers, but not the array of rotation.Quaternion.
func Mul(a, b quat) quat {
	return quat{
		X: float64(a.W*b.X) + float64(a.X*b.W) + float64(a.Y*b.Z) - float64(a.Z*b.Y),
		Y: float64(a.W*b.Y) - float64(a.X*b.Z) + float64(a.Y*b.W) + float64(a.Z*b.X),
		Z: float64(a.W*b.Z) + float64(a.X*b.Y) - float64(a.Y*b.X) + float64(a.Z*b.W),
		W: float64(a.W*b.W) - float64(a.X*b.X) - float64(a.Y*b.Y) - float64(a.Z*b.Z),
	}
}

// Conj returns the inverse of a rotation.
func Conj(q quat) quat { return quat{X: -q.X, Y: -q.Y, Z: -q.Z, W: q.W} }

// Log returns the rotation vector of q: the axis times the angle in radians, which is at most pi.
func Log(q quat) vec {
	if q.W < 0 {
		q = quat{X: -q.X, Y: -q.Y, Z: -q.Z, W: -q.W}
	}
	s := math.Sqrt(float64(q.X*q.X) + float64(q.Y*q.Y) + float64(q.Z*q.Z))
	k := 2.0 // ratio of the angle to s, the sine of half of it; 2 is the limit for small angles
	if s >= 1e-9 {
		k = float64(2*atan2(s, q.W)) / s
	}
	return vec{X: float64(q.X * k), Y: float64(q.Y * k), Z: float64(q.Z * k)}
}

// The arc tangent of package math differs in the last bit between processors. The functions below use only
// operations that are exactly rounded everywhere, and convert products so that none is fused.

// atan2 returns the angle of the point (x, y), where x and y are at least 0 and not both 0, with an error
// below 1e-12. It halves the angle twice and uses the series of the arc tangent, which is short for small
// angles.
func atan2(y, x float64) float64 {
	if y > x {
		return math.Pi/2 - atan2(x, y)
	}
	t := halfTangent(halfTangent(y / x))
	u := float64(t * t)
	sum := 1.0 / 17
	for _, c := range [...]float64{1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1} {
		sum = c - float64(u*sum)
	}
	return float64(4 * t * sum)
}

// halfTangent returns the tangent of half of the angle with tangent t.
func halfTangent(t float64) float64 { return t / (1 + math.Sqrt(1+float64(t*t))) }
