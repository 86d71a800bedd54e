package panes

import (
	"math"
	"slices"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/lockstep"
	"wirelab/internal/units"
)

// timeChart is a chart of samples over time, with the figures of its lines in the legend.
type timeChart struct {
	title    string
	short    string        // title in narrow panes
	floor    float64       // the smallest value at the top of the axis
	reduce   chart.Reducer // mean or maximum, of the samples of a column and in the figures
	decimals int           // of the figures; significant for three significant digits
	lines    []timeLine    // nil for the chart of payload ratios, see RatioChart
	rules    []chart.Rule
	empty    string // text instead of a chart without values
	folded   string // text of a chart that is one row high unless it is selected; "" for others

	// What is drawn for shadows, and their figures; nil for those of the first line.
	ofShadow     func(*meters.Sample) float64
	shadowFigure func(*engine.Lane) string
	// after returns the end of the legend, after the figures of the lines, and shorter texts for narrow panes; nil for none.
	after func(figures *Charts, th *look.Theme) [][]look.Span
}

// significant as timeChart.decimals means three significant digits.
const significant = -1

// text formats a figure.
func (k *timeChart) text(v float64) string {
	if k.decimals == significant {
		return units.Significant(v, 3)
	}
	return units.Fixed(v, k.decimals)
}

// timeLine is a line of a chart.
type timeLine struct {
	name   string                 // in the legend; "" for the instant of the figures
	short  string                 // in narrow legends; "" for name
	symbol func(*look.Theme) rune // before the name; nil for none
	stroke chart.Stroke
	style  look.Style
	value  func(*meters.Sample) float64 // NaN if unknown
	weight func(*meters.Sample) float64 // of a value in means; nil means equal weights
	recent func(*engine.Lane) float64   // the figure of the last two seconds; nil for the mean or the maximum of the values
	silent bool                         // it has no figure in the legend
	loose  bool                         // a limit: if it is above the chart, only the legend shows it
}

// series returns the values and weights of samples.
func (line *timeLine) series(samples []meters.Sample) (values, weights []float64) {
	if line.weight != nil {
		weights = mapSamples(samples, line.weight)
	}
	return mapSamples(samples, line.value), weights
}

// stacked returns the chart of the visible samples, and in its legend the figures of the lines from
// figures. title replaces k.title; w is the width of the pane.
func (k *timeChart) stacked(visible, figures *Charts, th *look.Theme, title string, w int) Stacked {
	out := Stacked{Title: title, Spec: k.spec(visible, th), Legend: k.legend(figures, th, look.TitleSpace(w, title))}
	visible.StyleChart(out.Spec, th)
	if k.reduce == chart.Max { // not a mean
		out.Spec.Window = 0
	}
	return out
}

// spec returns the chart of the visible samples.
func (k *timeChart) spec(p *Charts, th *look.Theme) *chart.Spec {
	if len(k.lines) == 0 {
		return p.payloadRatioSpec(th)
	}
	spec := &chart.Spec{Floor: k.floor, Rules: k.rules}
	first := k.lines[0]
	if k.ofShadow != nil {
		first.value = k.ofShadow
	}
	// A dotted line for each shadow, with its marker at intervals. The samples of its warm-up are not shown.
	for i := range p.shadows {
		values, weights := first.series(lockstep.AfterWarmUp(&p.shadows[i]))
		spec.Series = append(spec.Series, chart.Series{Values: values, Weights: weights, Reduce: k.reduce, Loose: true,
			Stroke: chart.Dotted, Style: chart.Style(look.ShadowStyle(i)), Marker: look.ShadowSymbol(th, i)})
	}
	for _, line := range slices.Backward(k.lines) { // the last series is drawn on top: the first line
		values, weights := line.series(p.Lane.Samples)
		spec.Series = append(spec.Series, chart.Series{Values: values, Weights: weights, Reduce: k.reduce,
			Stroke: line.stroke, Style: chart.Style(line.style), Loose: line.loose, ClipAbove: line.loose})
	}
	return spec
}

// hasValue reports whether a series has a value.
func hasValue(s chart.Series) bool {
	return slices.ContainsFunc(s.Values, func(v float64) bool { return !math.IsNaN(v) })
}

// legend returns the figures of each line, then those of the shadows, in at most maxWidth columns.
func (k *timeChart) legend(p *Charts, th *look.Theme, maxWidth int) []look.Span {
	if len(k.lines) == 0 {
		return p.payloadRatioLegend(th, maxWidth)
	}
	const short = true
	out := slices.Concat(k.lineFigures(p, th, !short)...)
	if look.SpansWidth(out) > maxWidth {
		out = look.FitGroups(maxWidth, k.lineFigures(p, th, short))
	}
	after := [][]look.Span{nil}
	if k.after != nil {
		after = append(k.after(p, th), nil)
	}
	shortest := after[max(len(after)-2, 0)] // the last text before nil, which is the space that shadows leave free
	shadowFigure := k.shadowFigure
	if shadowFigure == nil {
		shadowFigure = func(l *engine.Lane) string { return k.figure(p, l, &k.lines[0]) }
	}
	space := maxWidth - look.SpansWidth(out) - look.SpansWidth(shortest)
	out = append(out, shadowLegend(th, space, &p.Lane, p.shadows, shadowFigure)...)
	return append(out, look.Fit(maxWidth-look.SpansWidth(out), after...)...)
}

// lineFigures returns name and figure of each line, with full or short names.
func (k *timeChart) lineFigures(p *Charts, th *look.Theme, short bool) (groups [][]look.Span) {
	for i := range k.lines {
		line, name := &k.lines[i], k.lines[i].name
		switch {
		case short && line.short != "":
			name = line.short
		case name == "" && p.OfRun:
			name = "mean"
		case name == "":
			name = FiguresAt(p.crosshair)
		case p.OfRun && i == 0:
			name += ", mean"
		}
		if line.symbol != nil {
			name = string(line.symbol(th)) + " " + name
		}
		if len(k.lines) > 1 || len(p.shadows) > 0 { // lines to distinguish
			name = look.LineSamples(th)[line.stroke] + " " + name
		}
		if len(groups) > 0 {
			name = "  " + name
		}
		if v := k.figure(p, &p.Lane, line); v != "" && !line.silent {
			groups = append(groups, []look.Span{line.style.Span(name + " "), look.Value.Span(v)})
		}
	}
	return groups
}

// figure returns the mean or the maximum of a line in the last two seconds or, of the charts of a saved report, in the
// run; "" without values.
func (k *timeChart) figure(p *Charts, l *engine.Lane, line *timeLine) string {
	if line.recent != nil {
		return k.text(line.recent(l))
	}
	samples := l.Samples
	if !p.OfRun {
		samples = meters.Tail(samples, room.RecentSpan)
	}
	values, weights := line.series(samples)
	sum, sumWeights := 0.0, 0.0 // of the maximum: its value, and weight 1
	for i, v := range values {
		weight := 1.0
		if weights != nil {
			weight = weights[i]
		}
		switch {
		case math.IsNaN(v):
		case k.reduce == chart.Max:
			sum = max(sum, v)
			sumWeights = 1
		default:
			sum += v * weight
			sumWeights += weight
		}
	}
	if sumWeights == 0 {
		return ""
	}
	return k.text(sum / sumWeights)
}
