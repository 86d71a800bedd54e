package physics

import "math"

// Vec is a vector. The unit depends on the use: metres, metres per second, radians per second.
//
// In this package every product is wrapped in float64(...). Go may fuse x*y + z into one instruction
// that rounds once instead of twice; it does so on arm64 but not on amd64. The explicit conversion
// prevents that, so that every machine computes the same bits. A test searches the source for
// products without it (TestNoFusableProducts in package dataset).
type Vec struct{ X, Y, Z float64 }

func (a Vec) Add(b Vec) Vec { return Vec{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }

func (a Vec) Sub(b Vec) Vec { return Vec{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }

func (a Vec) Neg() Vec { return Vec{-a.X, -a.Y, -a.Z} }

// Scale returns a times s.
func (a Vec) Scale(s float64) Vec {
	return Vec{float64(a.X * s), float64(a.Y * s), float64(a.Z * s)}
}

// AddScaled returns a + b times s.
func (a Vec) AddScaled(b Vec, s float64) Vec {
	return Vec{a.X + float64(b.X*s), a.Y + float64(b.Y*s), a.Z + float64(b.Z*s)}
}

// Dot returns the scalar product of a and b.
func (a Vec) Dot(b Vec) float64 {
	return float64(a.X*b.X) + float64(a.Y*b.Y) + float64(a.Z*b.Z)
}

// Cross returns the vector product a x b.
func (a Vec) Cross(b Vec) Vec {
	return Vec{
		float64(a.Y*b.Z) - float64(a.Z*b.Y),
		float64(a.Z*b.X) - float64(a.X*b.Z),
		float64(a.X*b.Y) - float64(a.Y*b.X),
	}
}

// Length returns the Euclidean norm.
func (a Vec) Length() float64 { return math.Sqrt(a.Dot(a)) }

// Limit returns a, or a shortened to the given length if it is longer.
func (a Vec) Limit(length float64) Vec {
	if squaredLength := a.Dot(a); squaredLength > float64(length*length) {
		return a.Scale(length / math.Sqrt(squaredLength))
	}
	return a
}

// clamp returns a with every component limited to the range from low's to high's.
func (a Vec) clamp(low, high Vec) Vec {
	return Vec{
		max(low.X, min(a.X, high.X)),
		max(low.Y, min(a.Y, high.Y)),
		max(low.Z, min(a.Z, high.Z)),
	}
}

// Quat is a rotation as a unit quaternion.
type Quat struct{ X, Y, Z, W float64 }

// axes returns the x, y and z axes rotated by q: the columns of the rotation matrix.
func (q Quat) axes() [3]Vec {
	xx, yy, zz := float64(q.X*q.X), float64(q.Y*q.Y), float64(q.Z*q.Z)
	xy, xz, yz := float64(q.X*q.Y), float64(q.X*q.Z), float64(q.Y*q.Z)
	wx, wy, wz := float64(q.W*q.X), float64(q.W*q.Y), float64(q.W*q.Z)
	return [3]Vec{
		{1 - float64(2*(yy+zz)), float64(2 * (xy + wz)), float64(2 * (xz - wy))},
		{float64(2 * (xy - wz)), 1 - float64(2*(xx+zz)), float64(2 * (yz + wx))},
		{float64(2 * (xz + wy)), float64(2 * (yz - wx)), 1 - float64(2*(xx+yy))},
	}
}

// rotated rotates q by spin (radians per second about each axis) for a time in seconds: one Euler
// step of dq/dt = spin*q/2, then normalized.
func (q Quat) rotated(spin Vec, seconds float64) Quat {
	x, y, z := float64(spin.X*seconds*0.5), float64(spin.Y*seconds*0.5), float64(spin.Z*seconds*0.5)
	r := Quat{
		q.X + (float64(x*q.W) + float64(y*q.Z) - float64(z*q.Y)),
		q.Y + (float64(y*q.W) + float64(z*q.X) - float64(x*q.Z)),
		q.Z + (float64(z*q.W) + float64(x*q.Y) - float64(y*q.X)),
		q.W - (float64(x*q.X) + float64(y*q.Y) + float64(z*q.Z)),
	}
	return r.normalized()
}

// normalized returns q scaled to length 1.
func (q Quat) normalized() Quat {
	square := float64(q.X*q.X) + float64(q.Y*q.Y) + float64(q.Z*q.Z) + float64(q.W*q.W)
	s := 1 / math.Sqrt(square)
	return Quat{float64(q.X * s), float64(q.Y * s), float64(q.Z * s), float64(q.W * s)}
}
