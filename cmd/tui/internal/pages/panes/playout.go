package panes

import (
	"math"
	"slices"
	"strconv"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/units"
)

// Playout is how the receiver's display fared over time: how old what it showed was, what
// starved it, how far off it showed the cubes, what came too late for it. It collects what the
// charts of page 1 collect, and has their time axis.
type Playout struct {
	Charts
	cubes bool
}

// NewPlayout returns the charts of a display, of cubes or of other data.
func NewPlayout(cubes bool) *Playout { return &Playout{Charts{Lit: -1}, cubes} }

// Name implements room.Pane.
func (p *Playout) Name() string { return "Playout" }

// playoutWidth is how wide a chart is at least: so that its time axis has a label.
const playoutWidth = 38

// playoutChart is one of the charts, those worth most first.
type playoutChart struct {
	title  string
	cubes  bool // there are none of other data
	reduce chart.Reduce
	ink    look.Ink
	floor  float64 // the top of the axis is at least this
	of     func([]meters.Sample) []float64
	legend func(*engine.Lane) []look.Span
}

func playoutCharts() []playoutChart {
	figure := func(before string, v float64, prec int, after string) []look.Span {
		return []look.Span{look.Dim.Span(before), look.Value.Span(units.Fixed(v, prec)), look.Dim.Span(after)}
	}
	return []playoutChart{
		{"Age ms", false, chart.Max, look.Payload, 100, worst(func(s *meters.Sample) float64 { return float64(s.Oldest) / 1e6 }), AgeText},
		{"Starved %", false, chart.Mean, look.Warn, 10, starvedLine, func(l *engine.Lane) []look.Span { return figure("now ", 100*l.Recent.StarvedRatio, 1, "") }},
		{"Off mm", true, chart.Max, look.Bad, 10, worst(func(s *meters.Sample) float64 { return s.PositionErrorMM }),
			func(l *engine.Lane) []look.Span { return figure("worst ", l.Recent.PositionErrorMM, 1, "") }},
		{"Late /s", false, chart.Mean, look.Late, 4, lateLine, func(l *engine.Lane) []look.Span {
			rate := lateLine(meters.Tail(l.Samples, room.RecentSpan))
			now := 0.0
			if n := len(rate); n > 0 {
				now = rate[n-1]
			}
			return append(figure("now ", now, 1, "  so far "), look.Value.Span(strconv.FormatInt(l.Totals.Playout.Late, 10)))
		}},
		{"Turned deg", true, chart.Max, look.Ratio, 1, worst(func(s *meters.Sample) float64 { return s.OrientationErrorDeg }),
			func(l *engine.Lane) []look.Span { return figure("worst ", worstTurn(l), 1, "") }},
	}
}

// worst takes from every sample what was worst in it.
func worst(of func(*meters.Sample) float64) func([]meters.Sample) []float64 {
	return func(all []meters.Sample) []float64 { return series(all, of) }
}

// starvedLine is the share of the display ticks of two seconds, as the figure in the
// heading is.
func starvedLine(all []meters.Sample) []float64 {
	shown := rateLine(all, func(s *meters.Sample) int { return s.Displayed })
	starved := rateLine(all, func(s *meters.Sample) int { return s.Starved })
	for i := range starved {
		starved[i] *= 100 / math.Max(shown[i], 1)
	}
	return starved
}

// lateLine is how many snapshots a second came too late to be shown.
func lateLine(all []meters.Sample) []float64 {
	return rateLine(all, func(s *meters.Sample) int { return s.Late })
}

// AgeText says how old what a lane's display showed was, over the whole run.
func AgeText(l *engine.Lane) []look.Span {
	a := &l.Totals.AgeMS
	return []look.Span{look.Dim.Span("p50 "), look.Value.Span(a.Of(a.P50).Text(0)), look.Dim.Span(" p99 "),
		look.Value.Span(a.Of(a.P99).Text(0))}
}

// worstTurn is by how much a cube was shown turned at worst, over the time that
// the other figures cover.
func worstTurn(l *engine.Lane) (deg float64) {
	const recent = 20 // samples: two seconds
	for _, s := range l.Samples[max(len(l.Samples)-recent, 0):] {
		deg = max(deg, s.OrientationErrorDeg)
	}
	return deg
}

// Draw implements room.Pane: as many charts side by side as there is room for.
func (p *Playout) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	list := slices.DeleteFunc(playoutCharts(), func(k playoutChart) bool { return k.cubes && !p.cubes })
	list = list[:min(max(c.W/playoutWidth, 1), len(list))]
	c.Split(len(list), func(i int, side *look.Canvas) { p.drawChart(side, th, &list[i]) })
}

func (p *Playout) drawChart(c *look.Canvas, th *look.Theme, k *playoutChart) {
	legend := k.legend(&p.Lane)
	c.Frame(th, false, k.title, look.Fit(look.HeadRoom(c.W, k.title), legend, legend[max(len(legend)-2, 0):], nil)...)
	spec := &chart.Spec{Floor: k.floor, Time: true}
	cut := p.visible(th, c.W-2)
	spec.Series = []chart.Series{{Values: k.of(cut.Lane.Samples), Reduce: k.reduce, Ink: chart.Ink(k.ink)}}
	cut.Common(spec, th)
	c.Blit(1, 1, chart.Draw(spec, c.W-2, max(c.H-2, 0)))
}
