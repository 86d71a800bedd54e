package physics

import "math"

// Vec is a vector in metres, or metres per second, or another unit.
//
// Here and in all of this package every product is wrapped in float64(...). Go
// may fuse x*y + z into one instruction that rounds once instead of twice; on
// arm64 it does, on plain amd64 it cannot. The explicit conversion forbids it,
// and so every machine computes the same bits. A test walks the source for
// products that lack it.
type Vec struct{ X, Y, Z float64 }

// Add returns a + b.
func (a Vec) Add(b Vec) Vec { return Vec{a.X + b.X, a.Y + b.Y, a.Z + b.Z} }

// Sub returns a - b.
func (a Vec) Sub(b Vec) Vec { return Vec{a.X - b.X, a.Y - b.Y, a.Z - b.Z} }

// Neg returns -a.
func (a Vec) Neg() Vec { return Vec{-a.X, -a.Y, -a.Z} }

// Scale returns a times s.
func (a Vec) Scale(s float64) Vec {
	return Vec{float64(a.X * s), float64(a.Y * s), float64(a.Z * s)}
}

// AddScaled returns a + b times s.
func (a Vec) AddScaled(b Vec, s float64) Vec {
	return Vec{a.X + float64(b.X*s), a.Y + float64(b.Y*s), a.Z + float64(b.Z*s)}
}

// Dot returns the scalar product.
func (a Vec) Dot(b Vec) float64 {
	return float64(a.X*b.X) + float64(a.Y*b.Y) + float64(a.Z*b.Z)
}

// Cross returns the vector product.
func (a Vec) Cross(b Vec) Vec {
	return Vec{
		float64(a.Y*b.Z) - float64(a.Z*b.Y),
		float64(a.Z*b.X) - float64(a.X*b.Z),
		float64(a.X*b.Y) - float64(a.Y*b.X),
	}
}

// Length returns the Euclidean norm.
func (a Vec) Length() float64 { return math.Sqrt(a.Dot(a)) }

// Limit returns a, shortened to length most if it is longer.
func (a Vec) Limit(most float64) Vec {
	if l := a.Dot(a); l > float64(most*most) {
		return a.Scale(most / math.Sqrt(l))
	}
	return a
}

// clamp returns a with every component brought between low's and high's.
func (a Vec) clamp(low, high Vec) Vec {
	return Vec{
		max(low.X, min(a.X, high.X)),
		max(low.Y, min(a.Y, high.Y)),
		max(low.Z, min(a.Z, high.Z)),
	}
}

// Quat is a rotation as a unit quaternion.
type Quat struct{ X, Y, Z, W float64 }

// axes returns the images of the three unit vectors: the columns of the
// rotation matrix.
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

// turned advances q by spin (radians per second about each axis) for s seconds:
// one Euler step of dq/dt = spin*q/2, made a unit again.
func (q Quat) turned(spin Vec, s float64) Quat {
	x, y, z := float64(spin.X*s*0.5), float64(spin.Y*s*0.5), float64(spin.Z*s*0.5)
	r := Quat{
		q.X + (float64(x*q.W) + float64(y*q.Z) - float64(z*q.Y)),
		q.Y + (float64(y*q.W) + float64(z*q.X) - float64(x*q.Z)),
		q.Z + (float64(z*q.W) + float64(x*q.Y) - float64(y*q.X)),
		q.W - (float64(x*q.X) + float64(y*q.Y) + float64(z*q.Z)),
	}
	return r.unit()
}

// unit returns q scaled to length 1.
func (q Quat) unit() Quat {
	square := float64(q.X*q.X) + float64(q.Y*q.Y) + float64(q.Z*q.Z) + float64(q.W*q.W)
	s := 1 / math.Sqrt(square)
	return Quat{float64(q.X * s), float64(q.Y * s), float64(q.Z * s), float64(q.W * s)}
}
