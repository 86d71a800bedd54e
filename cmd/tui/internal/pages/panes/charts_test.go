package panes

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
)

// TestFailureRatesAgree: the line ends at the rate in the legend, the area under the values is the total, and one
// failure in a sample of 100 ms is not drawn as ten per second.
func TestFailureRatesAgree(t *testing.T) {
	snap := labtest.NewLab().Snap
	lane := &snap.Lanes[0]
	failed := 0
	for i := range lane.Samples {
		s := &lane.Samples[i]
		s.Failures.NoBaseline, s.Failures.Corrupt = 0, 0
		if i%3 == 0 && i < len(lane.Samples)-25 || i == len(lane.Samples)-5 { // 3.33 a second, then one
			s.Failures.Corrupt = 1
			failed++
		}
	}
	lane.Totals.Failures.NoBaseline, lane.Totals.Failures.Corrupt = 0, int64(failed)
	p := &Charts{Selected: -1}
	p.Observe(labtest.NewView(snap))
	th := labtest.Theme(false)
	for p.Span() != 5*time.Minute { // all samples are visible
		p.NextSpan()
	}
	failures := p.charts(th)[FailureChart]
	spec := p.samples().Spec(&failures, th, 100)
	at := slices.IndexFunc(spec.Series, func(s chart.Series) bool { return s.Style == chart.Style(look.Corrupt) })
	values, area := spec.Series[at].Values, 0.0
	for _, v := range values {
		area += v * meters.SamplePeriod.Seconds()
	}
	if want := float64(failed); math.Abs(area-want) > 1e-6 {
		t.Errorf("the area under the line is %v failures, want %v", area, want)
	}
	if text := legendText(p.samples(), &failures, th, 200); !strings.Contains(text, "corrupt   0.5") {
		t.Errorf("one failure in two seconds: the legend is %q", text)
	}
	box := chart.Draw(&chart.Spec{End: int64(len(values)), Per: 7, Window: meanWindow, Series: spec.Series, Floor: spec.Floor}, 100, 8).String()
	if !strings.Contains(box, "4┤") || strings.Contains(box, "10┤") {
		t.Errorf("the axis of 3.3 a second:\n%s", box)
	}
}

// legendText returns the text of a legend in a pane of w columns.
func legendText[S any](t *TimeCharts[S], k *TimeChart[S], th *look.Theme, w int) string {
	_, legend, _ := t.heading(k, th, w, false)
	return look.SpansText(legend)
}

// TestLimitsOfTheChart: budget_line and the budget that the sender keeps have two lines, each with its name. They do not
// squash data that lie far below them.
func TestLimitsOfTheChart(t *testing.T) {
	for _, snap := range []*engine.Snapshot{labtest.NewLab().Snap, labtest.FourShadows()} {
		for i := range snap.Lanes {
			for k := range snap.Lanes[i].Samples {
				snap.Lanes[i].Samples[k].PayloadBits, snap.Lanes[i].Samples[k].WireBits = 500, 600 // 5 kbps
			}
		}
		p := &Charts{Selected: -1}
		for _, c := range []struct{ line, budget float64 }{{256, 0}, {64, 7}, {8, 7}, {0, 100}} {
			snap.Config.BudgetKbps = c.line
			snap.Lanes[0].Budget.Bps = int64(1000 * c.budget)
			lines := labtest.Draw(p, labtest.NewView(snap), 130, 40)
			upper := lines[1:13]
			for name, kbps := range map[string]float64{"budget line": c.line, "budget": c.budget} {
				text := " " + name + " " + units.Fixed(kbps, 0) + " "
				at := slices.IndexFunc(upper, func(s string) bool { return strings.Contains(s, text) })
				isFar := kbps > 10
				if (at >= 0) != (kbps > 0) || isFar && !strings.Contains(upper[0], text+"↑") || kbps > 0 && !isFar && !strings.Contains(upper[at], "┈ ┈") {
					t.Errorf("%+v: %s over 5 kbps:\n%s", c, name, strings.Join(upper, "\n"))
				}
			}
			if !slices.ContainsFunc(axisLabels(upper), func(s string) bool { return strings.TrimSuffix(s, ".0") == "10" }) {
				t.Errorf("%+v: the axis of 5 kbps:\n%s", c, strings.Join(upper, "\n"))
			}
		}
	}
}

