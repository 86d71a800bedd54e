package panes

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/units"
)

// Playout shows charts of the receiver's display over time: the age of the displayed data,
// starvation, position and orientation errors of cubes, position and angle errors of tables, and late snapshots. It collects
// the same samples as the charts of page 1 and has the same time axis.
type Playout struct {
	Charts
	cubes bool               // the data are cubes, which have positions and orientations
	units *meters.ErrorUnits // of the errors of a table; nil for other data
}

// NewPlayout returns the charts of the display of data with the given schema, which may be nil.
func NewPlayout(s *frame.Schema) *Playout {
	p := &Playout{Charts: Charts{Selected: -1}}
	if s == nil {
		return p
	}
	p.cubes = frame.IsCubes(s)
	if c := playout.FindColumns(s); c != nil {
		p.units = c.Units()
	}
	return p
}

func (p *Playout) Name() string { return "Playout" }

// minPlayoutWidth is the minimum width of a chart, so that its time axis has a label.
const minPlayoutWidth = 38

// playoutChart describes one of the charts.
type playoutChart struct {
	title  string                                            // heading, with the unit
	absent bool                                              // the data do not have it
	reduce chart.Reducer                                     // combines the samples of a column
	style  look.Style                                        // of the line
	floor  float64                                           // the minimum of the axis's upper end
	values func([]meters.Sample) (values, weights []float64) // as in chart.Series
	legend func(*engine.Lane) []look.Span                    // the current figures; the last two spans are label and value
}

// playoutCharts returns the charts that apply to the data, the most important first.
func (p *Playout) playoutCharts() []playoutChart {
	valueSpans := func(before string, v float64, prec int, after string) []look.Span {
		return []look.Span{look.Dim.Span(before), look.Value.Span(units.Fixed(v, prec)), look.Dim.Span(after)}
	}
	all := []playoutChart{
		{title: "Age ms", reduce: chart.Max, style: look.Payload, floor: 100, legend: AgeSpans,
			values: perSample(func(s *meters.Sample) float64 { return float64(s.Oldest) / 1e6 })},
		{title: "Starved %, " + room.MeanText, reduce: chart.Mean, style: look.Warn, floor: 10, values: starvedSeries,
			legend: func(l *engine.Lane) []look.Span { return valueSpans("now ", 100*l.Recent.StarvedRatio, 1, "") }},
		{title: "Position error mm", absent: !p.cubes, reduce: chart.Max, style: look.Bad, floor: 10,
			values: perSample(func(s *meters.Sample) float64 { return s.PositionErrorMM }),
			legend: func(l *engine.Lane) []look.Span { return valueSpans("max ", l.Recent.PositionErrorMM, 1, "") }},
		{title: "Late/s, " + room.MeanText, reduce: chart.Mean, style: look.Late, floor: 4, values: lateSeries, legend: func(l *engine.Lane) []look.Span {
			recent, late := meters.Tail(l.Samples, room.RecentSpan), 0
			for i := range recent {
				late += recent[i].Late
			}
			now := float64(late) * room.PerSecond / float64(max(len(recent), 1))
			return append(valueSpans("now ", now, 1, "  total "), look.Value.Span(strconv.FormatInt(l.Totals.Playout.Late, 10)))
		}},
		{title: "Rotation error deg", absent: !p.cubes, reduce: chart.Max, style: look.Ratio, floor: 1,
			values: perSample(func(s *meters.Sample) float64 { return s.OrientationErrorDeg }),
			legend: func(l *engine.Lane) []look.Span { return valueSpans("max ", maxOrientationError(l), 1, "") }},
	}
	if p.units != nil {
		largest := func(v float64) []look.Span {
			return []look.Span{look.Dim.Span("max "), look.Value.Span(units.Significant(v, 3))}
		}
		all = slices.Insert(all, 2,
			playoutChart{title: strings.TrimSpace("Position error " + p.units.Position), absent: !p.units.HasPositions, reduce: chart.Max, style: look.Bad,
				values: perSample(func(s *meters.Sample) float64 { return s.PositionError }),
				legend: func(l *engine.Lane) []look.Span { return largest(l.Recent.PositionError) }},
			playoutChart{title: strings.TrimSpace("Angle error " + p.units.Angle), absent: !p.units.HasAngles, reduce: chart.Max, style: look.Ratio,
				values: perSample(func(s *meters.Sample) float64 { return s.AngleError }),
				legend: func(l *engine.Lane) []look.Span { return largest(l.Recent.AngleError) }})
	}
	return slices.DeleteFunc(all, func(k playoutChart) bool { return k.absent })
}

