package panes

import (
	"fmt"
	"time"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine"
)

// What encoders are compared by is measured over one and the same stretch of time
// for all of them: as far back as all lanes have run, but for the second in which
// the last of them caught up with its first acks, and since the encoder under the
// keys was last swapped.

// WarmUp is how long a lane is not counted after it began or was swapped: its
// first packets rest on the initial state.
const WarmUp = time.Second

// Shadows are further encoders beside the one under the keys, on the same frames
// and the same losses. Each has a sign and a colour, the same wherever it appears:
// that of its place among those that run.

// shadowLines are the lines of the shadows in a chart: dotted, each with its sign
// every so often.
func shadowLines(th *look.Theme, lanes []engine.Lane, how chart.Reduce,
	of func([]engine.Sample) (values, weights []float64)) []chart.Series {
	var out []chart.Series
	for i := range lanes {
		values, weights := of(CaughtUp(&lanes[i]))
		out = append(out, chart.Series{Values: values, Weights: weights, Reduce: how, Loose: true, Stroke: chart.Dotted,
			Ink: chart.Ink(look.ShadowInk(i)), Sign: look.ShadowSign(th, i)})
	}
	return out
}

// CaughtUp returns the samples of a lane without those of its first second, in
// which it sends everything anew: they would set the scale of every chart.
func CaughtUp(l *engine.Lane) []engine.Sample {
	if l.Began == 0 {
		return l.Samples
	}
	n := 0
	for n < len(l.Samples) && l.Samples[n].T <= l.Began+WarmUp {
		n++
	}
	return l.Samples[n:]
}

// shadowLegend names the shadows with a figure each, as far as the room goes; of
// those left out it says how many there are.
func shadowLegend(th *look.Theme, room int, lanes []engine.Lane, figure func(*engine.Lane) string) []look.Span {
	var out []look.Span
	for i := range lanes {
		sign := string(look.ShadowSign(th, i))
		full := []look.Span{look.ShadowInk(i).Span("  " + sign + " " + lanes[i].Encoder + " "), look.Value.Span(figure(&lanes[i]))}
		brief := []look.Span{look.ShadowInk(i).Span("  " + sign + " "), look.Value.Span(figure(&lanes[i]))}
		more := look.Dim.Span(fmt.Sprintf("  +%d", len(lanes)-i))
		rest := 0
		if i < len(lanes)-1 {
			rest = look.SpansWidth([]look.Span{more})
		}
		pieces := look.Fit(room-rest, full, brief, nil)
		if pieces == nil {
			return append(out, more)
		}
		room -= look.SpansWidth(pieces)
		out = append(out, pieces...)
	}
	return out
}
