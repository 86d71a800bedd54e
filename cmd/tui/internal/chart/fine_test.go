package chart

import (
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/guptarohit/asciigraph"
)

// lit returns the dots of a plot, dots[y][x] from the upper left corner.
func lit(b *Box, rows int) [][]bool {
	dots := make([][]bool, fineDotsDown*rows)
	for y := range dots {
		dots[y] = make([]bool, fineDotsAcross*plotWidth(b.W))
		for x := range dots[y] {
			mask := b.Row(y / fineDotsDown)[gutter+1+x/fineDotsAcross].Rune - 0x2800
			if mask >= 0 && mask < 0x100 {
				bit := [fineDotsDown][fineDotsAcross]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}[y%fineDotsDown][x%fineDotsAcross]
				dots[y][x] = mask&bit != 0
			}
		}
	}
	return dots
}

// TestFineIsAsciigraphFolded: a fine line has a dot exactly where asciigraph draws a character at twice
// the width and four times the height. Here asciigraph draws the whole plot with the bounds of its axis.
func TestFineIsAsciigraphFolded(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 60 {
		w, rows := gutter+3+rng.IntN(60), 2+rng.IntN(20)
		values := make([]float64, fineDotsAcross*plotWidth(w))
		for i := range values {
			if values[i] = 50 + 10*rng.NormFloat64(); rng.IntN(15) == 0 {
				values[i] = math.NaN()
			}
		}
		spec := &Spec{End: int64(len(values)), Per: fineDotsAcross, Fine: true, Floor: 100, Series: []Series{{Values: values, Style: styleA}}}
		b := Draw(spec, w, rows)
		top := fitBounds(0, 100, rows).hi
		if rows == 2 {
			top = 100
		}
		data := make([]float64, len(values)+1)
		for i := range data { // the middle of a row is its value: the lowest is zero
			data[i] = math.Round(1.5 + fineDotsDown*values[min(i, len(values)-1)]/top*float64(rows-1))
		}
		dots := lit(b, rows)
		picture := make([][]bool, fineDotsDown*rows)
		for y := range picture {
			picture[y] = make([]bool, len(values))
		}
		text := plotted(data, fineDotsDown*rows, asciigraph.DefaultCharSet)
		for y, line := range strings.Split(text, "\n") {
			for x, r := range []rune(line)[1:] {
				picture[y][x] = r != ' '
			}
		}
		for y := range picture {
			for x := range picture[y] {
				if picture[y][x] != dots[y][x] {
					t.Fatalf("%dx%d: dot (%d,%d) is %v:\n%s\nwant\n%s", w, rows, x, y, dots[y][x], b, text)
				}
			}
		}
	}
}

// plotted returns data, in rows from the bottom, as asciigraph plots them.
func plotted(data []float64, rows int, set asciigraph.CharSet) string {
	return asciigraph.Plot(data, asciigraph.Height(rows-1), asciigraph.LowerBound(0), asciigraph.UpperBound(float64(rows-1)),
		asciigraph.Offset(1), asciigraph.SeriesChars(set), asciigraph.YAxisValueFormatter(func(float64) string { return "" }))
}

// TestLevelPartsAreAsciigraphs: level parts, which are plotted without asciigraph, equal its output.
func TestLevelPartsAreAsciigraphs(t *testing.T) {
	for _, chars := range []Stroke{Solid, Dashed, Dotted} {
		set := chars.chars()
		for _, row := range []int{0, 3, 7} {
			got := map[[2]int]rune{}
			tracePart(level(9, float64(row)), 8, set, func(x, y int, r rune) { got[[2]int{x, y}] = r })
			want := map[[2]int]rune{}
			for y, line := range strings.Split(plotted(level(9, float64(row)), 8, set), "\n") {
				for x, r := range []rune(line) {
					if x > 0 && r != ' ' {
						want[[2]int{x - 1, y}] = r
					}
				}
			}
			if !maps.Equal(got, want) || len(got) != 8 {
				t.Errorf("stroke %v, row %d: %v, want %v", chars, row, got, want)
			}
		}
	}
}

// TestThreePercentShow: two series 3 % apart are two lines on a chart of twelve rows from 0; drawn with
// characters they coincide.
func TestThreePercentShow(t *testing.T) {
	for _, fine := range []bool{true, false} {
		spec := &Spec{End: 200, Per: 2, Fine: fine, Series: []Series{{Values: level(200, 206), Style: styleB}, {Values: level(200, 200), Style: styleA}}}
		b := Draw(spec, 60, 12)
		two := false
		if fine {
			count := 0
			for _, row := range lit(b, 12) {
				if row[40] {
					count++
				}
			}
			two = count == 2
		} else {
			two = len(inkAt(b, 30, styleA))+len(inkAt(b, 30, styleB)) == 2
		}
		if two != fine {
			t.Errorf("fine %v: two lines %v:\n%s", fine, two, b)
		}
	}
}

