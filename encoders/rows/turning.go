package rows

import (
	"math"
	"wirelab/encoders/rotation"
)

// turns is how many fields a rotation takes.
const turns = parts + 1

// turning is what is known of the rotation of the row at hand, if its schema has one.
type turning struct {
	turned    bool                // it turned on the way to base
	is, goes  rotation.Quaternion // of base, and where that leads
	first     int                 // the component that will be the largest, and the next one
	second    int
	margin    uint32 // how clearly
	otherSide bool   // another component is left out now than in base
}

// fields returns the rotation's fields of a row.
func (t *rotationFields) fields(row []int32) (v [turns]int32) {
	if t.at >= 0 {
		copy(v[:], row[t.at:])
	}
	return v
}

// read returns the quaternion that such fields are.
func (r *rowState) read(fields []int32) rotation.Quaternion {
	t := &r.e.turn
	return t.Decode(fields[0]-r.e.cols[t.at].min, fields[1:turns])
}

// turnedFrom notes from where the row turned to base, and so where it will turn to.
func (r *rowState) turnedFrom(fields [turns]int32, times float64) {
	t := &r.e.turn
	if t.at < 0 {
		return
	}
	from := r.read(fields[:])
	r.is = r.read(r.base[t.at:])
	r.goes = onward(&from, &r.is, times)
	r.turned = true
	r.see(int(r.base[t.at] - r.e.cols[t.at].min))
}

// lookAhead gets the rotation ready for a row that changed.
func (r *rowState) lookAhead() {
	t := &r.e.turn
	r.otherSide, r.margin = false, 0
	if t.at < 0 {
		return
	}
	if !r.turned {
		r.is = r.read(r.base[t.at:])
		r.goes = r.is
	}
	r.first, r.second = r.goes.Largest()
	margin := math.Abs(r.goes[r.first]) - math.Abs(r.goes[r.second])
	r.margin = uint32(min(int(float64(margin*40)), 11)) + 1
}

// lookFrom sees the rotation with component left left out, as cur has it.
func (r *rowState) lookFrom(left int) {
	t := &r.e.turn
	if r.cur[t.at] != r.base[t.at] {
		r.otherSide = true
		r.see(left)
	}
}

// see counts shifts from the rotation of base, as it is with that component left out.
func (r *rowState) see(left int) {
	t := &r.e.turn
	is, goes := t.components(&r.is, left), t.components(&r.goes, left)
	for k := range is {
		f := t.at + 1 + k
		r.start[f], r.was[f] = is[k], goes[k]-is[k]
	}
}