// TestSpanFollowsShortHistory: the charts of a short session are full, but a selected span is kept.
func TestSpanFollowsShortHistory(t *testing.T) {
	for _, there := range []time.Duration{5 * time.Second, 9 * time.Second, 20 * time.Second, 45 * time.Second} {
		p := &Charts{Selected: 0, OnlySelected: true}
		lines := labtest.Draw(p, labtest.NewView(labtest.Snapshot(there)), 160, 20)
		first := 200
		for _, line := range lines[1:17] {
			for x, r := range []rune(line)[8:155] {
				if r > 0x2800 && r < 0x2900 {
					first = min(first, x)
				}
			}
		}
		if first > 3 {
			t.Errorf("after %v the line begins in column %d of 148:\n%s", there, first, strings.Join(lines, "\n"))
		}
	}
	axis := TimeAxis{Length: 10}
	axis.NextSpan()
	if got := axis.Span(); got != 2*time.Minute {
		t.Errorf("two minutes are %v", got)
	}
}

// TestRatioChart: each column shows the bits of a shadow divided by those of the active encoder.
func TestRatioChart(t *testing.T) {
	snap := labtest.FourShadows()
	p := &Charts{Selected: RatioChart, OnlySelected: true}
	p.Observe(labtest.NewView(snap))
	th := labtest.Theme(false)
	samples, ratio := p.ratioChart()
	spec := samples.Spec(&ratio, th, 200)
	const per = 8
	for i := range snap.Lanes[1:] {
		line, lane := &spec.Series[i], &snap.Lanes[1+i]
		cols := chart.Columns(line.Values, line.Weights, 900, per, 20, line.Reduce)
		for c, got := range cols {
			own, base := 0.0, 0.0
			for _, s := range lane.Samples {
				if at := int64(s.T/meters.SamplePeriod) - 1; at/per == 899/per-int64(19-c) {
					own += float64(s.PayloadBits)
					base += float64(snap.Lanes[0].Samples[at].PayloadBits)
				}
			}
			if math.Abs(got-own/base) > 1e-9 {
				t.Fatalf("%s, column %d: %v, want %v", lane.Encoder, c, got, own/base)
			}
		}
	}
	if one := spec.Series[len(spec.Series)-1]; one.Stroke != chart.Solid || slices.Min(one.Values) != 1 || slices.Max(one.Values) != 1 {
		t.Error("the active encoder is not 1")
	}
	if text := legendText(samples, &ratio, th, 200); !strings.Contains(text, "A relative-orientation 1.000") || !strings.Contains(text, "rotor 0.98") {
		t.Errorf("the legend is %q", text)
	}
}

// TestLegendsWithShadows: legends fit at any width, name all lanes by their letters, and are not cut.
func TestLegendsWithShadows(t *testing.T) {
	snap := labtest.FourShadows()
	for w := 58; w < 180; w += 4 {
		lines := labtest.Draw(&Charts{Selected: -1}, labtest.NewView(snap), w, 30)
		for i, line := range lines {
			if !strings.Contains(line, "2 s mean") {
				continue
			}
			if !strings.HasSuffix(line, "─╮") && !strings.HasSuffix(line, "─┤") || strings.Contains(line, "…") {
				t.Errorf("%d columns, row %d: %s", w, i, line)
			}
			for k := range snap.Lanes {
				if letter := " " + snap.Lanes[k].Letter + " "; !strings.Contains(line, letter) && !strings.Contains(lines[i+1], letter) {
					t.Errorf("%d columns, row %d does not name %s: %s", w, i, snap.Lanes[k].Name(), line)
				}
			}
		}
	}
}

// TestLowCharts: in a pane of any height each strip of charts has content.
func TestLowCharts(t *testing.T) {
	for h := 6; h < 30; h++ {
		lines := labtest.Draw(&Charts{Selected: -1}, labtest.NewView(labtest.NewLab().Snap), 60, h)
		for y := range lines[1:] {
			if strings.HasPrefix(lines[y], "├") && !strings.Contains(lines[y+1], "│") {
				t.Errorf("%d rows:\n%s", h, strings.Join(lines, "\n"))
			}
		}
		if all := strings.Join(lines, "\n"); h >= 9 && !strings.Contains(all, "no base") {
			t.Errorf("%d rows have no failures:\n%s", h, all)
		}
	}
}

