package chart

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
	"wirelab/internal/golden"
)

const (
	styleBlank Style = iota
	styleAxis
	styleLabel
	styleTick
	styleMark
	styleRule
	styleA
	styleB
)

// bandwidth is a chart as the dashboard draws it: two lines, a budget, two changes, a spike and a gap.
func bandwidth() *Spec {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 700
	payload, wire := make([]float64, n), make([]float64, n)
	for i := range payload {
		v := 240 + 15*math.Sin(float64(i)/20) + 20*rng.Float64()
		if i >= 400 {
			v -= 90
		}
		if i == 200 {
			v = 480
		}
		if i >= 300 && i < 320 {
			v = math.NaN()
		}
		payload[i], wire[i] = v, v+25
	}
	return &Spec{
		End: 1400, Per: 10, Step: 100 * time.Millisecond,
		Series: []Series{{Values: wire, Stroke: Dashed, Style: styleB}, {Values: payload, Reduce: Max, Style: styleA}},
		Rules:  []Rule{{Value: 256, Style: styleRule, Name: "budget"}},
		Marks:  []Mark{{At: 1100, Label: "encoder rotor", Style: styleMark}, {At: 1350, Label: "loss 5 %", Style: styleMark}},
		Time:   true, Labels: true,
		Blank: styleBlank, Axis: styleAxis, Label: styleLabel, Tick: styleTick,
	}
}

func TestGolden(t *testing.T) {
	fine := bandwidth()
	fine.Fine = true
	for _, c := range []struct {
		name string
		spec *Spec
		w, h int
	}{
		{"wide", bandwidth(), 76, 14},
		{"fine", fine, 76, 14},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden.Compare(t, filepath.Join("testdata", c.name+".golden"), Draw(c.spec, c.w, c.h).String()+"\n")
		})
	}
}

// inkAt returns the rows of a column that have the style of a series.
func inkAt(b *Box, x int, ink Style) (rows []int) {
	for y := range b.H {
		if b.Row(y)[x].Style == ink {
			rows = append(rows, y)
		}
	}
	return rows
}

func TestLineIsAtTheRowOfItsValue(t *testing.T) {
	// A flat line at every level of a plot of 11 rows: two rows a label, so one
	// row is one unit.
	for v := 0; v <= 10; v++ {
		values := []float64{float64(v), float64(v), float64(v)}
		b := Draw(&Spec{End: 3, Series: []Series{{Values: values, Style: styleA}}, Floor: 10}, plotWidth(20)+12, 11)
		got := inkAt(b, b.W-1, styleA)
		if len(got) != 1 || got[0] != 10-v {
			t.Errorf("value %d of 10 lies on rows %v, want [%d]", v, got, 10-v)
		}
	}
}

func TestSpikeSurvives(t *testing.T) {
	values := make([]float64, 1000)
	values[503] = 60
	for _, w := range []int{12, 30, 80, 200} {
		spec := &Spec{End: 1000, Per: (1000 + plotWidth(w) - 1) / plotWidth(w), Series: []Series{{Values: values, Reduce: Max, Style: styleA}}}
		b := Draw(spec, w, 8)
		row := slices.IndexFunc(text(b), func(line string) bool { return strings.HasPrefix(line, "   60┤") })
		if row < 0 || !slices.ContainsFunc(b.Row(row), func(c cell) bool { return c.Style == styleA }) {
			t.Errorf("width %d: the spike does not reach 60:\n%s", w, b)
		}
	}
}

func TestGapIsEmpty(t *testing.T) {
	values := []float64{5, 5, 5, math.NaN(), math.Inf(1), math.NaN(), 5, 5, 5}
	b := Draw(&Spec{End: 9, Series: []Series{{Values: values, Style: styleA}}}, 15, 5)
	if rows := inkAt(b, 6+4, styleA); len(rows) != 0 {
		t.Errorf("a column without a value is drawn on rows %v:\n%s", rows, b)
	}
	if rows := inkAt(b, 6+7, styleA); len(rows) != 1 {
		t.Errorf("a column beside the gap is drawn on rows %v:\n%s", rows, b)
	}
}

