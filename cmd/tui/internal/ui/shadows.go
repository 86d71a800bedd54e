package ui

import (
	"fmt"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/experiment"
)

// Shadows are further encoders beside the one under the keys, on the same frames
// and the same losses. Each has a sign and a colour, the same wherever it appears:
// that of its place among those that run.

// shadowLines are the lines of the shadows in a chart: dotted, each with its sign
// every so often.
func shadowLines(th *theme, lanes []experiment.Lane, how chart.Reduce, of func([]experiment.Sample) (values, weights []float64)) []chart.Series {
	var out []chart.Series
	for i := range lanes {
		values, weights := of(settled(&lanes[i]))
		out = append(out, chart.Series{Values: values, Weights: weights, Reduce: how, Loose: true, Stroke: chart.Dotted, Ink: chart.Ink(shadowInk(i)), Sign: shadowSign(th, i)})
	}
	return out
}

// settled are the samples of a lane but for those in which it caught up: what it
// sent then tells of its coming, not of it, and would dwarf the rest.
func settled(l *experiment.Lane) []experiment.Sample {
	if l.Began == 0 {
		return l.Samples
	}
	n := 0
	for n < len(l.Samples) && l.Samples[n].T <= l.Began+warmUp {
		n++
	}
	return l.Samples[n:]
}

// shadowLegend names the shadows with a figure each, as far as the room goes; of
// those left out it says how many there are.
func shadowLegend(th *theme, room int, lanes []experiment.Lane, figure func(*experiment.Lane) string) []span {
	var out []span
	for i := range lanes {
		sign := string(shadowSign(th, i))
		full := []span{{shadowInk(i), "  " + sign + " " + lanes[i].Encoder + " "}, {inkValue, figure(&lanes[i])}}
		brief := []span{{shadowInk(i), "  " + sign + " "}, {inkValue, figure(&lanes[i])}}
		more := span{inkDim, fmt.Sprintf("  +%d", len(lanes)-i)}
		rest := 0
		if i < len(lanes)-1 {
			rest = spansWidth([]span{more})
		}
		pieces := fit(room-rest, full, brief, nil)
		if pieces == nil {
			return append(out, more)
		}
		room -= spansWidth(pieces)
		out = append(out, pieces...)
	}
	return out
}
