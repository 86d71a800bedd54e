package meters

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/experiment/figures"
)

// rounding measures how much a quantising codec changes the values of the frames. The zero value is
// ready to use.
type rounding struct {
	sum, largest float64 // of the errors, each in the unit of its field
	field        int     // index of the field with the largest error
	n            int64   // values
}

// Add compares truth, the source's frame, with stored, the quantised frame that the sender stores.
func (m *rounding) Add(s *frame.Schema, truth, stored *frame.Frame) {
	for i, v := range truth.Table {
		field := i % len(s.Fields)
		e := 0.0 // the error of this value
		if w := stored.Table[i]; w != v {
			e = fieldDistance(&s.Fields[field], v, w)
		}
		if e > m.largest {
			m.largest, m.field = e, field
		}
		m.sum += e
		m.n++
	}
}

// fieldDistance returns the distance of two values of a field, in the field's unit. It returns the
// largest float64 if exactly one of two floats is finite.
func fieldDistance(f *frame.Field, a, b int32) float64 {
	if f.Kind == frame.Float32 {
		d := math.Abs(float64(math.Float32frombits(uint32(a))) - float64(math.Float32frombits(uint32(b))))
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return math.MaxFloat64
		}
		return d
	}
	return math.Abs(float64(int64(a)-int64(b))) * f.Step()
}

// Figures returns the measured errors; nil if nothing was quantised.
func (m *rounding) Figures(s *frame.Schema) *figures.Rounding {
	if m.n == 0 {
		return nil
	}
	return &figures.Rounding{Mean: m.sum / float64(m.n), Max: m.largest, Field: s.Fields[m.field].Name}
}