// TestFineStrokes: level strokes differ by their gaps without colours; a spike of one value has no gap.
func TestFineStrokes(t *testing.T) {
	counts := map[Stroke]int{}
	for _, k := range []Stroke{Solid, Dashed, Dotted} {
		values := level(400, 10)
		values[321] = 90
		b := Draw(&Spec{End: 400, Per: 2, Fine: true, Series: []Series{{Values: values, Stroke: k, Style: styleA}}}, 60, 12)
		dots := lit(b, 12)
		for x := range dots[0] {
			for y := range dots {
				if dots[y][x] {
					counts[k]++
				}
			}
		}
		if !strings.ContainsFunc(text(b)[2]+text(b)[3], func(r rune) bool { return r > 0x2800 && r < 0x2900 }) {
			t.Errorf("%v: the spike fell into a gap:\n%s", k, b)
		}
	}
	if !(counts[Solid] > counts[Dashed]+15 && counts[Dashed] > counts[Dotted]+10) {
		t.Errorf("dots of solid, dashed and dotted: %v", counts)
	}
}

// TestSpanFillsThePlot: a plot shows the whole span, and at most half of its width is empty.
func TestSpanFillsThePlot(t *testing.T) {
	for _, fine := range []bool{true, false} {
		for n := 20; n < 700; n += 7 {
			for _, w := range []int{30, 76, 150} {
				values := level(n, 5)
				values[0] = 9
				b := Draw(&Spec{End: int64(n), Span: n, Fine: fine, Step: 100 * time.Millisecond, Floor: 10,
					Series: []Series{{Values: values, Reduce: Max, Style: styleA}}}, w, 12)
				first := 0
				for first < w && len(inkAt(b, first, styleA)) == 0 {
					first++
				}
				if rows := inkAt(b, first, styleA); len(rows) == 0 || rows[0] > 2 || (first-gutter-1) > plotWidth(w)/2+1 {
					t.Fatalf("fine %v: %d values on %d columns begin at %d, row %v:\n%s", fine, n, w, first, rows, b)
				}
			}
		}
	}
}

// TestSpanIsWhatIsShown: a plot shows exactly the requested span at all usual widths: a spike of that age
// is visible, a spike one column older is not.
func TestSpanIsWhatIsShown(t *testing.T) {
	for _, kind := range []string{"fine", "line", "area"} {
		for _, span := range []int{50, 100, 150, 200, 300, 450, 600, 1200} {
			for _, w := range []int{78, 98, 103, 158, 198} { // of whole screens, and of the charts of page 1
				for _, end := range []int64{3000, 3007} {
					shows := func(age int) bool {
						values, high := level(2900, 1), 3
						values[len(values)-1-age] = 90
						s := &Spec{End: end, Span: span, Fine: kind == "fine", Floor: 90}
						if kind == "area" {
							values, high = make([]float64, len(values)), 8 // a column is a mean: there is little of it
							values[len(values)-1-age] = 90
							s.Areas, s.Floor = []Area{{Values: values, Fill: '█', Style: styleA}}, 1
						} else {
							s.Series = []Series{{Values: values, Reduce: Max, Style: styleA}}
						}
						b := Draw(s, w, 8)
						for x := gutter + 1; x < w; x++ {
							if rows := inkAt(b, x, styleA); len(rows) > 0 && rows[0] <= high {
								return true
							}
						}
						return false
					}
					column := (span + plotWidth(w) - 1) / plotWidth(w)
					if !shows(span-1) || shows(span+2*column+1) {
						t.Fatalf("%s: %d values on %d columns, end %d: the oldest in sight %v, an older one %v",
							kind, span, w, end, shows(span-1), shows(span+2*column+1))
					}
				}
			}
		}
	}
}

// TestAsideSetsNoScale: values in UnscaledIntervals do not affect the scale; above the chart they have their marker.
func TestAsideSetsNoScale(t *testing.T) {
	values := level(100, 50)
	for i := 60; i < 64; i++ {
		values[i] = 900
	}
	for _, fine := range []bool{true, false} {
		spec := &Spec{End: 100, Per: 2, Fine: fine, UnscaledRune: '@', Series: []Series{{Values: values, Style: styleA}}}
		if top := text(Draw(spec, 56, 10)); !strings.Contains(strings.Join(top, ""), "800┤") {
			t.Errorf("fine %v: without UnscaledIntervals the value does not set the scale:\n%s", fine, strings.Join(top, "\n"))
		}
		spec.UnscaledIntervals = []Interval{{60, 64}}
		rows := text(Draw(spec, 56, 10))
		if n := strings.Count(rows[0], "@"); n != 2 || strings.Contains(strings.Join(rows, ""), "00") {
			t.Errorf("fine %v: %d signs:\n%s", fine, n, strings.Join(rows, "\n"))
		}
	}
}

