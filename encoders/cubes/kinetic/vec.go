package kinetic

import "math"

// vec is a position or a motion in units of 1/512 m, or a turn: the axis times the angle
// in units of turnUnit.
type vec [3]float64

func (v vec) plus(w vec) vec  { return vec{v[0] + w[0], v[1] + w[1], v[2] + w[2]} }
func (v vec) minus(w vec) vec { return vec{v[0] - w[0], v[1] - w[1], v[2] - w[2]} }

func (v vec) times(s float64) vec {
	return vec{float64(v[0] * s), float64(v[1] * s), float64(v[2] * s)}
}

func (v vec) square() float64 {
	return float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2])
}

func (v vec) length() float64 { return math.Sqrt(v.square()) }

// sum returns the sum of the magnitudes.
func (v vec) sum() float64 { return math.Abs(v[0]) + math.Abs(v[1]) + math.Abs(v[2]) }

// btoi returns 1 for true.
func btoi(b bool) (one int) {
	if b {
		one = 1
	}
	return one
}
