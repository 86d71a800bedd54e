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

func text(b *Box) []string {
	lines := make([]string, b.H)
	for y := range lines {
		var s strings.Builder
		for _, c := range b.Row(y) {
			s.WriteRune(c.Rune)
		}
		lines[y] = s.String()
	}
	return lines
}

// Signs lie on their own lines, apart from those of others, and move with their
// moment as the picture scrolls.
func TestSignsStayWithTheirMoment(t *testing.T) {
	spec := func(end int64) *Spec {
		return &Spec{End: end, Per: 1, Series: []Series{
			{Values: level(200, 10), Stroke: Dotted, Sign: 'A'}, {Values: level(200, 50), Stroke: Dotted, Sign: 'B'},
			{Values: level(200, 90)},
		}}
	}
	before, after := text(Draw(spec(200), 90, 12)), text(Draw(spec(205), 90, 12))
	found := 0
	for y := range before {
		if strings.ContainsRune(before[y], 'A') && strings.ContainsRune(before[y], 'B') {
			t.Errorf("both signs on row %d: %s", y, before[y])
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
		t.Errorf("%d signs in 84 columns of two lines", found)
	}
}

// A loose line far above the others lies along the top; one that is near is shown
// at its height, and one by itself too.
func TestLooseLines(t *testing.T) {
	for _, c := range []struct {
		loose, tight float64
		top          float64 // the axis reaches at least this, and not twice as far
	}{{300, 100, 300}, {17_000, 100, 100}, {17_000, math.NaN(), 17_000}} {
		spec := &Spec{End: 100, Per: 1, Series: []Series{{Values: level(100, c.tight)},
			{Values: level(100, c.loose), Loose: true, Sign: 'L', Stroke: Dotted}}}
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

// What is older than Since lies off the chart, and says so, if it is far above what
// is newer and above the guides; otherwise all of it is shown.
func TestOldSpikesSquashNothing(t *testing.T) {
	for _, c := range []struct {
		old, new, guide float64
		since           int64
		top             float64
	}{
		{17_000, 300, 256, 60, 300}, {17_000, 300, 256, 0, 17_000}, {900, 300, 256, 60, 900},
		{900, 20, 256, 60, 20},   // a guide that is far above the data itself does not help
		{900, 110, 256, 60, 900}, // far above what is newer, but not above the guide
		{900, 20, 0, 60, 20}, {300, 17_000, 256, 60, 17_000},
	} {
		values := append(level(60, c.old), level(40, c.new)...)
		spec := &Spec{End: 100, Per: 1, Since: c.since, Rules: []Rule{{Value: c.guide}}}
		lines, areas := *spec, *spec
		lines.Series = []Series{{Values: values}}
		areas.Areas = []Area{{Values: level(100, 0), Fill: '#'}, {Values: values, Fill: '='}}
		for name, s := range map[string]*Spec{"line": &lines, "areas": &areas} {
			if hi := reaches(s); hi < c.top || hi >= 2*c.top {
				t.Errorf("%s, %+v: the axis reaches %v", name, c, hi)
			}
			if off, first := c.top < c.old, strings.Count(text(Draw(s, 106, 10))[0], "▲"); (first > 50) != off {
				t.Errorf("%s, %+v: %d columns say that they lie off the chart", name, c, first)
			}
		}
	}
}

// reaches is how far up the axis of a picture goes.
func reaches(spec *Spec) float64 {
	p := plan(spec, newBox(106, 10, 0))
	reduced := [][]float64{}
	for _, s := range spec.Series {
		reduced = append(reduced, p.gather(&s))
	}
	_, hi := reach(p.bearing(reduced, heights(spec.layers(p.grid, p.cols)), p.aside()), spec.Rules, spec.Floor)
	return hi
}
