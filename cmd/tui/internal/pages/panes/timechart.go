package panes

import (
	"cmp"
	"math"
	"slices"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/units"
)

// TimeChart is a chart over time of samples of type S, with the figures of its lines in the legend.
type TimeChart[S any] struct {
	Title    string  // without the period of means, which is added
	Short    string  // title where the legend needs the room; "" for Title
	Floor    float64 // the smallest value at the top of the axis
	Decimals int     // of the figures; Significant for three significant digits
	Lines    []TimeLine[S]
	IsStack  bool    // the lines are areas, the first at the bottom
	Whole    float64 // if positive, the sum of the areas, which are shares
	Fit      bool    // the axis need not include 0
	Rules    []chart.Rule
	MaxRows  int           // of the plot; 0 means no limit
	After    [][]look.Span // the end of the legend, and shorter texts for narrow panes
	Focused  bool          // draw the title as focused
}

// Significant as TimeChart.Decimals means three significant digits.
const Significant = -1

// Ratio is a figure of a sample as a fraction. Means over several samples are ratios of the sums. A denominator of 0
// means that the figure is unknown.
type Ratio[S any] func(*S) (num, den float64)

// TimeLine is a line or an area of a chart.
type TimeLine[S any] struct {
	Name   string // in the legend, or in an area that is silent; "" for the instant of the figures; with shadows, that of the lane follows
	Short  string // in narrow legends; "" for Name
	Symbol rune   // before the name, and the fill of an area in themes without colour; 0 for none
	Stroke chart.Stroke
	Style  look.Style
	Value  Ratio[S]                // nil for a line that has only a figure
	Reduce chart.Reducer           // mean or maximum, of the samples of a column and in the figure
	Figure func(recent []S) string // the figure of the samples of the last two seconds; nil for the mean or the maximum
	Silent bool                    // it has no figure in the legend
	Loose  bool                    // it may leave the chart at the top instead of flattening the other lines
	Limit  bool                    // a loose line of which nothing is drawn while it is above the chart
	InArea look.Style              // style of the name in a silent area
}

// Known returns v as a Ratio does, unknown unless isKnown is set.
func Known(v float64, isKnown bool) (num, den float64) {
	if !isKnown {
		return 0, 0
	}
	return v, 1
}

// Shadow is a lane that is drawn behind the lines of a chart, as a dotted line.
type Shadow[S any] struct {
	Index   int    // of the shadow, which determines its style and symbol
	Name    string // begins with the letter of the lane
	Samples []S
}

// TimeCharts are the samples for charts over one time axis.
type TimeCharts[S any] struct {
	*TimeAxis
	Samples    []S    // the newest ends at TimeAxis.End
	Lane       string // name of the lane of Samples, as Shadow.Name
	Shadows    []Shadow[S]
	OfRun      bool                       // the figures are those of all samples, not of the last two seconds
	LoopPoints func([]S) []chart.Interval // the periods of samples that do not affect the scale; nil for none
}

// seriesOf returns the values of samples, NaN if unknown, and their weights in means.
func seriesOf[S any](samples []S, value Ratio[S]) (values, weights []float64) {
	values, weights = make([]float64, len(samples)), make([]float64, len(samples))
	for i := range samples {
		num, den := value(&samples[i])
		values[i], weights[i] = num/den, den
	}
	return values, weights
}

