package rows

import (
	"math"

	"wirelab/encoders/rotation"
)

// rotationSize is how many fields a rotation takes.
const rotationSize = parts + 1

// rotationState is the rotation of the row being coded, if its schema has one.
type rotationState struct {
	rotated            bool                // it turned in its last step
	current, predicted rotation.Quaternion // in base, and the prediction
	first, second      int                 // the largest components of the prediction
	margin             uint32              // class of their difference
	largestChanged     bool                // the largest component differs from that in base
}

// fields returns the rotation's fields of a row.
func (t *rotationFields) fields(row []int32) (v [rotationSize]int32) {
	if t.at >= 0 {
		copy(v[:], row[t.at:])
	}
	return v
}

// read returns the quaternion of a rotation's fields.
func (r *rowState) read(fields []int32) rotation.Quaternion {
	t := &r.e.turn
	return t.Decode(fields[0]-r.e.cols[t.at].Min, fields[1:rotationSize])
}

// predictRotation extrapolates the rotation from that before the last step.
func (r *rowState) predictRotation(fields [rotationSize]int32, times float64) {
	t := &r.e.turn
	if t.at < 0 {
		return
	}
	from := r.read(fields[:])
	r.current = r.read(r.base[t.at:])
	r.predicted = extrapolate(&from, &r.current, times)
	r.rotated = true
	r.setReference(int(r.base[t.at] - r.e.cols[t.at].Min))
}

// prepareRotation prepares the rotation of a row that changed.
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

// switchLargest handles a change of the largest component to left.
func (r *rowState) switchLargest(left int) {
	t := &r.e.turn
	if r.cur[t.at] != r.base[t.at] {
		r.largestChanged = true
		r.setReference(left)
	}
}

// setReference sets the origin of shifts and the predicted shifts for the rotation, where left
// is the component that is left out.
func (r *rowState) setReference(left int) {
	t := &r.e.turn
	is, goes := t.components(&r.current, left), t.components(&r.predicted, left)
	for k := range is {
		f := t.at + 1 + k
		r.start[f], r.was[f] = is[k], goes[k]-is[k]
	}
}
