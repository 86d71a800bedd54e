package forecast

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// Vec and Quat are the vectors and unit quaternions of package physics.
type (
	Vec  = physics.Vec
	Quat = physics.Quat
)

const metre = 1.0 / frame.UnitsPerMetre

// smallScale is how many steps of the smallest three make 1: 511 over the square
// root of 2; smallZero stands for 0.
const (
	smallScale = 361.3315623039
	smallZero  = 255.5
)

// PositionOf returns where the cube of a row is, in units of the snapshot.
func PositionOf(row []int32) Vec {
	return Vec{X: float64(row[frame.CubeX]), Y: float64(row[frame.CubeY]), Z: float64(row[frame.CubeZ])}
}

// RotationOf returns how the cube of a row is turned. The result is a unit
// quaternion whatever the row holds.
func RotationOf(row []int32) Quat {
	var q [4]float64
	largest, sum, at := int(row[frame.CubeLargest])&3, 0.0, frame.CubeA
	for i := range q {
		if i != largest {
			q[i] = (float64(row[at]) - smallZero) / smallScale
			sum += float64(q[i] * q[i])
			at++
		}
	}
	left := max(1-sum, 0.01)
	q[largest] = math.Sqrt(left)
	s := 1 / math.Sqrt(sum+left)
	return Quat{X: float64(q[0] * s), Y: float64(q[1] * s), Z: float64(q[2] * s), W: float64(q[3] * s)}
}

// Mul returns the rotation b followed by a.
func Mul(a, b Quat) Quat {
	return Quat{
		X: float64(a.W*b.X) + float64(a.X*b.W) + float64(a.Y*b.Z) - float64(a.Z*b.Y),
		Y: float64(a.W*b.Y) - float64(a.X*b.Z) + float64(a.Y*b.W) + float64(a.Z*b.X),
		Z: float64(a.W*b.Z) + float64(a.X*b.Y) - float64(a.Y*b.X) + float64(a.Z*b.W),
		W: float64(a.W*b.W) - float64(a.X*b.X) - float64(a.Y*b.Y) - float64(a.Z*b.Z),
	}
}

// Conj returns the inverse of a rotation.
func Conj(q Quat) Quat { return Quat{X: -q.X, Y: -q.Y, Z: -q.Z, W: q.W} }

// Log returns the rotation vector of q: its axis, as long as its angle, which is
// at most pi.
func Log(q Quat) Vec {
	if q.W < 0 {
		q = Quat{X: -q.X, Y: -q.Y, Z: -q.Z, W: -q.W}
	}
	s := math.Sqrt(float64(q.X*q.X) + float64(q.Y*q.Y) + float64(q.Z*q.Z))
	k := 2.0
	if s >= 1e-9 {
		k = float64(2*angle(s, q.W)) / s
	}
	return Vec{X: float64(q.X * k), Y: float64(q.Y * k), Z: float64(q.Z * k)}
}

// Exp returns the rotation of a rotation vector; angles beyond 64 are cut off.
func Exp(v Vec) Quat {
	v = v.Limit(64)
	l := v.Length()
	sin, cos := sincos(float64(l * 0.5))
	k := 0.5
	if l >= 1e-9 {
		k = sin / l
	}
	return Quat{X: float64(v.X * k), Y: float64(v.Y * k), Z: float64(v.Z * k), W: cos}
}
