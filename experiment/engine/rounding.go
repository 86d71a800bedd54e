package engine

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/experiment/figures"
)

// roundingMeter measures how much a quantising codec changes the values that it
// sends.
type roundingMeter struct {
	sum, most float64
	field     int // field of the largest error
	n         int64
}

// add compares the source's frame with the quantised one that the sender stores.
func (m *roundingMeter) add(s *frame.Schema, truth, kept *frame.Frame) {
	for i, v := range truth.Table {
		field := i % len(s.Fields)
		off := 0.0
		if w := kept.Table[i]; w != v {
			off = offBy(&s.Fields[field], v, w)
		}
		if off > m.most {
			m.most, m.field = off, field
		}
		m.sum += off
		m.n++
	}
}

// offBy returns the distance of two values of a field, in the field's unit.
func offBy(f *frame.Field, a, b int32) float64 {
	if f.Kind == frame.Float32 {
		d := math.Abs(float64(math.Float32frombits(uint32(a))) - float64(math.Float32frombits(uint32(b))))
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return math.MaxFloat64 // one of them is not finite
		}
		return d
	}
	return math.Abs(float64(int64(a)-int64(b))) * f.Step()
}

// rounding returns the measured errors; nil if nothing was quantised.
func (m *roundingMeter) rounding(s *frame.Schema) *figures.Rounding {
	if m.n == 0 {
		return nil
	}
	return &figures.Rounding{Mean: m.sum / float64(m.n), Max: m.most, Field: s.Fields[m.field].Name}
}
