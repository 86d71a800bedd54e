// Package rotation holds unit quaternions and the smallest-three code of them.
//
// Both ends of a codec compute with it and must agree to the bit. So every product
// that is added is converted, so that no compiler fuses it, and only + - * / and the
// square root are used, which IEEE 754 rounds the same everywhere.
package rotation

import "math"

// Quaternion is a rotation: x y z w, of length 1.
type Quaternion [4]float64

// Times returns the product p q: first the rotation q, then p.
func (p Quaternion) Times(q Quaternion) Quaternion {
	return Quaternion{
		float64(p[3]*q[0]) + float64(p[0]*q[3]) + float64(p[1]*q[2]) - float64(p[2]*q[1]),
		float64(p[3]*q[1]) - float64(p[0]*q[2]) + float64(p[1]*q[3]) + float64(p[2]*q[0]),
		float64(p[3]*q[2]) + float64(p[0]*q[1]) - float64(p[1]*q[0]) + float64(p[2]*q[3]),
		float64(p[3]*q[3]) - float64(p[0]*q[0]) - float64(p[1]*q[1]) - float64(p[2]*q[2]),
	}
}

// Conjugate returns the inverse rotation.
func (p Quaternion) Conjugate() Quaternion { return Quaternion{-p[0], -p[1], -p[2], p[3]} }

// Negative returns -p, which is the same rotation.
func (p Quaternion) Negative() Quaternion { return Quaternion{-p[0], -p[1], -p[2], -p[3]} }

// Largest returns the components of the largest and second largest magnitude; of
// equals the first.
func (p *Quaternion) Largest() (first, second int) {
	for i := 1; i < len(p); i++ {
		switch v := math.Abs(p[i]); {
		case v > math.Abs(p[first]):
			first, second = i, first
		case second == first || v > math.Abs(p[second]):
			second = i
		}
	}
	return first, second
}

// SmallestThree is the grid on which the three smaller components are sent. The
// scale is a parameter because trained tables hold only for the scale that they
// were trained with.
type SmallestThree struct {
	Scale float64 // steps to 1
	Zero  float64 // step that stands for 0
}

// Decode returns the quaternion of a code: which component was left out, and the
// others in order. It is of length 1 for every code that a quantiser makes.
func (g SmallestThree) Decode(largest int32, small []int32) Quaternion {
	var q Quaternion
	rest, k := 1.0, 0
	for i := range q {
		if int32(i) != largest {
			q[i] = (float64(small[k]) - g.Zero) / g.Scale
			rest -= float64(q[i] * q[i])
			k++
		}
	}
	q[largest&3] = math.Sqrt(max(0, rest))
	return q
}

// DecodeUnit is Decode for codes that no quantiser may have made: the quaternion is
// scaled to length 1. It rounds differently.
func (g SmallestThree) DecodeUnit(largest int32, small []int32) Quaternion {
	a, b, c := (float64(small[0])-g.Zero)/g.Scale, (float64(small[1])-g.Zero)/g.Scale, (float64(small[2])-g.Zero)/g.Scale
	square := float64(a*a) + float64(b*b) + float64(c*c)
	rest := max(1-square, 0.01)
	scale := 1 / math.Sqrt(square+rest)
	var q Quaternion
	largest &= 3
	at := &others[largest] // no branch, because it would be unpredictable
	q[largest] = float64(math.Sqrt(rest) * scale)
	q[at[0]&3], q[at[1]&3], q[at[2]&3] = float64(a*scale), float64(b*scale), float64(c*scale)
	return q
}

// others has the components but the largest.
var others = [4][3]uint8{{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}
