package panes

import (
	"math"
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
// the same samples as type Charts and has the same time axis.
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

// playoutCharts returns the charts that apply to the data, the most important first.
func (p *Playout) playoutCharts() []timeChart {
	starvation := timeChart{title: "Starved %, " + room.MeanText, floor: 10, decimals: 1, lines: []timeLine{{
		style:  look.Warn,
		value:  starved,
		recent: func(l *engine.Lane) float64 { return 100 * l.Recent.StarvedRatio },
		weight: func(s *meters.Sample) float64 { return float64(s.Displayed) },
	}}}
	all := []timeChart{ageChart(), starvation}
	switch {
	case p.cubes:
		return append(all,
			maxChart("Position error mm", 10, 1, timeLine{
				style:  look.Bad,
				value:  func(s *meters.Sample) float64 { return s.PositionErrorMM },
				recent: func(l *engine.Lane) float64 { return l.Recent.PositionErrorMM },
			}),
			lateChart(),
			maxChart("Rotation error deg", 1, 1, timeLine{
				style: look.Ratio,
				value: func(s *meters.Sample) float64 { return s.OrientationErrorDeg },
			}))
	case p.units == nil:
		return append(all, lateChart())
	}
	if p.units.HasPositions {
		all = append(all, maxChart("Position error "+p.units.Position, 0, significant, timeLine{
			style:  look.Bad,
			value:  func(s *meters.Sample) float64 { return s.PositionError },
			recent: func(l *engine.Lane) float64 { return l.Recent.PositionError },
		}))
	}
	if p.units.HasAngles {
		all = append(all, maxChart("Angle error "+p.units.Angle, 0, significant, timeLine{
			style:  look.Ratio,
			value:  func(s *meters.Sample) float64 { return s.AngleError },
			recent: func(l *engine.Lane) float64 { return l.Recent.AngleError },
		}))
	}
	return append(all, lateChart())
}

// maxChart returns a chart of the largest values of a line. title ends with the unit, which may be empty.
func maxChart(title string, floor float64, decimals int, line timeLine) timeChart {
	line.name = "max"
	return timeChart{title: strings.TrimSpace(title), floor: floor, decimals: decimals, reduce: chart.Max,
		lines: []timeLine{line}}
}

// ageChart returns the chart of the age of the displayed data.
func ageChart() timeChart {
	return timeChart{title: "Age ms", floor: 100, reduce: chart.Max, lines: []timeLine{{style: look.Payload, silent: true,
		value: func(s *meters.Sample) float64 { return units.Milliseconds(s.Oldest) }}},
		after: func(figures *Charts, _ *look.Theme) [][]look.Span {
			spans := AgeSpans(&figures.Lane)
			return [][]look.Span{spans, spans[2:]} // p50 and p99, or only p99
		}}
}

// lateChart returns the chart of snapshots that arrived too late to be displayed.
func lateChart() timeChart {
	late := timeChart{title: "Late/s, " + room.MeanText, floor: 4, decimals: 1, lines: []timeLine{{style: look.Late, silent: true,
		value: func(s *meters.Sample) float64 { return room.PerSecond * float64(s.Late) }}}}
	late.after = func(figures *Charts, _ *look.Theme) [][]look.Span {
		count := strconv.FormatInt(figures.Lane.Totals.Playout.Late, 10)
		total := []look.Span{look.Dim.Span("total "), look.Value.Span(count)}
		now := late.figure(figures, &figures.Lane, &late.lines[0])
		return [][]look.Span{append([]look.Span{look.Dim.Span("now "), look.Value.Span(now + "  ")}, total...), total}
	}
	return late
}

// starved returns the percentage of display ticks of a sample for which no newer snapshot had arrived.
func starved(s *meters.Sample) float64 {
	return 100 * float64(s.Starved) / math.Max(float64(s.Displayed), 1)
}

// AgeSpans returns the median and the 99th percentile of the age of a lane's displayed data in ms,
// over the whole run.
func AgeSpans(l *engine.Lane) []look.Span {
	a := &l.Totals.AgeMS
	return []look.Span{look.Dim.Span("p50 "), look.Value.Span(a.Of(a.P50).Text(0)), look.Dim.Span(" p99 "),
		look.Value.Span(a.Of(a.P99).Text(0))}
}

// Draw implements room.Pane. It draws as many charts side by side as fit, at least one.
func (p *Playout) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	list := p.playoutCharts()
	list = list[:min(max(c.W/minPlayoutWidth, 1), len(list))]
	alone := p.Charts // these charts show one lane
	alone.shadows = nil
	figures := alone.atCrosshair()
	c.Split(len(list), func(i int, side *look.Canvas) {
		k := &list[i]
		visible := alone.withVisibleSamples(th, side.W-2)
		one := k.stacked(visible, figures, th, k.title, side.W)
		side.Frame(th, look.Unfocused, one.Title, one.Legend...)
		one.Spec.Time = true
		side.Blit(1, 1, chart.Draw(one.Spec, side.W-2, max(side.H-2, 0)))
	})
}
