// Package rotation implements unit quaternions and their smallest-three code (Gaffer on Games, "Snapshot
// Compression"): the index of the component with the largest magnitude, and the other three components on
// a grid. The largest component follows from the length of 1, and its sign is positive by choice of q or -q.
//
// Encoder and decoder must compute the same results, to the bit, on every machine. So only + - * / and the
// square root are used, which IEEE 754 rounds exactly, and every product that is added is converted,
// because a compiler may otherwise fuse it with the sum.
package rotation

import "math"

// Quaternion is a rotation as a unit quaternion: x y z w.
type Quaternion [4]float64

// Times returns the product p*q: the rotation q followed by p.
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

// Negative returns -p, which is the same rotation as p.
func (p Quaternion) Negative() Quaternion { return Quaternion{-p[0], -p[1], -p[2], -p[3]} }

// Largest returns the indices of the components with the largest and the second largest magnitude. Of equal
// ones the first counts as larger.
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

// SmallestThree is the grid of the three smaller components. Encoders use slightly different scales, because
// trained models are valid only for the scale that they were trained with.
type SmallestThree struct {
	Scale float64 // number of steps from 0 to 1
	Zero  float64 // the step of 0, which may lie between two steps
}

// Decode returns the quaternion of a code: largest is the index of the largest component, small has the
// steps of the others in order. It has length 1 for every code that a quantiser makes; for others it may be
// longer.
func (g SmallestThree) Decode(largest int32, small []int32) Quaternion {
	var q Quaternion
	largestSquare, k := 1.0, 0
	for i := range q {
		if int32(i) != largest {
			q[i] = (float64(small[k]) - g.Zero) / g.Scale
			largestSquare -= float64(q[i] * q[i])
			k++
		}
	}
	q[largest&3] = math.Sqrt(max(0, largestSquare)) // &3 spares the compiler a bounds check
	return q
}

// DecodeUnit is Decode with a result that has length 1 for any code, up to rounding: it scales all components. Its
// rounding differs from that of Decode, so an encoder must use the same one everywhere.
func (g SmallestThree) DecodeUnit(largest int32, small []int32) Quaternion {
	a, b, c := (float64(small[0])-g.Zero)/g.Scale, (float64(small[1])-g.Zero)/g.Scale, (float64(small[2])-g.Zero)/g.Scale
	sumSquares := float64(a*a) + float64(b*b) + float64(c*c)
	largestSquare := max(1-sumSquares, 0.01) // at least 1/4 in a valid code
	scale := 1 / math.Sqrt(sumSquares+largestSquare)
	var q Quaternion
	largest &= 3
	indices := &others[largest] // a table instead of unpredictable branches
	q[largest] = float64(math.Sqrt(largestSquare) * scale)
	q[indices[0]&3], q[indices[1]&3], q[indices[2]&3] = float64(a*scale), float64(b*scale), float64(c*scale)
	return q
}

// others holds for each largest component the indices of the other three.
var others = [4][3]uint8{{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}
