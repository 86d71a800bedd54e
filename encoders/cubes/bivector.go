package cubes

import (
	"math"

	"wirelab/dataset/frame"
)

// The grid of the smallest three: 511 steps span -1/sqrt(2) to +1/sqrt(2), which
// makes 361.33 steps to 1. Step 256 stands for zero, so that a cube that lies
// flat reads as exactly that.
const (
	smallScale = 361.33
	smallZero  = 256
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
	rest := 1.0
	k := frame.CubeA
	for i := range f {
		if int32(i) != q[frame.CubeLargest] {
			f[i] = float64(q[k]-smallZero) / smallScale
			rest -= float64(f[i] * f[i])
			k++
		}
	}
	f[q[frame.CubeLargest]&3] = math.Sqrt(max(0, rest))
	return f
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

// quantise returns a cube that has only the smallest three of f.
func (f quaternion) quantise() cube {
	largest := 0
	for i := range f {
		if math.Abs(f[i]) > math.Abs(f[largest]) {
			largest = i
		}
	}
	scale := math.Copysign(smallScale, f[largest])
	q := cube{frame.CubeLargest: int32(largest)}
	k := frame.CubeA
	for i := range f {
		if i != largest {
			step := math.Floor(float64(f[i]*scale) + (smallZero + 0.5))
			q[k] = int32(min(max(step, 0), 1<<smallBits-1))
			k++
		}
	}
	return q
}

// bivector is b = v/(1+w) of a rotor w+v, in whole steps: the axis of a turn
// times tan(angle/4), so that half a turn has length one.
type bivector [3]int32

// between returns the bivector of the shorter turn from one orientation to
// another.
func between(from, to quaternion, steps int32) bivector {
	r := to.times(from.conjugate())
	if r[3] < 0 {
		r = quaternion{-r[0], -r[1], -r[2], -r[3]}
	}
	scale := float64(steps) / (1 + r[3])
	return bivector{int32(math.Round(r[0] * scale)), int32(math.Round(r[1] * scale)), int32(math.Round(r[2] * scale))}
}

// turn applies b to an orientation and quantises the outcome: its smallest three
// are what matters of the cube it returns.
func (b bivector) turn(from quaternion, steps int32) cube {
	// w = (1-bb)/(1+bb) and v = 2b/(1+bb); with b in steps both fractions are of
	// integers.
	s, x, y, z := int64(steps), int64(b[0]), int64(b[1]), int64(b[2])
	bb := x*x + y*y + z*z
	scale := 1 / float64(s*s+bb)
	r := quaternion{float64(2*s*x) * scale, float64(2*s*y) * scale, float64(2*s*z) * scale, float64(s*s-bb) * scale}
	return r.times(from).quantise()
}
