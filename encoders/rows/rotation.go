package rows

import (
	"math"

	"wirelab/dataset/frame"
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
type rotation struct {
	at    int     // of the enum; the components follow
	mid   float64 // what stands for zero
	scale float64 // steps to one
}

// findRotation looks for the first rotation; at is -1 if there is none.
func (p *plan) findRotation() rotation {
	fields := p.schema.Fields
	for i := 0; i+parts < len(fields); i++ {
		a := fields[i+1]
		like := fields[i].Kind == frame.Enum && p.cols[i].span == parts && p.cols[i+1].span > 1
		for _, b := range fields[i+1 : i+1+parts] {
			like = like && b.Kind == frame.Quantity && b.Min == a.Min && b.Max == a.Max
		}
		if like {
			half := float64(float64(p.cols[i+1].span) / 2)
			return rotation{at: i, mid: float64(a.Min) + half, scale: float64(half * math.Sqrt2)}
		}
	}
	return rotation{at: -1}
}

// has reports whether field f is a component of the rotation.
func (t *rotation) has(f int) bool { return t.at >= 0 && f > t.at && f <= t.at+parts }

// quaternion is a rotation. Both ends compute with it and must agree to the bit, so
// every product that is added is converted, lest a compiler fuse it, and only + - * /
// and the square root are used, which IEEE 754 rounds the same everywhere.
type quaternion [parts + 1]float64

// of returns what the fields of a row say. left is the value of the enum, from 0.
func (t *rotation) of(left int, components []int32) (q quaternion) {
	rest, k := 1.0, 0
	for i := range q {
		if i != left {
			q[i] = (float64(components[k]) - t.mid) / t.scale
			rest -= float64(q[i] * q[i])
			k++
		}
	}
	q[left] = math.Sqrt(max(0, rest))
	return q
}

// components returns what the fields of q are if component left is left out.
func (t *rotation) components(q *quaternion, left int) (c [parts]int32) {
	sign := 1.0
	if q[left] < 0 {
		sign = -1
	}
	most := t.scale / math.Sqrt2
	k := 0
	for i, v := range q {
		if i != left {
			v = min(max(float64(v*float64(sign*t.scale)), -most), most)
			c[k] = int32(math.Floor(float64(v+t.mid) + 0.5))
			k++
		}
	}
	return c
}

// rank returns which component is the largest, which the second, and by how much.
func (q *quaternion) rank() (first, second int, margin float64) {
	for i := 1; i < len(q); i++ {
		switch v := math.Abs(q[i]); {
		case v > math.Abs(q[first]):
			first, second = i, first
		case second == first || v > math.Abs(q[second]):
			second = i
		}
	}
	return first, second, math.Abs(q[first]) - math.Abs(q[second])
}

// times returns the product q p: first the rotation p, then q.
func (q *quaternion) times(p *quaternion) quaternion {
	return quaternion{
		float64(q[3]*p[0]) + float64(q[0]*p[3]) + float64(q[1]*p[2]) - float64(q[2]*p[1]),
		float64(q[3]*p[1]) - float64(q[0]*p[2]) + float64(q[1]*p[3]) + float64(q[2]*p[0]),
		float64(q[3]*p[2]) + float64(q[0]*p[1]) - float64(q[1]*p[0]) + float64(q[2]*p[3]),
		float64(q[3]*p[3]) - float64(q[0]*p[0]) - float64(q[1]*p[1]) - float64(q[2]*p[2]),
	}
}

// onward returns where a rotation that went from one quaternion to another will be
// after so many times as long again. A turn is its axis times the tangent of a quarter
// of its angle, which grows nearly as the angle does (Doran, "Quaternions, Rotations
// and Compression", 2018).
func onward(from, to *quaternion, times float64) quaternion {
	back := quaternion{-from[0], -from[1], -from[2], from[3]}
	r := to.times(&back)
	if r[3] < 0 {
		r = quaternion{-r[0], -r[1], -r[2], -r[3]}
	}
	by := times / (1 + r[3])
	x, y, z := float64(r[0]*by), float64(r[1]*by), float64(r[2]*by)
	square := float64(x*x) + float64(y*y) + float64(z*z)
	s := 1 / (1 + square)
	turn := quaternion{float64(2*x) * s, float64(2*y) * s, float64(2*z) * s, (1 - square) * s}
	return turn.times(to)
}
