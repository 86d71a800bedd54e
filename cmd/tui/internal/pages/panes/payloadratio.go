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

// payloadRatioSpec returns the chart of RatioChart: the payload of each shadow divided by that of the
// active encoder, which is the line at 1.
func (p *Charts) payloadRatioSpec(th *look.Theme) *chart.Spec {
	spec := &chart.Spec{Fit: true}
	for i := range p.shadows {
		values, weights := lockstep.RatioBySample(&p.shadows[i], &p.Lane)
		spec.Series = append(spec.Series, chart.Series{Values: values, Weights: weights, Loose: len(p.shadows) > 1,
			Stroke: chart.Dotted, Style: chart.Style(look.ShadowStyle(i)), Marker: look.ShadowSymbol(th, i)})
	}
	activeRatio := mapSamples(p.Lane.Samples, func(*meters.Sample) float64 { return 1 })
	spec.Series = append(spec.Series, chart.Series{Values: activeRatio, Style: chart.Style(look.Payload)})
	return spec
}

// recentRatio returns the payload of lane l divided by that of the active encoder, over
// room.RecentSpan and on the same frames, "-" without data.
func (p *Charts) recentRatio(l *engine.Lane) string {
	recent, active := *l, p.Lane
	recent.Samples, active.Samples = meters.Tail(l.Samples, room.RecentSpan), meters.Tail(p.Lane.Samples, room.RecentSpan)
	values, weights := lockstep.RatioBySample(&recent, &active)
	laneSum, activeSum := 0.0, 0.0 // the weight of a ratio is the payload of the active encoder
	for i := range values {
		laneSum, activeSum = laneSum+values[i]*weights[i], activeSum+weights[i]
	}
	return units.Fixed(laneSum/activeSum, 3) // formats 0/0 as "-"
}

// payloadRatioLegend returns the active encoder and the ratios of the shadows.
func (p *Charts) payloadRatioLegend(th *look.Theme, maxWidth int) []look.Span {
	own := []look.Span{look.Payload.Span(look.LineSamples(th)[chart.Solid] + " " + p.Lane.Encoder + " "), look.Value.Span("1")}
	return append(own, shadowLegend(th, maxWidth-look.SpansWidth(own), &p.Lane, p.shadows, p.recentRatio)...)
}
