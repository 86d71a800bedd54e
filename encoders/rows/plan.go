package rows

import (
	"math"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
	"wirelab/encoders/rotation"
)

// maxAxes is the number of coordinates of a position.
const maxAxes = 3

// A plan holds what the codec derives from a schema. It is immutable.
type plan struct {
	schema        *frame.Schema
	fields        int // per row
	rows          int
	columns       []fieldPlan
	order         []int // fields in the order of coding: positions after the velocities that move them
	positionShift int   // low bits of a coordinate that distances ignore, so that squares fit
	position      []int // fields of a row's position; nil if there are fewer than two
	sharedWeights int   // weight set of decisions that belong to no field
	rotation      rotationFields
	rowFlags      []int // the first fields of kind Flag, at most 4: contexts of whether a row changes
}

// A fieldPlan describes a field.
type fieldPlan struct {
	column.Range
	kind       frame.Kind
	statsField int     // the first field of the same kind, range and unit, whose statistics it shares
	weightSet  int     // index of the field's weights in the mixer; fields beyond maxWeightSets share the last
	velocity   int     // of a position: the field of its velocity; -1 if none
	rate       float64 // of a position with a velocity: its change per tick at a velocity of 1
}

// newPlan derives the plan of a schema.
func newPlan(s *frame.Schema) *plan {
	p := &plan{schema: s, fields: len(s.Fields), rows: s.Rows}
	for i, f := range s.Fields {
		c := fieldPlan{kind: f.Kind, Range: column.NewRange(&f), weightSet: min(i, maxWeightSets-1), statsField: i, velocity: -1}
		for j, g := range s.Fields[:i] { // fields of the same kind, range and unit share the statistics of the first
			if g.Kind == f.Kind && g.Min == f.Min && g.Max == f.Max && g.Unit == f.Unit {
				c.statsField = j
				break
			}
		}
		p.columns = append(p.columns, c)
		if f.Kind == frame.Flag && len(p.rowFlags) < 4 { // the first four flags are contexts of the row
			p.rowFlags = append(p.rowFlags, i)
		}
	}
	p.sharedWeights = min(p.fields, maxWeightSets)
	p.findVelocities()
	p.findPosition()
	p.rotation = p.findRotation()
	return p
}

// findVelocities finds the velocity of each position, by their hints, and the order of the fields.
func (p *plan) findVelocities() {
	var last []int // positions with a velocity
	for i := range p.columns {
		f, c := &p.schema.Fields[i], &p.columns[i]
		if f.Hint.Role == frame.Position && f.Hint.Group != 0 && f.Kind == frame.Quantity {
			c.velocity = slices.IndexFunc(p.schema.Fields, func(g frame.Field) bool {
				return g.Hint.Role == frame.Velocity && g.Kind == frame.Quantity && g.Hint.Group == f.Hint.Group && g.Hint.Axis == f.Hint.Axis
			})
		}
		if c.velocity < 0 {
			p.order = append(p.order, i)
			continue
		}
		last = append(last, i)
		g := &p.schema.Fields[c.velocity]
		// If the rate is unknown, or not per tick, a velocity is taken to be per second; weightedSum corrects it.
		c.rate = 1 / float64(max(p.schema.TickHz, 1))
		if g.Hint.Rate > 0 && p.schema.FieldOf(frame.Now) < 0 {
			c.rate = g.Hint.Rate
		}
		c.rate = float64(c.rate*g.Step()) / f.Step()
		if !(c.rate > 0 && c.rate < 1<<32) { // not plausible; also NaN
			c.rate = 1
		}
	}
	p.order = append(p.order, last...)
}

// hasVelocities reports whether the position of a row has a velocity.
func (p *plan) hasVelocities() bool {
	return slices.ContainsFunc(p.columns, func(c fieldPlan) bool { return c.velocity >= 0 })
}

