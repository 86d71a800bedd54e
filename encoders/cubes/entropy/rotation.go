package entropy

import (
	"math"

	"wirelab/dataset/frame"
)

// The grid of the smallest three: 361.33 steps to 1.
const (
	stepsToOne = 361.33
	zeroStep   = 255.5 // stands for zero
)

// quaternion is x y z w. Both ends compute with it and must agree to the bit, so
// every product that is added is converted, lest a compiler fuse it, and only
// + - * / and the square root are used, which IEEE 754 rounds the same
// everywhere.
type quaternion [4]float64

// orientation returns what q's smallest three stand for: of length 1 for every
// code that a quantiser makes.
func orientation(q *cube) quaternion {
	var f quaternion
	rest, k := 1.0, frame.CubeA
	for i := range f {
		if int32(i) != q[frame.CubeLargest] {
			f[i] = (float64(q[k]) - zeroStep) / stepsToOne
			rest -= float64(f[i] * f[i])
			k++
		}
	}
	f[q[frame.CubeLargest]&3] = math.Sqrt(max(0, rest))
	return f
}

// rank returns which components are the largest and the second largest.
func (p *quaternion) rank() (largest, second int) {
	for i := 1; i < 4; i++ {
		switch v := math.Abs(p[i]); {
		case v > math.Abs(p[largest]):
			largest, second = i, largest
		case second == largest || v > math.Abs(p[second]):
			second = i
		}
	}
	return largest, second
}

// facing returns p or -p, which is the same rotation, whichever has component k
// positive.
func (p quaternion) facing(k int32) quaternion {
	if p[k&3] < 0 {
		return p.negative()
	}
	return p
}

func (p quaternion) negative() quaternion { return quaternion{-p[0], -p[1], -p[2], -p[3]} }

// dot returns the scalar product.
func (p *quaternion) dot(q *quaternion) float64 {
	return float64(p[0]*q[0]) + float64(p[1]*q[1]) + float64(p[2]*q[2]) + float64(p[3]*q[3])
}

// margins are how clearly one component is the largest.
const margins = 12

// margin returns how much larger the largest component is than the second.
func margin(p *quaternion, largest, second int) int {
	return min(int(float64(min(math.Abs(p[largest])-math.Abs(p[second]), 1)*40)), margins-1)
}

// signOf returns 0, 1 or 2 for a negative number, about zero and a positive one.
func signOf(v float64) int { return 1 + flag(v > 0.001) - flag(v < -0.001) }

// gridStep returns the step of the grid that component v falls on.
func gridStep(v float64) int32 {
	return int32(min(max(math.Floor(float64(v*stepsToOne)+(zeroStep+0.5)), 0), 1<<smallBits-1))
}

// times returns the product p q: first the rotation q, then p.
func (p quaternion) times(q quaternion) quaternion {
	return quaternion{
		float64(p[3]*q[0]) + float64(p[0]*q[3]) + float64(p[1]*q[2]) - float64(p[2]*q[1]),
		float64(p[3]*q[1]) - float64(p[0]*q[2]) + float64(p[1]*q[3]) + float64(p[2]*q[0]),
		float64(p[3]*q[2]) + float64(p[0]*q[1]) - float64(p[1]*q[0]) + float64(p[2]*q[3]),
		float64(p[3]*q[3]) - float64(p[0]*q[0]) - float64(p[1]*q[1]) - float64(p[2]*q[2]),
	}
}

// conjugate returns the rotation back.
func (p quaternion) conjugate() quaternion { return quaternion{-p[0], -p[1], -p[2], p[3]} }

// Turns are vectors along the axis, as long as the angle (four times the tangent
// of its fourth, to be exact), in units of 1/spinOne.
const (
	spinOne = 4096
	maxSpin = 4 * spinOne
)

// turnBetween returns the turn from one orientation to another.
func turnBetween(from, to *quaternion) (v [3]int32) {
	r := to.times(from.conjugate())
	if r[3] < 0 {
		r = r.negative()
	}
	scale := 4 * spinOne / (1 + r[3])
	for i := range v {
		v[i] = int32(math.Round(min(max(float64(r[i]*scale), -maxSpin), maxSpin)))
	}
	return v
}

// turned returns the orientation after a turn.
func (p *quaternion) turned(v [3]int32) quaternion {
	const unit = 1.0 / (4 * spinOne)
	x, y, z := float64(float64(v[0])*unit), float64(float64(v[1])*unit), float64(float64(v[2])*unit)
	bb := float64(x*x) + float64(y*y) + float64(z*z)
	s := 1 / (1 + bb)
	r := quaternion{float64(2 * x * s), float64(2 * y * s), float64(2 * z * s), float64((1 - bb) * s)}
	return r.times(*p)
}
