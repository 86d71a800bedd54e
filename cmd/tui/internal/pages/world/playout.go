package world

import (
	"strconv"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
)

// playout is how the receiver's display fared over time: what starved it, how
// far off it showed the cubes, what came too late for it. It collects what the
// charts of page 1 collect, and has their time axis.
type playout struct{ panes.Charts }

func newPlayout() *playout { return &playout{panes.Charts{Lit: -1}} }

func (p *playout) Name() string { return "Playout" }

// The room of the charts: how high they are, from which height of the page they
// are shown unasked, and how wide one is at least.
const (
	playoutRows  = 8
	playoutFrom  = 40
	playoutWidth = 26
)

// playoutChart is one of the charts, those worth most first.
type playoutChart struct {
	title  string
	share  bool // of the display ticks; else what was worst
	ink    look.Ink
	floor  float64 // the top of the axis is at least this
	of     func(*engine.Sample) float64
	legend func(*engine.Lane) []look.Span
}

func playoutCharts() []playoutChart {
	figure := func(before string, v float64, prec int, after string) []look.Span {
		return []look.Span{look.Dim.Span(before), look.Value.Span(look.Fixed(v, prec)), look.Dim.Span(after)}
	}
	return []playoutChart{
		{"Starved %", true, look.Warn, 10, func(s *engine.Sample) float64 {
			return 100 * float64(s.Starved) / float64(max(s.Displayed, 1))
		}, func(l *engine.Lane) []look.Span { return figure("now ", 100*l.Recent.StarvedRatio, 1, "") }},
		{"Off mm", false, look.Bad, 10, func(s *engine.Sample) float64 { return s.PositionErrorMM },
			func(l *engine.Lane) []look.Span { return figure("worst ", l.Recent.PositionErrorMM, 1, "") }},
		{"Turned deg", false, look.Ratio, 1, func(s *engine.Sample) float64 { return s.OrientationErrorDeg },
			func(l *engine.Lane) []look.Span { return figure("worst ", worstTurn(l), 1, "") }},
		{"Late /s", false, look.Late, 10, func(s *engine.Sample) float64 { return float64(s.Late) * room.PerSecond },
			func(l *engine.Lane) []look.Span {
				return []look.Span{look.Dim.Span("so far "), look.Value.Span(strconv.FormatInt(l.Totals.Playout.Late, 10))}
			}},
	}
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

// Draw draws as many charts side by side as there is room for.
func (p *playout) Draw(c *look.Canvas, th *look.Theme, _ bool) {
	list := playoutCharts()
	list = list[:min(max(c.W/playoutWidth, 1), len(list))]
	x := 0
	for i := range list {
		to := c.W * (i + 1) / len(list)
		side := look.NewCanvas(to-x, c.H)
		p.drawChart(side, th, &list[i])
		c.Paste(x, 0, side)
		x = to
	}
}

func (p *playout) drawChart(c *look.Canvas, th *look.Theme, k *playoutChart) {
	c.Frame(th, false, k.title, look.Fit(look.HeadRoom(c.W, k.title), k.legend(&p.Lane), nil)...)
	spec := &chart.Spec{Floor: k.floor, Time: true}
	line := chart.Series{Values: panes.Series(p.Lane.Samples, k.of), Reduce: chart.Max, Ink: chart.Ink(k.ink)}
	if k.share { // a mean over what was shown, as the figure in the heading is
		line.Reduce = chart.Mean
		line.Weights = panes.Series(p.Lane.Samples, func(s *engine.Sample) float64 { return float64(s.Displayed) })
	}
	spec.Series = []chart.Series{line}
	p.Common(spec, th, c.W-2)
	c.Blit(1, 1, chart.Draw(spec, c.W-2, max(c.H-2, 0)))
}