// Spec returns a chart in w columns.
func (t *TimeCharts[S]) Spec(k *TimeChart[S], th *look.Theme, w int) *chart.Spec {
	spec := &chart.Spec{Floor: k.Floor, Rules: k.Rules, Fit: k.Fit, Whole: k.Whole}
	t.style(spec, th, w)
	spec.Fine = spec.Fine && !k.IsStack
	if k.Lines[0].Reduce == chart.Max { // not a mean
		spec.Window = 0
	}
	visible := spec.VisibleValues(w) + meanWindow
	if t.LoopPoints != nil {
		spec.UnscaledIntervals = t.LoopPoints(newest(t.Samples, visible))
	}
	first := &k.Lines[0]
	shadows, _ := t.largestShadows(first.Value, first.Reduce)
	for i := range shadows {
		samples := newest(shadows[i].Samples, visible)
		line := chart.Series{Reduce: first.Reduce, Loose: !k.Fit || len(shadows) > 1, Stroke: chart.Dotted,
			Style: chart.Style(look.ShadowStyle(shadows[i].Index)), Marker: look.ShadowSymbol(shadows[i].Index)}
		line.Values, line.Weights = seriesOf(samples, first.Value)
		spec.Series = append(spec.Series, line)
		if t.LoopPoints != nil {
			spec.UnscaledIntervals = append(spec.UnscaledIntervals, t.LoopPoints(samples)...)
		}
	}
	for _, line := range slices.Backward(k.Lines) { // the last series is drawn on top: the first line
		if line.Value == nil {
			continue
		}
		values, weights := seriesOf(newest(t.Samples, visible), line.Value)
		if k.IsStack {
			spec.Areas = slices.Insert(spec.Areas, 0, line.area(th, values, weights)) // the first area is at the bottom
			continue
		}
		spec.Series = append(spec.Series, chart.Series{Values: values, Weights: weights, Reduce: line.Reduce,
			Stroke: line.Stroke, Style: chart.Style(line.Style), Loose: line.Loose || line.Limit, ClipAbove: line.Limit})
	}
	return spec
}

// area returns the area of a line. Colours distinguish areas; without colours, fills do.
func (line *TimeLine[S]) area(th *look.Theme, values, weights []float64) chart.Area {
	area := chart.Area{Values: values, Weights: weights, Fill: line.Symbol, Style: chart.Style(line.Style), NameStyle: chart.Style(line.InArea)}
	if th.Color {
		area.Fill = '█'
	}
	if line.Silent {
		area.Name = line.Name
	}
	return area
}

// maxShadows is the largest number of shadows that a chart draws: with the active encoder, eight lines.
const maxShadows = 7

// largestShadows returns the shadows with the largest figures, in their order, and the number of others.
func (t *TimeCharts[S]) largestShadows(value Ratio[S], how chart.Reducer) (list []Shadow[S], others int) {
	if len(t.Shadows) <= maxShadows {
		return t.Shadows, 0
	}
	list = slices.Clone(t.Shadows)
	slices.SortStableFunc(list, func(a, b Shadow[S]) int {
		return cmp.Compare(t.mean(b.Samples, value, how), t.mean(a.Samples, value, how))
	})
	list = list[:maxShadows]
	slices.SortFunc(list, func(a, b Shadow[S]) int { return a.Index - b.Index })
	return list, len(t.Shadows) - maxShadows
}

// recent returns the samples of the figures: those of the last two seconds, or all of a run.
func (t *TimeCharts[S]) recent(samples []S) []S {
	if t.OfRun {
		return samples
	}
	return newest(upToCrosshair(t.TimeAxis, samples), meanWindow)
}

// mean returns the mean or the maximum of a figure in the recent samples; NaN without values.
func (t *TimeCharts[S]) mean(samples []S, value Ratio[S], how chart.Reducer) float64 {
	largest, sum, weights := math.NaN(), 0.0, 0.0
	recent := t.recent(samples)
	for i := range recent { // a copy of each would be allocated
		num, den := value(&recent[i])
		if den <= 0 || math.IsNaN(num) {
			continue
		}
		sum += num
		weights += den
		if v := num / den; math.IsNaN(largest) || v > largest {
			largest = v
		}
	}
	if how == chart.Max {
		return largest
	}
	return sum / weights
}

