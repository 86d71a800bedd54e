package chart

import (
	"math"
	"strings"
	"testing"
	"time"
)

func stackOf(per int, areas ...Area) *Spec {
	return &Spec{End: int64(len(areas[0].Values)), Per: per, Step: 100 * time.Millisecond, Areas: areas}
}

// TestStackIsInProportion: every layer of a stack gets its share of the rows, in order.
func TestStackIsInProportion(t *testing.T) {
	flat := func(v float64) []float64 { return level(40, v) }
	s := stackOf(1, Area{Values: flat(20), Fill: 'a'}, Area{Values: flat(0), Fill: '0'},
		Area{Values: flat(math.NaN()), Fill: 'n'}, Area{Values: flat(50), Fill: 'b'}, Area{Values: flat(30), Fill: 'c'})
	const rows = 41
	b := Draw(s, 40+gutter+1, rows)
	col := ""
	for y := rows - 1; y >= 0; y-- {
		col += string(b.Row(y)[gutter+20].Rune)
	}
	top := len(strings.TrimRight(col, " "))
	n := func(r string) float64 { return float64(strings.Count(col, r)) / float64(top) }
	if math.Abs(n("a")-0.2) > 0.03 || math.Abs(n("b")-0.5) > 0.03 || math.Abs(n("c")-0.3) > 0.03 || n("0") != 0 || n("n") != 0 {
		t.Errorf("the column is %q", col)
	}
	if strings.Trim(col, " ") != strings.Repeat("a", strings.Count(col, "a"))+strings.Repeat("b", strings.Count(col, "b"))+
		strings.Repeat("c", strings.Count(col, "c")) {
		t.Errorf("out of order: %q", col)
	}
	if got := s.Height(40 + gutter + 1); got != 100 {
		t.Errorf("the stack is %g high", got)
	}
}

func TestStackNamesItsAreas(t *testing.T) {
	wide := Area{Values: level(18, 9), Fill: '█', Name: "thick"}
	thin := Area{Values: level(12, 0.1), Fill: '█', Name: "thin"}
	got := Draw(stackOf(1, wide, thin), 18+gutter+1, 10).String()
	if !strings.Contains(got, " thick ") || strings.Contains(got, "thin") {
		t.Errorf("the picture is\n%s", got)
	}
}

// TestHostileStack: for any data the box has the requested size and no rune wider than a cell.
func TestHostileStack(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, values := range [][]float64{nil, {nan}, {inf, -inf, nan, 1e308}, {-5, -1e300}, {1e18, 1e18, 1e-18}, make([]float64, 5000)} {
		for _, size := range [][2]int{{0, 0}, {1, 1}, {7, 2}, {8, 3}, {80, 24}, {-3, 9}} {
			s := stackOf(3, Area{Values: values, Fill: '█', Name: "日本\x1b"},
				Area{Values: values, Weights: []float64{nan, -1, 0}, Fill: '#'})
			s.End = 1 << 62
			s.Time, s.Labels = true, true
			b := Draw(s, size[0], size[1])
			checkBox(t, b, max(size[0], 0), max(size[1], 0))
			for _, c := range b.Cells {
				if c.Rune < ' ' || c.Rune > 0x2fff {
					t.Fatalf("%v: rune %q", size, c.Rune)
				}
			}
		}
	}
}

// TestBoundariesHaveEighths: the height of the lowest layer, read from the runes of a column, is the value
// within a sixteenth of a row, and the upper layer is the background of the boundary.
func TestBoundariesHaveEighths(t *testing.T) {
	const rows, top = 11, 10 // one row is one unit; the axis is at the centre of the lowest row
	for v := 0.6; v < 9.4; v += 0.07 {
		s := stackOf(1, Area{Values: level(3, v), Fill: '█', Style: styleA}, Area{Values: level(3, top-v), Fill: '█', Style: styleB})
		b := Draw(s, gutter+4, rows)
		got := -0.5
		for y := range rows {
			c := b.Row(y)[gutter+2]
			if c.Style != styleA {
				continue
			}
			eighths := strings.IndexRune(" ▁▂▃▄▅▆▇█", c.Rune)
			got += float64(len([]rune(" ▁▂▃▄▅▆▇█"[:eighths]))) / 8
			if (c.Rune != '█') != (c.Under == styleB) {
				t.Errorf("%.2f: %q has background %d", v, c.Rune, c.Under)
			}
		}
		if math.Abs(got-v) > 1./16+1e-9 {
			t.Errorf("the boundary of %.3f is drawn at %.3f:\n%s", v, got, b)
		}
	}
}
