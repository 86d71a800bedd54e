package rows

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
	"wirelab/encoders/rotation"
)

// maxPlace bounds the coordinates of a position.
const maxPlace = 3

// plan holds what the codec derives from a schema.
type plan struct {
	schema *frame.Schema
	fields int
	rows   int
	cols   []fieldPlan
	coarse int   // low bits of a coordinate that distances ignore
	place  []int // the fields of a row's position; nil if there are fewer than two
	shared int   // index of the weights of decisions that belong to no field
	turn   rotationFields
	states []int // flags that are contexts of rows
}

// fieldPlan describes a field.
type fieldPlan struct {
	column.Range
	kind  frame.Kind
	class int // the first field of the same kind, range and unit
	slot  int // its weights; fields beyond maxSlots share the last
}

func newPlan(s *frame.Schema) *plan {
	p := &plan{schema: s, fields: len(s.Fields), rows: s.Rows}
	for i, f := range s.Fields {
		c := fieldPlan{kind: f.Kind, Range: column.RangeOf(&f), slot: min(i, maxSlots-1), class: i}
		for j, g := range s.Fields[:i] {
			if g.Kind == f.Kind && g.Min == f.Min && g.Max == f.Max && g.Unit == f.Unit {
				c.class = j
				break
			}
		}
		p.cols = append(p.cols, c)
		if f.Kind == frame.Flag && len(p.states) < 4 {
			p.states = append(p.states, i)
		}
	}
	p.shared = min(p.fields, maxSlots)
	p.findPlace()
	p.turn = p.findRotation()
	return p
}

// findPlace finds the coordinates: the first two or three quantities of one unit.
func (p *plan) findPlace() {
	fields := p.schema.Fields
	for i, f := range fields {
		if f.Kind != frame.Quantity || f.Unit == "" {
			continue
		}
		list := []int{i}
		for j := i + 1; j < len(fields) && len(list) < maxPlace; j++ {
			if fields[j].Kind == frame.Quantity && fields[j].Unit == f.Unit {
				list = append(list, j)
			}
		}
		if len(list) > 1 {
			p.place = list
			for _, j := range list {
				p.coarse = max(p.coarse, int(p.cols[j].Width)-30)
			}
			return
		}
	}
}

// An enum of four values before three quantities of one range is taken for a rotation
// in the smallest-three code: the enum names the largest component, which is left out,
// and the range spans -1/sqrt(2) to 1/sqrt(2). The rotation is extrapolated, also when
// another component becomes the largest. Where the fields mean something else, every field
// still has other predictors.

// parts is the number of components that are sent.
const parts = 3

// rotationFields are the fields of a schema's first rotation, and their grid.
type rotationFields struct {
	at int // the enum, before the components; -1 if there is no rotation
	rotation.SmallestThree
}

// findRotation finds the first rotation.
func (p *plan) findRotation() rotationFields {
	fields := p.schema.Fields
	for i := 0; i+parts < len(fields); i++ {
		a := fields[i+1]
		like := fields[i].Kind == frame.Enum && p.cols[i].Span == parts && p.cols[i+1].Span > 1
		for _, b := range fields[i+1 : i+1+parts] {
			like = like && b.Kind == frame.Quantity && b.Min == a.Min && b.Max == a.Max
		}
		if like {
			half := float64(float64(p.cols[i+1].Span) / 2)
			return rotationFields{i, rotation.SmallestThree{Scale: float64(half * math.Sqrt2), Zero: float64(a.Min) + half}}
		}
	}
	return rotationFields{at: -1}
}

// has reports whether field f is a component of the rotation.
func (t *rotationFields) has(f int) bool { return t.at >= 0 && f > t.at && f <= t.at+parts }

// components returns the fields of q, where left is the component that is left out.
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

// extrapolate returns the rotation that continues from one quaternion beyond another, times as
// far. It scales the axis times the tangent of a quarter of the angle, which is nearly
// proportional to the angle (Doran, "Quaternions, Rotations and Compression", 2018).
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
