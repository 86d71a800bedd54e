package chart

import (
	"strings"
	"testing"
)

// TestCrosshair checks that the crosshair is at the column of its value, keeps the lines of data, and has its label on
// the side with room.
func TestCrosshair(t *testing.T) {
	const w, h, line, cross = 48, 8, 1, 2
	values := make([]float64, 400)
	for at := range int64(len(values)) {
		s := &Spec{End: int64(len(values)), Per: 10, Series: []Series{{Values: values, Style: line}}, Crosshair: &Crosshair{At: at, Label: "00:42.3", Style: cross}}
		box := Draw(s, w, h)
		want := w - 1 - int((399-at)/10)
		for y := range h - 1 { // the data are on the last row
			for x := range w {
				c := box.Row(y)[x]
				if isCross := x == want; (c.Rune == '│' && c.Style == cross) != isCross {
					t.Fatalf("value %d, cell %d,%d is %q, the crosshair is in column %d:\n%s", at, x, y, c.Rune, want, box)
				}
			}
		}
		if c := box.Row(h - 1)[min(want, w-1)]; want > gutter && c.Style != line {
			t.Fatalf("value %d: the crosshair hides the data:\n%s", at, box)
		}
		if want > gutter && !strings.Contains(box.String(), "00:42.3") {
			t.Fatalf("value %d: no label:\n%s", at, box)
		}
	}
}
