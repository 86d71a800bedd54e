package engine

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/experiment/figures"
)

// roundingMeter sums it up.
type roundingMeter struct {
	sum, most float64
	field     int // of the largest
	n         int64
}

// add compares a frame with what its sender keeps of it.
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

// offBy is the distance of two values of a field, in its units.
func offBy(f *frame.Field, a, b int32) float64 {
	if f.Kind == frame.Float32 {
		d := math.Abs(float64(math.Float32frombits(uint32(a))) - float64(math.Float32frombits(uint32(b))))
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return math.MaxFloat64 // one of them is no number
		}
		return d
	}
	scale := f.Scale
	if scale == 0 {
		scale = 1
	}
	return math.Abs(float64(int64(a)-int64(b))) * scale
}

// rounding returns what was measured; nil if nothing was quantised.
func (m *roundingMeter) rounding(s *frame.Schema) *figures.Rounding {
	if m.n == 0 {
		return nil
	}
	return &figures.Rounding{Mean: m.sum / float64(m.n), Max: m.most, Field: s.Fields[m.field].Name}
}
