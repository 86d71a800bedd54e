package rows

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/rotation"
)

// An enum of four values before three quantities of one range is taken for a rotation,
// as the smallest three components of its unit quaternion: the enum says which one is
// left out, the largest, and the range reaches as far as any other can, the root of one
// half. So a row that turns is predicted to go on turning, and when another component
// becomes the largest, where all of them go. A schema that means something else by such
// fields loses nothing but this: each field is predicted in other ways too.

// parts are the components that are sent.
const parts = 3

// rotation is where a schema has such fields.
type rotationFields struct {
	at int // of the enum; the components follow
	rotation.SmallestThree
}

// findRotation looks for the first rotation; at is -1 if there is none.
func (p *plan) findRotation() rotationFields {
	fields := p.schema.Fields
	for i := 0; i+parts < len(fields); i++ {
		a := fields[i+1]
		like := fields[i].Kind == frame.Enum && p.cols[i].span == parts && p.cols[i+1].span > 1
		for _, b := range fields[i+1 : i+1+parts] {
			like = like && b.Kind == frame.Quantity && b.Min == a.Min && b.Max == a.Max
		}
		if like {
			half := float64(float64(p.cols[i+1].span) / 2)
			return rotationFields{i, rotation.SmallestThree{Scale: float64(half * math.Sqrt2), Zero: float64(a.Min) + half}}
		}
	}
	return rotationFields{at: -1}
}

// has reports whether field f is a component of the rotation.
func (t *rotationFields) has(f int) bool { return t.at >= 0 && f > t.at && f <= t.at+parts }

// components returns what the fields of q are if component left is left out.
func (t *rotationFields) components(q *rotation.Quaternion, left int) (c [parts]int32) {
	sign := 1.0
	if q[left] < 0 {
		sign = -1
	}
	most := t.Scale / math.Sqrt2
	k := 0
	for i, v := range q {
		if i != left {
			v = min(max(float64(v*float64(sign*t.Scale)), -most), most)
			c[k] = int32(math.Floor(float64(v+t.Zero) + 0.5))
			k++
		}
	}
	return c
}

// onward returns where a rotation that went from one quaternion to another will be
// after so many times as long again. A turn is its axis times the tangent of a quarter
// of its angle, which grows nearly as the angle does (Doran, "Quaternions, Rotations
// and Compression", 2018).
func extrapolate(from, to *rotation.Quaternion, times float64) rotation.Quaternion {
	r := to.Times(from.Conjugate())
	if r[3] < 0 {
		r = r.Negative()
	}
	by := times / (1 + r[3])
	x, y, z := float64(r[0]*by), float64(r[1]*by), float64(r[2]*by)
	square := float64(x*x) + float64(y*y) + float64(z*z)
	s := 1 / (1 + square)
	turn := rotation.Quaternion{float64(2*x) * s, float64(2*y) * s, float64(2*z) * s, (1 - square) * s}
	return turn.Times(*to)
}
