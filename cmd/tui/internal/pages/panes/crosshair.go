package panes

import (
	"slices"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// LanesAt returns copies of lanes as they were at time t: with the samples up to t, and the figures of the two seconds
// before it. tickHz is the tick rate of the source.
func LanesAt(lanes []engine.Lane, t time.Duration, tickHz int) []engine.Lane {
	out := slices.Clone(lanes)
	for i := range out {
		out[i].Samples = meters.Between(out[i].Samples, 0, t)
		out[i].Recent = meters.RecentOf(out[i].Samples, tickHz)
	}
	return out
}

// AddCrosshair adds the crosshair at time t to a chart whose values are samples. t is 0 without a crosshair.
func AddCrosshair(s *chart.Spec, t time.Duration) {
	if t > 0 {
		s.Crosshair = &chart.Crosshair{At: int64(t/meters.SamplePeriod) - 1, Label: look.FormatTime(t), Style: chart.Style(look.Key)}
	}
}

// FiguresAt names the instant of the figures in a legend: the crosshair, or "now" without one.
func FiguresAt(crosshair time.Duration) string {
	if crosshair > 0 {
		return "at " + look.FormatTime(crosshair)
	}
	return "now"
}

// atCrosshair returns the charts whose figures are those at the crosshair, for the legends; p without a crosshair.
func (p *Charts) atCrosshair() *Charts {
	if p.crosshair == 0 {
		return p
	}
	tickHz := 0
	if p.schema != nil {
		tickHz = p.schema.TickHz
	}
	cut := *p
	lanes := LanesAt(append([]engine.Lane{p.Lane}, p.shadows...), p.crosshair, tickHz)
	cut.Lane, cut.shadows = lanes[0], lanes[1:]
	return &cut
}