// figure returns the text of a figure of a line; "" without values.
func (t *TimeCharts[S]) figure(k *TimeChart[S], line *TimeLine[S], samples []S) string {
	if line.Figure != nil {
		return line.Figure(t.recent(samples))
	}
	v := t.mean(samples, line.Value, line.Reduce)
	switch {
	case math.IsNaN(v):
		return ""
	case k.Decimals == Significant:
		return units.Significant(v, 3)
	}
	return units.Fixed(v, k.Decimals)
}

// Draw fills c with charts, from top to bottom. Charts for which there is no room are one row with their figures; the
// first always has a plot.
func (t *TimeCharts[S]) Draw(c *look.Canvas, th *look.Theme, list []TimeChart[S]) {
	const edge, axisWithLabels, minRows = 1, 2, 3
	list = list[:min(len(list), max(c.H-edge-axisWithLabels-minRows, 1))]
	axis := axisWithLabels
	free := c.H - edge - axis - len(list) // rows for plots
	hasLabels := free >= minRows*len(list)
	if !hasLabels { // a chart needs the row of the labels of marks
		axis--
		free++
	}
	plots := min(max(free/minRows, 1), len(list)) // charts with a plot; the last of them has the time axis
	rows := plotRows(free, list[:plots])
	rows[plots-1] += axis
	y := 0
	for i := range list {
		k := &list[i]
		hasPlot := i < plots
		title, legend, below := t.heading(k, th, c.W, hasPlot && rows[i] > minRows)
		switch {
		case i == 0:
			c.Frame(th, k.Focused, title, legend...)
		case !hasPlot && y < c.H-1:
			c.Spans(2, y, c.W-4, append(look.Labelled(title+"  "), legend...)...)
		case y < c.H-1:
			c.Divider(th, y, k.Focused, title, legend...)
		}
		y++
		if !hasPlot {
			continue
		}
		if below != nil {
			c.Spans(2, y, c.W-4, below...)
			y++
			rows[i]--
		}
		spec := t.Spec(k, th, c.W-2)
		spec.Time = i == plots-1
		spec.Labels = spec.Time && hasLabels
		if cross := spec.Crosshair; cross != nil && i > 0 { // the label is at the uppermost chart only
			cross.Label = ""
		}
		c.Blit(1, y, chart.Draw(spec, c.W-2, max(min(rows[i], c.H-1-y), 0)))
		y += rows[i]
	}
}

// heading returns the title of a chart in a pane of w columns, and the legend. The title names the period of means. If the legend does not fit beside the short title either, it is in the row below if the chart
// has one.
func (t *TimeCharts[S]) heading(k *TimeChart[S], th *look.Theme, w int, hasRow bool) (title string, legend, below []look.Span) {
	mean := ""
	if k.Lines[0].Reduce == chart.Mean {
		mean = ", " + room.MeanText
	}
	entries, others := t.legendEntries(k, th)
	after := k.After
	if len(after) == 0 {
		after = [][]look.Span{nil}
	}
	for _, text := range after {
		for _, isShort := range []bool{false, true} {
			legend = slices.Concat(slices.Concat(legendGroups(entries, isShort)...), otherLines(others), text)
			for _, name := range []string{k.Title, cmp.Or(k.Short, k.Title)} {
				title = name + mean
				if look.SpansWidth(legend) <= look.TitleSpace(w, title) {
					return title, legend, nil
				}
			}
		}
	}
	if hasRow {
		return k.Title + mean, nil, fitLegend(entries, others, w-4)
	}
	return title, fitLegend(entries, others, look.TitleSpace(w, title)), nil
}

// plotRows distributes free rows over the plots of charts. Rows that no chart may take go to the first.
func plotRows[S any](free int, list []TimeChart[S]) []int {
	rows := make([]int, len(list))
	for free > 0 {
		before := free
		for i := range list {
			isFull := list[i].MaxRows > 0 && rows[i] >= list[i].MaxRows
			if free > 0 && !isFull {
				rows[i]++
				free--
			}
		}
		if free == before {
			rows[0] += free
			break
		}
	}
	return rows
}
