package panes

import (
	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/lockstep"
	"wirelab/internal/units"
)

// overRunning is the chart of those ratios. The encoder under the keys is 1.
func (p *Charts) overRunning(th *look.Theme) *chart.Spec {
	spec := &chart.Spec{Fit: true}
	for i := range p.shadows {
		values, weights := lockstep.Ratio(&p.shadows[i], &p.Lane)
		spec.Series = append(spec.Series, chart.Series{Values: values, Weights: weights, Loose: len(p.shadows) > 1,
			Stroke: chart.Dotted, Ink: chart.Ink(look.ShadowInk(i)), Sign: look.ShadowSign(th, i)})
	}
	one := series(p.Lane.Samples, func(*meters.Sample) float64 { return 1 })
	spec.Series = append(spec.Series, chart.Series{Values: one, Ink: chart.Ink(look.Payload)})
	return spec
}

// ratioNow is what a shadow sent in the last seconds over what the encoder under the
// keys did.
func (p *Charts) ratioNow(l *engine.Lane) string {
	recent, under := *l, p.Lane
	recent.Samples, under.Samples = meters.Tail(l.Samples, room.RecentSpan), meters.Tail(p.Lane.Samples, room.RecentSpan)
	values, weights := lockstep.Ratio(&recent, &under)
	own, base := 0.0, 0.0
	for i := range values {
		own, base = own+values[i]*weights[i], base+weights[i]
	}
	return units.Fixed(own/base, 3) // nothing over nothing is a dash
}

func (p *Charts) overRunningLegend(th *look.Theme, room int) []look.Span {
	own := []look.Span{look.Payload.Span(look.Strokes(th)[chart.Solid] + " " + p.Lane.Encoder + " "), look.Value.Span("1")}
	return append(own, shadowLegend(th, room-look.SpansWidth(own), &p.Lane, p.shadows, p.ratioNow)...)
}
