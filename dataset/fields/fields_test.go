package fields

import (
	"math"
	"testing"

	"wirelab/dataset/frame"
)

// Three frames of one row, compared at a distance of one and two, against values computed by hand.
func TestChanges(t *testing.T) {
	s := &frame.Schema{Rows: 1, Fields: []frame.Field{
		{Name: "far", Kind: frame.Quantity, Min: -100, Max: 100, Scale: 0.5},
		{Name: "yaw", Kind: frame.Angle, Min: 0, Max: 359},
		{Name: "heat", Kind: frame.Float32}, {Name: "fire", Kind: frame.Flag, Max: 1}}}
	rows := [][]int32{{0, 350, 0, 0}, {10, 10, int32(math.Float32bits(1.5)), 0}, {10, 20, int32(math.Float32bits(1.5)), 1}}
	near, wide := New(s, 1), New(s, 2)
	for _, row := range rows {
		near.Add(&frame.Frame{Table: row})
		wide.Add(&frame.Frame{Table: row})
	}
	if near.Frames() != 2 || wide.Frames() != 1 {
		t.Fatalf("%d and %d frames compared, want 2 and 1", near.Frames(), wide.Frames())
	}
	for i, want := range []fieldStats{{Changed: 0.5, Mean: 5, Max: 5}, {Changed: 1, Mean: 15, Max: 20},
		{Changed: 0.5, Mean: 1.5, Max: 1.5}, {Changed: 0.5}} {
		got := near.Changes()[i]
		if got.Changed != want.Changed || got.Mean != want.Mean || got.Max != want.Max || got.Field != s.Fields[i].Name {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if got := wide.Changes()[1]; got.Max != 30 || got.Changed != 1 {
		t.Errorf("two apart: %+v, want a step of 30", got)
	}
}