// TestRulesAreNamed: a rule far above the data is named at the upper edge and does not affect the scale; a near rule is a
// line with its name.
func TestRulesAreNamed(t *testing.T) {
	draw := func(data float64) []string {
		return text(Draw(&Spec{End: 100, Per: 2, Fine: true, Series: []Series{{Values: level(100, data)}},
			Rules: []Rule{{Value: 256, Name: "budget 256"}}}, 56, 10))
	}
	if rows := draw(5); !strings.Contains(rows[0], " budget 256 ↑ ") || strings.Contains(strings.Join(rows, ""), "┈") {
		t.Errorf("5 of 256:\n%s", strings.Join(rows, "\n"))
	}
	if rows := draw(200); strings.Contains(rows[0], "budget") || !strings.Contains(strings.Join(rows, ""), "│  budget 256 ┈") {
		t.Errorf("200 of 256:\n%s", strings.Join(rows, "\n"))
	}
}

// TestAxisFits: with Fit the data use most of the rows, labels differ and are exact, and the lower end is marked if
// the axis does not include 0.
func TestAxisFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 8))
	for range 3000 {
		rows := 3 + rng.IntN(40)
		lo := math.Pow(10, rng.Float64()*7-2)
		hi := lo * (1 + 0.001 + rng.Float64())
		b := fitBounds(lo, hi, rows)
		if b.lo > lo*(1+1e-9) || b.hi < hi*(1-1e-9) {
			t.Fatalf("%d rows: [%v, %v] does not hold [%v, %v]", rows, b.lo, b.hi, lo, hi)
		}
		seen := map[string]bool{}
		for y := range rows {
			if at := b.fromZero(y, rows); at%b.rowsPerLabel == 0 {
				s := formatLabel(float64(at/b.rowsPerLabel)*b.step, b.step, b.hi)
				if seen[s] || len(s) > gutter {
					t.Fatalf("%d rows: [%v, %v] in steps of %v: label %q again", rows, lo, hi, b.step, s)
				}
				seen[s] = true
			}
		}
	}
	spec := &Spec{End: 100, Per: 2, Fit: true, Series: []Series{{Values: append(level(50, 200), level(50, 206)...), Style: styleA}}}
	b := Draw(spec, 56, 10)
	before, after := inkAt(b, gutter+10, styleA), inkAt(b, gutter+40, styleA)
	if !strings.Contains(b.String(), "≈") || len(before) != 1 || len(after) != 1 || before[0]-after[0] < 4 {
		t.Errorf("3 %% are rows %v and %v:\n%s", before, after, b)
	}
	spec.Fit = false
	if b := Draw(spec, 56, 10); strings.Contains(b.String(), "≈") {
		t.Errorf("the axis from 0 is marked:\n%s", b)
	}
}

// TestAxisIncludesValues: in every style and height each finite value is within the axis, up to rounding, or is above
// it and belongs to a loose line, which Draw marks.
func TestAxisIncludesValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 40))
	for n := range 20000 {
		rows := 2 + n%40
		spec := &Spec{End: 40, Per: 1, Fine: n%3 == 0, Fit: n%5 != 0}
		around := (rng.Float64() - 0.3) * math.Pow(10, rng.Float64()*8-4)
		width := math.Pow(10, rng.Float64()*5-5) // relative: the ranges from 0.00001 to 1
		hasSpikes := n%7 == 0
		for range 1 + rng.IntN(3) {
			line := Series{Reduce: Max, Loose: hasSpikes && rng.IntN(2) == 0}
			for range 40 {
				line.Values = append(line.Values, around*(1+width*rng.NormFloat64()))
			}
			if hasSpikes {
				line.Values[rng.IntN(20)] = around * rng.Float64() * 100
			}
			spec.Series = append(spec.Series, line)
		}
		p := newPlot(spec, newBox(40+gutter+1, rows, 0))
		dots := gatherAll(p)
		b := p.chooseBounds(p.scaledValues(dots, nil, nil))
		tolerance := max((b.hi-b.lo)*1e-9, minHeight)
		for i, line := range spec.Series {
			for _, v := range dots[i] {
				if v < b.lo-tolerance || v > b.hi+tolerance && !line.Loose {
					t.Fatalf("%d rows, %+v: %v is not in [%v, %v]", rows, spec, v, b.lo, b.hi)
				}
			}
		}
	}
}

// TestAxisLabels: an axis of zeros has a label at either end only, and all labels have one unit.
func TestAxisLabels(t *testing.T) {
	for _, c := range []struct {
		value, floor float64
		rows         int
		want         string
	}{
		{0, 4, 30, "4 0"}, {0, 0, 12, "1 0"}, {0, 10, 2, "10 0"}, {math.NaN(), 10, 30, "10 0"},
		{14_000, 10, 8, "15k 10k 5k 0"},
	} {
		var labels []string
		for _, line := range text(Draw(&Spec{End: 50, Per: 1, Floor: c.floor, Series: []Series{{Values: level(50, c.value)}}}, 56, c.rows)) {
			if label, _, ok := strings.Cut(line, "┤"); ok {
				labels = append(labels, strings.TrimSpace(label))
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%v in %d rows: labels %s, want %s", c.value, c.rows, got, c.want)
		}
	}
}
