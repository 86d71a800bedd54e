package meters

import (
	"math"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/experiment/figures"
)

// Errors computed by hand: of floats by value, of integers by scale, and the maximum
// where a float is not finite.
func TestRounding(t *testing.T) {
	s := &frame.Schema{Rows: 1, Fields: []frame.Field{{Name: "heat", Kind: frame.Float32},
		{Name: "far", Kind: frame.Quantity, Min: -9, Max: 9, Scale: 0.5}}}
	bits := func(v float32) int32 { return int32(math.Float32bits(v)) }
	var m rounding
	if m.Figures(s) != nil {
		t.Error("nothing was sent, and something was rounded")
	}
	m.Add(s, &frame.Frame{Table: []int32{bits(1), 3}}, &frame.Frame{Table: []int32{bits(1.25), 3}})
	m.Add(s, &frame.Frame{Table: []int32{bits(2), 3}}, &frame.Frame{Table: []int32{bits(2), 2}})
	if got := *m.Figures(s); got != (figures.Rounding{Mean: 0.1875, Max: 0.5, Field: "far"}) {
		t.Errorf("%+v", got)
	}
	nan := bits(float32(math.NaN()))
	m.Add(s, &frame.Frame{Table: []int32{nan, 3}}, &frame.Frame{Table: []int32{nan, 3}})
	if got := m.Figures(s); got.Max != 0.5 {
		t.Errorf("what stays no number counts as %+v", got)
	}
	m.Add(s, &frame.Frame{Table: []int32{nan, 3}}, &frame.Frame{Table: []int32{bits(1), 3}})
	if got := m.Figures(s); got.Max != math.MaxFloat64 || got.Field != "heat" {
		t.Errorf("what was no number and became one counts as %+v", got)
	}
}
