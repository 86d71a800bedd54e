package cubes

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rotation"
)

// orientationGrid is the grid of the smallest three: 511 steps span -1/sqrt(2) to +1/sqrt(2),
// which makes 361.33 steps to 1. Step 256 stands for zero, so that a cube that lies
// flat has orientation 0 0 0 1 exactly.
var orientationGrid = rotation.SmallestThree{Scale: smallScale, Zero: smallZero}

const (
	smallScale = 361.33
	smallZero  = 256
)

// orientation returns the orientation of a cube.
func orientation(q *cube.Row) rotation.Quaternion {
	return orientationGrid.Decode(q[frame.CubeLargest], q[frame.CubeA:frame.CubeX])
}

// quantise returns a cube that has only the smallest three of f.
func quantise(f rotation.Quaternion) cube.Row {
	largest, _ := f.Largest()
	scale := math.Copysign(smallScale, f[largest])
	q := cube.Row{frame.CubeLargest: int32(largest)}
	k := frame.CubeA
	for i := range f {
		if i != largest {
			step := math.Floor(float64(f[i]*scale) + (smallZero + 0.5))
			q[k] = int32(min(max(step, 0), 1<<cube.SmallBits-1))
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
func between(from, to rotation.Quaternion, steps int32) bivector {
	r := to.Times(from.Conjugate())
	if r[3] < 0 {
		r = r.Negative()
	}
	scale := float64(steps) / (1 + r[3])
	return bivector{int32(math.Round(r[0] * scale)), int32(math.Round(r[1] * scale)), int32(math.Round(r[2] * scale))}
}

// turn applies b to an orientation and quantises the outcome: its smallest three
// are what matters of the cube it returns.
func (b bivector) turn(from rotation.Quaternion, steps int32) cube.Row {
	// w = (1-bb)/(1+bb) and v = 2b/(1+bb); with b in steps both fractions are of
	// integers.
	s, x, y, z := int64(steps), int64(b[0]), int64(b[1]), int64(b[2])
	bb := x*x + y*y + z*z
	scale := 1 / float64(s*s+bb)
	r := rotation.Quaternion{float64(2*s*x) * scale, float64(2*s*y) * scale, float64(2*s*z) * scale, float64(s*s-bb) * scale}
	return quantise(r.Times(from))
}