// TestVisibleSamplesSuffice: charts drawn from the visible samples equal charts drawn from all of
// five minutes: with a shadow that joined late, with loop points, at all widths, spans and styles.
func TestVisibleSamplesSuffice(t *testing.T) {
	snap := labtest.Shadows(5*time.Minute, "rotor", "raw")
	var loops []chart.Interval
	for i := range snap.Lanes {
		for k := range snap.Lanes[i].Samples {
			if s := &snap.Lanes[i].Samples[k]; k%97 == 0 {
				s.CrossingLoop, s.PayloadBits = 1, 20*s.PayloadBits
			}
		}
		loops = append(loops, LoopPoints(snap.Lanes[i].Samples)...)
	}
	late := &snap.Lanes[2]
	late.Began, late.Samples = 4*time.Minute+30*time.Second, late.Samples[2700:]
	p := &Charts{Selected: -1}
	p.Observe(labtest.NewView(snap))
	for range spans {
		p.NextSpan()
		for _, th := range []*look.Theme{labtest.Theme(false), labtest.Theme(true)} {
			for _, w := range []int{9, 40, 78, 159, 300} {
				lanes := p.samples()
				for i, k := range p.charts(th) {
					some, all := lanes.Spec(&k, th, w), lanes.Spec(&k, th, w)
					if kept := time.Duration(len(some.Series[0].Values)) * meters.SamplePeriod; w == 159 && kept > p.Span()+10*time.Second {
						t.Errorf("%v are visible, %v were used", p.Span(), kept)
					}
					for n := range lanes.Shadows {
						all.Series[n].Values, all.Series[n].Weights = seriesOf(lanes.Shadows[n].Samples, k.Lines[0].Value)
					}
					for n := range len(all.Series) - len(lanes.Shadows) { // the first line is the last series
						line := &all.Series[len(all.Series)-1-n]
						line.Values, line.Weights = seriesOf(lanes.Samples, k.Lines[n].Value)
					}
					all.UnscaledIntervals = loops
					if want, got := chart.Draw(all, w, 12).String(), chart.Draw(some, w, 12).String(); got != want {
						t.Fatalf("chart %d of %v, %d columns: want\n%s\ngot\n%s", i, p.Span(), w, want, got)
					}
				}
			}
		}
	}
}

// axisLabels returns the labels of the value axes in drawn lines.
func axisLabels(lines []string) (labels []string) {
	for _, m := range regexp.MustCompile(`([0-9.]+)┤`).FindAllStringSubmatch(strings.Join(lines, "\n"), -1) {
		labels = append(labels, m[1])
	}
	return labels
}

// TestLoopPointNeverSetsTheScale: packets at a loop point are 800 times as large. The axes of all charts remain, also if
// the loop point is the newest sample; a symbol marks the values above the charts.
func TestLoopPointNeverSetsTheScale(t *testing.T) {
	for _, ago := range []int{0, 3, 15, 200} {
		var labels [2][]string
		var drawn []string
		for i := range labels {
			snap := labtest.NewLab().Snap
			if lane := &snap.Lanes[0]; i == 1 {
				s := &lane.Samples[len(lane.Samples)-1-ago]
				s.CrossingLoop, s.PayloadBits, s.WireBits = 1, 800*s.PayloadBits, 800*s.WireBits
			}
			drawn = labtest.Draw(&Charts{Selected: -1}, labtest.NewView(snap), 120, 40)
			labels[i] = axisLabels(drawn)
		}
		if !slices.Equal(labels[0], labels[1]) {
			t.Errorf("loop point %d samples ago: the axes are %v, want %v", ago, labels[1], labels[0])
		}
		perItem := slices.IndexFunc(drawn, func(s string) bool { return strings.Contains(s, "Bits per") }) + 1
		for _, top := range []string{drawn[1], drawn[perItem]} {
			if !strings.ContainsRune(top, look.MarkSymbol(engine.MarkLoop)) {
				t.Errorf("loop point %d samples ago: no symbol in the first row of a chart:\n%s", ago, strings.Join(drawn, "\n"))
			}
		}
	}
}

// TestTitlesNameTheMean: the title of each chart names the period of its means.
func TestTitlesNameTheMean(t *testing.T) {
	for _, w := range []int{58, 78, 108} {
		drawn := strings.Join(labtest.Draw(&Charts{Selected: -1}, labtest.NewView(labtest.NewLab().Snap), w, 40), "\n")
		if n := strings.Count(drawn, "2 s mean"); n != RatioChart {
			t.Errorf("%d columns: %d of %d titles name the mean:\n%s", w, n, RatioChart, drawn)
		}
	}
}

// TestManyLoops: a recording restarts each 0.7 s. The charts have no marks of loops, which would hide the lines, and the
// lines lie in the axes.
func TestManyLoops(t *testing.T) {
	snap := labtest.NewChanged().Snap
	for at := 700 * time.Millisecond; at < 89*time.Second; at += 700 * time.Millisecond {
		snap.Marks = append(snap.Marks, engine.Mark{T: at, Label: "loop", Kind: engine.MarkLoop})
	}
	for i := range snap.Lanes[0].Samples {
		snap.Lanes[0].Samples[i].CrossingLoop = 1
	}
	drawn := strings.Join(labtest.Draw(&Charts{Selected: -1}, labtest.NewView(snap), 120, 40), "\n")
	if strings.ContainsRune(drawn, look.MarkSymbol(engine.MarkLoop)) || !strings.ContainsRune(drawn, look.MarkSymbol(engine.MarkChange)) {
		t.Errorf("marks of loops, or values above the charts:\n%s", drawn)
	}
}
