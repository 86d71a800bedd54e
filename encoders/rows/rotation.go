package rows

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/rotation"
)

const (
	numComponents = 3
	rotationSize  = numComponents + 1 // fields of a rotation: the enum and the components
)

// rotationFields are the fields of a schema's rotation in smallest-three form: an enum of four values, the
// index of the largest component of the quaternion, followed by three quantities of one range, the other
// components in -1/sqrt(2) to 1/sqrt(2). The rotation is extrapolated also when another component becomes
// the largest. If the fields are no rotation, their other predictors still work.
type rotationFields struct {
	enumField int // the enum, before the components; -1 if there is no rotation
	rotation.SmallestThree
}

// A rotationState is the rotation of the row being coded, if its schema has one.
type rotationState struct {
	current   rotation.Quaternion // in base
	predicted rotation.Quaternion // the extrapolated rotation; current if the row has no last rotation
	converted bool                // origin and lastDelta of the components are set
}

// findRotation finds the first rotation of rows of part q.
func (p *plan) findRotation(q *part) {
	fields := p.schema.Fields[:q.firstField+q.fields]
	for k := q.firstField; k+numComponents < len(fields); k++ {
		first := &fields[k+1] // the first component
		span := p.columns[k+1].Span
		// An enum of four values has a span of 3.
		isRotation := fields[k].Kind == frame.Enum && p.columns[k].Span == numComponents && span > 1
		for _, f := range fields[k+1 : k+rotationSize] {
			isRotation = isRotation && f.Kind == frame.Quantity && f.Min == first.Min && f.Max == first.Max
		}
		if isRotation {
			// The range of a component stands for -1/sqrt 2 to 1/sqrt 2; its middle, for 0.
			half := float64(float64(span) / 2)
			p.rotation.enumField = k
			p.rotation.Scale = float64(half * math.Sqrt2)
			p.rotation.Zero = float64(first.Min) + half
			return
		}
	}
}

// hasComponent reports whether field k is a component of the rotation.
func (t *rotationFields) hasComponent(k int) bool {
	return t.enumField >= 0 && k > t.enumField && k <= t.enumField+numComponents
}

// components returns the values of the component fields for rotation q without component omitted.
func (t *rotationFields) components(q *rotation.Quaternion, omitted int) (c [numComponents]int32) {
	scale := t.Scale
	if q[omitted] < 0 { // q and -q are the same rotation; the omitted component must be positive
		scale = -scale
	}
	limit := t.Scale / math.Sqrt2
	k := 0
	for i, v := range q {
		if i != omitted {
			v = min(max(float64(v*scale), -limit), limit)
			c[k] = int32(math.Floor(float64(v+t.Zero) + 0.5))
			k++
		}
	}
	return c
}

// decodeRotation returns the quaternion of a rotation's fields.
func (r *rowState) decodeRotation(fields []int32) rotation.Quaternion {
	t := &r.rotation
	return t.Decode(fields[0]-r.columns[t.enumField].Min, fields[1:rotationSize])
}

// prepareRotation predicts the rotation of a row that was not empty in base: it continues the last change
// of a row that changed with base.
func (r *rowState) prepareRotation() {
	t := &r.rotation
	r.turn.converted = false
	if t.enumField < 0 {
		return
	}
	r.turn.current = r.decodeRotation(r.base[t.enumField:])
	r.turn.predicted = r.turn.current
	if r.moved {
		var before [rotationSize]int32
		for i := range before {
			k := t.enumField + i
			before[i] = r.base[k]
			if h := &r.cells[k-r.part.firstField]; h.changes&1 != 0 {
				before[i] = h.old
			}
		}
		from := r.decodeRotation(before[:])
		r.turn.predicted = extrapolate(&from, &r.turn.current, float64(r.next.ticks)/float64(r.past.ticks))
		r.convertComponents(r.base[t.enumField])
	}
}

// convertComponents sets origin and lastDelta of the components if the enum has value largest: from the
// current rotation, and from the difference of the predicted one to it.
func (r *rowState) convertComponents(largest int32) {
	t := &r.rotation
	omitted := int(largest - r.columns[t.enumField].Min)
	current := t.components(&r.turn.current, omitted)
	predicted := t.components(&r.turn.predicted, omitted)
	r.turn.converted = true
	for i := range current {
		k := t.enumField + 1 + i
		r.origin[k] = int64(current[i]) << integerUnit
		r.lastDelta[k] = int64(predicted[i]-current[i]) << integerUnit
	}
}

// extrapolate returns rotation to, continued by ratio times the rotation that led to it from from. It
// scales the axis times the tangent of a quarter of the angle, which is nearly proportional to the angle
// (Doran, "Quaternions, Rotations and Compression", 2018).
func extrapolate(from, to *rotation.Quaternion, ratio float64) rotation.Quaternion {
	q := to.Times(from.Conjugate())
	if q[3] < 0 { // of the two quaternions of a rotation, take the one of the smaller angle
		q = q.Negative()
	}
	scale := ratio / (1 + q[3])
	// From the axis times the tangent, x, y, z, back to a quaternion.
	x := float64(q[0] * scale)
	y := float64(q[1] * scale)
	z := float64(q[2] * scale)
	norm := float64(x*x) + float64(y*y) + float64(z*z)
	s := 1 / (1 + norm)
	turn := rotation.Quaternion{float64(2*x) * s, float64(2*y) * s, float64(2*z) * s, (1 - norm) * s}
	return turn.Times(*to)
}
