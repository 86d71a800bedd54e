package panes

import (
	"fmt"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/lockstep"
)

// Shadows are further encoders beside the one under the keys, on the same frames
// and the same losses. Each has a sign and a colour, the same wherever it appears:
// that of its place among those that run.

// shadowLines are the lines of the shadows in a chart: dotted, each with its sign
// every so often.
func shadowLines(th *look.Theme, lanes []engine.Lane, of func([]meters.Sample) (values, weights []float64)) []chart.Series {
	var out []chart.Series
	for i := range lanes {
		values, weights := of(lockstep.CaughtUp(&lanes[i]))
		out = append(out, chart.Series{Values: values, Weights: weights, Loose: true, Stroke: chart.Dotted,
			Ink: chart.Ink(look.ShadowInk(i)), Sign: look.ShadowSign(th, i)})
	}
	return out
}

// shadowLegend names the shadows with a figure each, as far as the room goes; of
// those left out it says how many there are.
func shadowLegend(th *look.Theme, room int, first *engine.Lane, lanes []engine.Lane, figure func(*engine.Lane) string) []look.Span {
	var out []look.Span
	for i := range lanes {
		sign := string(look.ShadowSign(th, i))
		full := []look.Span{look.ShadowInk(i).Span("  " + sign + " " + lanes[i].ShortName(first) + " "), look.Value.Span(figure(&lanes[i]))}
		brief := []look.Span{look.ShadowInk(i).Span("  " + sign + " "), look.Value.Span(figure(&lanes[i]))}
		more := look.Dim.Span(fmt.Sprintf("  +%d", len(lanes)-i))
		rest := 0
		if i < len(lanes)-1 {
			rest = look.SpansWidth([]look.Span{more})
		}
		pieces := look.Fit(room-rest, full, brief, nil)
		if pieces == nil {
			return append(out, look.Fit(room, []look.Span{more}, nil)...)
		}
		room -= look.SpansWidth(pieces)
		out = append(out, pieces...)
	}
	return out
}