// TestPicturesScroll: after more values, a picture has the same cells further left, with gaps of strokes, in columns of
// some values and of a span.
func TestPicturesScroll(t *testing.T) {
	all := make([]float64, 900)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range all {
		all[i] = rng.Float64() * 100
	}
	for name, spec := range map[string]Spec{"line": {Per: 5}, "fine": {Per: 6, Fine: true}, "span of 50": {Span: 50, Fine: true},
		"span of 130": {Span: 130, Fine: true}, "span of 300": {Span: 300, Fine: true}} {
		draw := func(end int) (*Box, int64) {
			s := spec
			s.End, s.Floor = int64(end), 100
			s.Series = []Series{{Values: all[:end], Style: styleA}}
			if s.Fine {
				s.Series = []Series{{Values: all[:end], Style: styleA, Stroke: Dotted}, {Values: level(end, 60), Style: styleB, Stroke: Dashed}}
			}
			b := Draw(&s, 40, 9)
			p := newPlot(&s, b)
			return b, p.lastDot(s.End-1) / int64(p.dotsPerColumn)
		}
		a, was := draw(700)
		for end := 701; end < 760; end++ {
			b, is := draw(end)
			by := int(is - was)
			for x := plotLeft + by; x < 38; x++ {
				for y := range 9 {
					if a.Row(y)[x] != b.Row(y)[x-by] {
						t.Fatalf("%s, end %d: cell (%d,%d) did not move %d left:\n%s\n\n%s", name, end, x, y, by, a, b)
					}
				}
			}
		}
	}
}

func TestMarks(t *testing.T) {
	spec := &Spec{End: 100, Step: time.Second, Time: true, Labels: true, Marks: []Mark{
		{At: 60, Label: "older", Style: styleMark}, {At: 62, Label: "newer", Style: styleMark}, {At: 99, Label: "last", Style: styleMark},
		{At: -4}, {At: 5}, {At: 20, Label: "\x1b[31m日\u0301"},
	}}
	b := Draw(spec, 106, 8)
	rows := text(b)
	for _, want := range []string{"▲ newer", "last ▲"} {
		if !strings.Contains(rows[7], want) {
			t.Errorf("labels %q lack %q", rows[7], want)
		}
	}
	if n := strings.Count(rows[7], "▲"); n != 5 {
		t.Errorf("%d carets in %q, want 5: the mark at -4 is not visible", n, rows[7])
	}
	if strings.ContainsAny(rows[7], "\x1b日") {
		t.Errorf("a label's control codes reached the screen: %q", rows[7])
	}
	if !strings.HasSuffix(rows[6], "now") {
		t.Errorf("time axis %q does not end at now", rows[6])
	}
	if got := []rune(rows[1])[6+62]; got != '┊' {
		t.Errorf("no line over the mark: %q", got)
	}
}

func TestNewestMarkIsNamed(t *testing.T) {
	spec := &Spec{End: 100, Labels: true, Time: true}
	for at := int64(60); at < 100; at++ {
		spec.Marks = append(spec.Marks, Mark{At: at, Label: "old", Style: styleMark})
	}
	spec.Marks[len(spec.Marks)-1].Label = "loss 5%"
	rows := text(Draw(spec, 106, 8))
	if !strings.HasSuffix(rows[7], "loss 5% ▲") {
		t.Errorf("other marks hide the label of the newest: %q", rows[7])
	}
}

func TestExactBox(t *testing.T) {
	for w := range 60 {
		for h := range 20 {
			checkBox(t, Draw(bandwidth(), w, h), w, h)
		}
	}
	checkBox(t, Draw(bandwidth(), -1, -5), 0, 0)
}

