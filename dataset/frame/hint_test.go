package frame_test

import (
	"testing"

	"wirelab/dataset/frame"
)

func TestPartOf(t *testing.T) {
	s := &frame.Schema{Item: "thing", Rows: 9, Fields: make([]frame.Field, 7)}
	if p := s.PartForRow(8); p.Size != 7 || p.Rows != 9 || p.Name != "thing" {
		t.Errorf("without parts: %+v", p)
	}
	s.Parts = []frame.Part{{"entity", 0, 8, 0, 5}, {"player", 8, 1, 5, 2}}
	for row, want := range []string{7: "entity", 8: "player", 9: "thing"} {
		if p := s.PartForRow(row); want != "" && p.Name != want {
			t.Errorf("row %d is of %+v, expected %s", row, p, want)
		}
	}
}
