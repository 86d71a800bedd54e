package rows

import (
	"math"
	"wirelab/encoders/rotation"
)

// turns is how many fields a rotation takes.
const rotationSize = parts + 1

// turning is what is known of the rotation of the row at hand, if its schema has one.
type rotationState struct {
	rotated            bool                // it turned on the way to base
	current, predicted rotation.Quaternion // of base, and where that leads
	first              int                 // the component that will be the largest, and the next one
	second             int
	margin             uint32 // how clearly
	largestChanged     bool   // another component is left out now than in base
}

// fields returns the rotation's fields of a row.
func (t *rotationFields) fields(row []int32) (v [rotationSize]int32) {
	if t.at >= 0 {
		copy(v[:], row[t.at:])
	}
	return v
}

// read returns the quaternion that such fields are.
func (r *rowState) read(fields []int32) rotation.Quaternion {
	t := &r.e.turn
	return t.Decode(fields[0]-r.e.cols[t.at].min, fields[1:rotationSize])
}

// turnedFrom notes from where the row turned to base, and so where it will turn to.
func (r *rowState) predictRotation(fields [rotationSize]int32, times float64) {
	t := &r.e.turn
	if t.at < 0 {
		return
	}
	from := r.read(fields[:])
	r.current = r.read(r.base[t.at:])
	r.predicted = extrapolate(&from, &r.current, times)
	r.rotated = true
	r.setReference(int(r.base[t.at] - r.e.cols[t.at].min))
}

// lookAhead gets the rotation ready for a row that changed.
func (r *rowState) prepareRotation() {
	t := &r.e.turn
	r.largestChanged, r.margin = false, 0
	if t.at < 0 {
		return
	}
	if !r.rotated {
		r.current = r.read(r.base[t.at:])
		r.predicted = r.current
	}
	r.first, r.second = r.predicted.Largest()
	margin := math.Abs(r.predicted[r.first]) - math.Abs(r.predicted[r.second])
	r.margin = uint32(min(int(float64(margin*40)), 11)) + 1
}

// lookFrom sees the rotation with component left left out, as cur has it.
func (r *rowState) switchLargest(left int) {
	t := &r.e.turn
	if r.cur[t.at] != r.base[t.at] {
		r.largestChanged = true
		r.setReference(left)
	}
}

// see counts shifts from the rotation of base, as it is with that component left out.
func (r *rowState) setReference(left int) {
	t := &r.e.turn
	is, goes := t.components(&r.current, left), t.components(&r.predicted, left)
	for k := range is {
		f := t.at + 1 + k
		r.start[f], r.was[f] = is[k], goes[k]-is[k]
	}
}
