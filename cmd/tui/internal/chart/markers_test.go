package chart

import (
	"math"
	"strings"
	"testing"
)

func level(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func text(b *Box) []string { return strings.Split(b.String(), "\n") }

// TestMarkersScroll: markers are on their lines, in different columns from others, and scroll with the
// data.
func TestMarkersScroll(t *testing.T) {
	spec := func(end int64) *Spec {
		return &Spec{End: end, Per: 1, Series: []Series{
			{Values: level(200, 10), Stroke: Dotted, Marker: 'A'}, {Values: level(200, 50), Stroke: Dotted, Marker: 'B'},
			{Values: level(200, 90)},
		}}
	}
	before, after := text(Draw(spec(200), 90, 12)), text(Draw(spec(205), 90, 12))
	found := 0
	for y := range before {
		if strings.ContainsRune(before[y], 'A') && strings.ContainsRune(before[y], 'B') {
			t.Errorf("both markers on row %d: %s", y, before[y])
		}
		a, b := []rune(before[y]), []rune(after[y])
		for x := gutter + 6; x < len(a); x++ {
			if a[x] == 'A' || a[x] == 'B' {
				found++
				if b[x-5] != a[x] {
					t.Errorf("row %d: %c of column %d is not five further left", y, a[x], x)
				}
			}
		}
	}
	if found < 8 {
		t.Errorf("%d markers in 84 columns of two lines", found)
	}
}

// TestLooseLines: a loose line far above the others is at the upper edge; a near one, or one without
// others, is at its height.
func TestLooseLines(t *testing.T) {
	for _, c := range []struct {
		loose, tight float64
		top          float64 // the axis reaches at least this, and not twice as far
	}{{300, 100, 300}, {17_000, 100, 100}, {17_000, math.NaN(), 17_000}} {
		spec := &Spec{End: 100, Per: 1, Series: []Series{{Values: level(100, c.tight)},
			{Values: level(100, c.loose), Loose: true, Marker: 'L', Stroke: Dotted}}}
		if math.IsNaN(c.tight) {
			spec.Series = spec.Series[1:]
		}
		box := Draw(spec, 60, 10)
		if hi := reaches(spec); hi < c.top || hi >= 2*c.top {
			t.Errorf("%v beside %v: the axis reaches %v", c.loose, c.tight, hi)
		}
		if !strings.Contains(strings.Join(text(box), ""), "L") {
			t.Errorf("%v beside %v: no sign of it", c.loose, c.tight)
		}
	}
}

// reaches returns the highest label of a picture's axis.
func reaches(spec *Spec) float64 {
	p := newPlot(spec, newBox(106, 10, 0))
	_, hi := dataRange(p.scaledValues(gatherAll(p), nil, p.unscaledDots()), spec.Rules, spec.Floor)
	return hi
}

// gatherAll returns the dots of each series of a plot.
func gatherAll(p *plot) (dots [][]float64) {
	for i := range p.Series {
		dots = append(dots, p.gather(&p.Series[i]))
	}
	return dots
}