// findPosition finds the coordinates of a row's position: the first two or three quantities of one
// unit.
func (p *plan) findPosition() {
	fields := p.schema.Fields
	for i, f := range fields {
		if f.Kind != frame.Quantity || f.Unit == "" {
			continue
		}
		axes := []int{i}
		for j := i + 1; j < len(fields) && len(axes) < maxAxes; j++ {
			if fields[j].Kind == frame.Quantity && fields[j].Unit == f.Unit {
				axes = append(axes, j)
			}
		}
		if len(axes) > 1 {
			p.position = axes
			for _, j := range axes { // drop the lowest bits of coordinates with more than 30 bits
				p.positionShift = max(p.positionShift, int(p.columns[j].Width)-30)
			}
			return
		}
	}
}

// numComponents is the number of components in a smallest-three rotation.
const numComponents = 3

// rotationFields are the fields of a schema's rotation in smallest-three form: an enum of four
// values, the index of the largest component of the quaternion, followed by three quantities of one
// range, the other components in -1/sqrt(2) to 1/sqrt(2). The rotation is extrapolated also when
// another component becomes the largest. If the fields are no rotation, their other predictors
// still work.
type rotationFields struct {
	enumField int // the enum, before the components; -1 if there is no rotation
	rotation.SmallestThree
}

// findRotation returns the first rotation of the schema; enumField is -1 without one.
func (p *plan) findRotation() rotationFields {
	fields := p.schema.Fields
	for i := 0; i+numComponents < len(fields); i++ {
		a := fields[i+1] // the first component
		// An enum of four values has a span of 3.
		isRotation := fields[i].Kind == frame.Enum && p.columns[i].Span == numComponents && p.columns[i+1].Span > 1
		for _, b := range fields[i+1 : i+1+numComponents] {
			isRotation = isRotation && b.Kind == frame.Quantity && b.Min == a.Min && b.Max == a.Max
		}
		if isRotation {
			// The range of a component stands for -1/sqrt 2 to 1/sqrt 2; its middle, for 0.
			half := float64(float64(p.columns[i+1].Span) / 2)
			return rotationFields{i, rotation.SmallestThree{Scale: float64(half * math.Sqrt2), Zero: float64(a.Min) + half}}
		}
	}
	return rotationFields{enumField: -1}
}

// isComponent reports whether field f is a component of the rotation.
func (t *rotationFields) isComponent(f int) bool {
	return t.enumField >= 0 && f > t.enumField && f <= t.enumField+numComponents
}

// components returns the values of the component fields for rotation q without component omitted.
func (t *rotationFields) components(q *rotation.Quaternion, omitted int) (c [numComponents]int32) {
	sign := 1.0 // q and -q are the same rotation; the omitted component must be positive
	if q[omitted] < 0 {
		sign = -1
	}
	limit := t.Scale / math.Sqrt2
	k := 0
	for i, v := range q {
		if i != omitted {
			v = min(max(float64(v*float64(sign*t.Scale)), -limit), limit)
			c[k] = int32(math.Floor(float64(v+t.Zero) + 0.5))
			k++
		}
	}
	return c
}

// extrapolate returns rotation to, continued by ratio times the rotation that led to it from from. It
// scales the axis times the tangent of a quarter of the angle, which is nearly proportional to the
// angle (Doran, "Quaternions, Rotations and Compression", 2018).
func extrapolate(from, to *rotation.Quaternion, ratio float64) rotation.Quaternion {
	r := to.Times(from.Conjugate())
	if r[3] < 0 { // of the two quaternions of a rotation, take the one of the smaller angle
		r = r.Negative()
	}
	scale := ratio / (1 + r[3])
	// From the axis times the tangent, x, y, z, back to a quaternion.
	x, y, z := float64(r[0]*scale), float64(r[1]*scale), float64(r[2]*scale)
	norm := float64(x*x) + float64(y*y) + float64(z*z)
	s := 1 / (1 + norm)
	turn := rotation.Quaternion{float64(2*x) * s, float64(2*y) * s, float64(2*z) * s, (1 - norm) * s}
	return turn.Times(*to)
}
