package ui

import (
	"strconv"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/experiment/engine"
)

// playoutPane is how the receiver's display fared over time: what starved it, how
// far off it showed the cubes, what came too late for it. It collects what the
// charts of page 1 collect, and has their time axis.
type playoutPane struct{ chartsPane }

func newPlayoutPane() *playoutPane { return &playoutPane{chartsPane{lit: -1}} }

func (p *playoutPane) name() string { return "Playout" }

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
	ink    ink
	floor  float64 // the top of the axis is at least this
	of     func(*engine.Sample) float64
	legend func(*engine.Lane) []span
}

func playoutCharts() []playoutChart {
	figure := func(before string, v float64, prec int, after string) []span {
		return []span{{inkDim, before}, {inkValue, fixed(v, prec)}, {inkDim, after}}
	}
	return []playoutChart{
		{"Starved %", true, inkWarn, 10, func(s *engine.Sample) float64 {
			return 100 * float64(s.Starved) / float64(max(s.Displayed, 1))
		}, func(l *engine.Lane) []span { return figure("now ", 100*l.Recent.StarvedRatio, 1, "") }},
		{"Off mm", false, inkBad, 10, func(s *engine.Sample) float64 { return s.PositionErrorMM },
			func(l *engine.Lane) []span { return figure("worst ", l.Recent.PositionErrorMM, 1, "") }},
		{"Turned deg", false, inkRatio, 1, func(s *engine.Sample) float64 { return s.OrientationErrorDeg },
			func(l *engine.Lane) []span { return figure("worst ", worstTurn(l), 1, "") }},
		{"Late /s", false, inkLate, 10, func(s *engine.Sample) float64 { return float64(s.Late) * perSecond },
			func(l *engine.Lane) []span {
				return []span{{inkDim, "so far "}, {inkValue, strconv.FormatInt(l.Totals.Playout.Late, 10)}}
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

// draw draws as many charts side by side as there is room for.
func (p *playoutPane) draw(c *canvas, th *theme, _ bool) {
	list := playoutCharts()
	list = list[:min(max(c.w/playoutWidth, 1), len(list))]
	x := 0
	for i := range list {
		to := c.w * (i + 1) / len(list)
		side := newCanvas(to-x, c.h)
		p.drawChart(side, th, &list[i])
		c.paste(x, 0, side)
		x = to
	}
}

func (p *playoutPane) drawChart(c *canvas, th *theme, k *playoutChart) {
	c.frame(th, false, k.title, fit(headRoom(c.w, k.title), k.legend(&p.lane), nil)...)
	spec := &chart.Spec{Floor: k.floor, Time: true}
	line := chart.Series{Values: series(p.lane.Samples, k.of), Reduce: chart.Max, Ink: chart.Ink(k.ink)}
	if k.share { // a mean over what was shown, as the figure in the heading is
		line.Reduce = chart.Mean
		line.Weights = series(p.lane.Samples, func(s *engine.Sample) float64 { return float64(s.Displayed) })
	}
	spec.Series = []chart.Series{line}
	p.common(spec, th, c.w-2)
	c.blit(1, 1, chart.Draw(spec, c.w-2, max(c.h-2, 0)))
}