func checkBox(t *testing.T, b *Box, w, h int) {
	t.Helper()
	if b.W != w || b.H != h || len(b.Cells) != w*h {
		t.Fatalf("box of %dx%d has %d cells, want %dx%d", b.W, b.H, len(b.Cells), w, h)
	}
	if h == 0 {
		return
	}
	for i, line := range text(b) {
		if n := utf8.RuneCountInString(line); n != w || i >= h {
			t.Fatalf("line %d has %d characters in a box of %dx%d", i, n, w, h)
		}
	}
}

func FuzzDraw(f *testing.F) {
	f.Add(uint64(1), 40, 10, 3, int64(100), int64(time.Second), "loss 5%")
	f.Add(uint64(2), 7, 2, 0, int64(-1), int64(-1), "\xff\x00")
	f.Add(uint64(3), 200, 60, 1<<30, int64(1)<<62, int64(1)<<62, "日本")
	f.Fuzz(func(t *testing.T, seed uint64, w, h, per int, end, step int64, label string) {
		w, h = w%300, h%80
		rng := rand.New(rand.NewPCG(seed, 1))
		spec := &Spec{End: end, Per: per, Step: time.Duration(step), Floor: wild(rng), Time: rng.IntN(2) == 0,
			Labels: rng.IntN(2) == 0, Fine: rng.IntN(2) == 0, Fit: rng.IntN(2) == 0,
			Span: rng.IntN(2) * rng.IntN(2000)}
		for range rng.IntN(4) {
			line := Series{Reduce: Reducer(rng.IntN(3)), Stroke: Stroke(rng.IntN(4)), Style: styleA}
			for range rng.IntN(300) {
				line.Values = append(line.Values, wild(rng))
				if rng.IntN(2) == 0 {
					line.Weights = append(line.Weights, wild(rng))
				}
			}
			spec.Series = append(spec.Series, line)
			spec.Rules = append(spec.Rules, Rule{Value: wild(rng), Style: styleRule, Name: label})
			spec.UnscaledIntervals = append(spec.UnscaledIntervals, Interval{end - int64(rng.IntN(200)), end - int64(rng.IntN(200))})
			spec.Marks = append(spec.Marks, Mark{At: end - int64(rng.IntN(200)), Label: label})
		}
		checkBox(t, Draw(spec, w, h), max(w, 0), max(h, 0))
		if s := Spark([]float64{wild(rng), wild(rng), wild(rng)}, w, wild(rng)); utf8.RuneCountInString(s) != max(w, 0) {
			t.Fatalf("spark of width %d is %q", w, s)
		}
	})
}

// wild returns numbers that often break charts.
func wild(rng *rand.Rand) float64 {
	switch rng.IntN(8) {
	case 0:
		return 0
	case 1:
		return math.NaN()
	case 2:
		return math.Inf(rng.IntN(2)*2 - 1)
	case 3:
		return math.Float64frombits(rng.Uint64())
	case 4:
		return -rng.Float64() * 1000
	}
	return rng.Float64() * 1000
}

func BenchmarkDraw(b *testing.B) {
	for _, style := range []string{"line", "fine"} {
		b.Run(style, func(b *testing.B) {
			spec := bandwidth()
			spec.Fine = style == "fine"
			b.ReportAllocs()
			for b.Loop() {
				Draw(spec, 104, 12)
			}
		})
	}
}

// TestLabelsStandApart: the label of the newest mark is separated from others, and no mark has a label if
// its caret is covered.
func TestLabelsStandApart(t *testing.T) {
	for gap := int64(1); gap < 14; gap++ {
		spec := &Spec{End: 100, Per: 1, Time: true, Labels: true, Series: []Series{{Values: level(100, 1)}},
			Marks: []Mark{{At: 97 - gap, Label: "mark 1", Rune: '@'}, {At: 97, Label: "loss 20%"}}}
		rows := text(Draw(spec, 60, 10))
		row := rows[len(rows)-1]
		if !strings.Contains(row, " loss 20% ▲") {
			t.Errorf("%d apart: %q", gap, row)
		}
		if strings.Contains(row, "mark 1") != strings.Contains(row, "@") {
			t.Errorf("%d apart: a label without its mark, or the other way round: %q", gap, row)
		}
	}
}