// perSample returns a function that maps samples to their values, with equal weights.
func perSample(value func(*meters.Sample) float64) func([]meters.Sample) (values, weights []float64) {
	return func(all []meters.Sample) (values, weights []float64) { return mapSamples(all, value), nil }
}

// starvedSeries returns, for each sample, the percentage of display ticks that starved, for which no newer
// snapshot had arrived, weighted by the number of display ticks.
func starvedSeries(all []meters.Sample) (values, weights []float64) {
	weights = mapSamples(all, func(s *meters.Sample) float64 { return float64(s.Displayed) })
	return mapSamples(all, func(s *meters.Sample) float64 { return 100 * float64(s.Starved) / math.Max(float64(s.Displayed), 1) }), weights
}

// lateSeries returns the snapshots per second that arrived after their display time; the weights are nil.
func lateSeries(all []meters.Sample) (values, weights []float64) {
	return mapSamples(all, func(s *meters.Sample) float64 { return room.PerSecond * float64(s.Late) }), nil
}

// AgeSpans returns the median and the 99th percentile of the age of a lane's displayed data in ms,
// over the whole run.
func AgeSpans(l *engine.Lane) []look.Span {
	a := &l.Totals.AgeMS
	return []look.Span{look.Dim.Span("p50 "), look.Value.Span(a.Of(a.P50).Text(0)), look.Dim.Span(" p99 "),
		look.Value.Span(a.Of(a.P99).Text(0))}
}

// maxOrientationError returns the largest orientation error of a cube in the last two seconds, in
// degrees.
func maxOrientationError(l *engine.Lane) (deg float64) {
	const recent = 20 // samples: two seconds
	for _, s := range l.Samples[max(len(l.Samples)-recent, 0):] {
		deg = max(deg, s.OrientationErrorDeg)
	}
	return deg
}

// Draw implements room.Pane. It draws as many charts side by side as fit, at least one.
func (p *Playout) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	list := p.playoutCharts()
	list = list[:min(max(c.W/minPlayoutWidth, 1), len(list))]
	c.Split(len(list), func(i int, side *look.Canvas) { p.drawChart(side, th, &list[i]) })
}

// drawChart draws one chart with its frame. If the legend does not fit, only its last figure is drawn,
// or nothing.
func (p *Playout) drawChart(c *look.Canvas, th *look.Theme, k *playoutChart) {
	legend := k.legend(&p.atCrosshair().Lane)
	lastFigure := legend[max(len(legend)-2, 0):] // its label and value
	const focused = false
	c.Frame(th, focused, k.title, look.Fit(look.TitleSpace(c.W, k.title), legend, lastFigure, nil)...)
	spec := &chart.Spec{Floor: k.floor, Time: true}
	visible := p.withVisibleSamples(th, c.W-2)
	values, weights := k.values(visible.Lane.Samples)
	spec.Series = []chart.Series{{Values: values, Weights: weights, Reduce: k.reduce, Style: chart.Style(k.style)}}
	visible.StyleChart(spec, th)
	if k.reduce == chart.Max { // not a mean
		spec.Window = 0
	}
	c.Blit(1, 1, chart.Draw(spec, c.W-2, max(c.H-2, 0)))
}

// Alone is which part of a page with charts below it is shown.
type Alone uint8

// Parts of a page.
const (
	Both Alone = iota
	upperAlone
	ChartsAlone
	numAlone
)

// Next selects the next part.
func (a *Alone) Next() { *a = (*a + 1) % numAlone }

// ChartRows returns how many of h rows the charts get. usual is their height if both parts are shown.
func (a Alone) ChartRows(h, usual int) int {
	switch a {
	case upperAlone:
		return 0
	case ChartsAlone:
		return h
	}
	return usual
}