// TestSharesEndWithTheWhole: the axis of shares ends with the whole, at any height.
func TestSharesEndWithTheWhole(t *testing.T) {
	for h := 2; h < 60; h++ {
		spec := &Spec{End: 50, Per: 1, Whole: 100, Areas: []Area{{Values: level(50, 40), Fill: '='}, {Values: level(50, 60), Fill: '#'}}}
		labels := 0
		for _, row := range text(Draw(spec, 40, h)) {
			label := strings.TrimSpace(row[:gutter])
			if label == "" {
				continue
			}
			if labels++; labels == 1 && label != "100" {
				t.Errorf("%d rows: the axis ends with %q", h, label)
			}
			if !slices.Contains([]string{"0", "25", "50", "75", "100"}, label) {
				t.Errorf("%d rows: a label %q", h, label)
			}
		}
		if labels < 2 {
			t.Errorf("%d rows: %d labels", h, labels)
		}
	}
}

// A loose line above the chart continues at its upper edge with marks, or is not drawn.
func TestClipAbove(t *testing.T) {
	for _, clip := range []bool{false, true} {
		data, limit := make([]float64, 60), make([]float64, 60)
		for i := range data {
			data[i], limit[i] = 100, 3000
			if i >= 40 {
				limit[i] = 50
			}
		}
		b := Draw(&Spec{End: 60, Per: 1, Series: []Series{{Values: limit, Loose: true, ClipAbove: clip, Stroke: Dashed}, {Values: data}}}, gutter+61, 10)
		marks, dashes := 0, 0
		for y := range b.H {
			for _, c := range b.Row(y) {
				switch c.Rune {
				case '▲':
					marks++
				case '╌':
					dashes++
				}
			}
		}
		if marks == 0 != clip || dashes < 15 || clip && dashes > 21 {
			t.Errorf("clip %v: %d marks, %d characters of the line", clip, marks, dashes)
		}
	}
}

// TestFiniteValuesLieInTheAxis: every finite value of random series lies in the axis, also if intervals that do not affect
// the scale cover most of the plot. If they cover little, the values outside them do.
func TestFiniteValuesLieInTheAxis(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		values := make([]float64, 1+rng.IntN(400))
		scale := math.Pow(10, 6*rng.Float64()-2)
		for i := range values {
			values[i] = scale * rng.ExpFloat64()
			if rng.IntN(9) == 0 {
				values[i] = math.NaN()
			}
		}
		s := &Spec{End: int64(len(values)), Span: 100, Floor: 10, Window: 20, Fine: rng.IntN(2) == 0,
			Series: []Series{{Values: values}}}
		distance := int64(1 + rng.IntN(90)) // between two intervals
		for at := int64(0); at < s.End; at += distance {
			s.UnscaledIntervals = append(s.UnscaledIntervals, Interval{at, at + 1})
		}
		p := newPlot(s, newBox(66, 9, 0))
		dots, unscaled := p.gather(&s.Series[0]), p.unscaledDots()
		p.bounds = p.chooseBounds(p.scaledValues([][]float64{dots}, nil, unscaled))
		for i, v := range dots {
			isCounted := distance < 30 || unscaled == nil || !unscaled[i]
			if isFinite(v) && isCounted && (v > p.bounds.hi || v < p.bounds.lo) {
				t.Fatalf("%d values, an interval each %d: %g is outside %g to %g", len(values), distance, v, p.bounds.lo, p.bounds.hi)
			}
		}
	}
}
