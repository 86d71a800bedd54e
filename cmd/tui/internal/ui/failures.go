package ui

import (
	"strconv"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/experiment"
)

// failure is one way in which packets that arrived were of no use: how often it
// happened so far, and in a second of the last two.
type failure struct {
	outcome experiment.Outcome
	stroke  chart.Stroke
	total   int64
	rate    float64
}

// failures lists the ways to fail, gravest last. Tainted packets are among them:
// without a checksum damage is not noticed, yet it is damage.
func failures(lane *experiment.Lane) []failure {
	f := lane.Totals.Failures
	list := []failure{
		{experiment.NoBaseline, chart.Solid, f.NoBaseline, 0},
		{experiment.Corrupt, chart.Dashed, f.Corrupt, 0},
		{experiment.Tainted, chart.Dotted, lane.Totals.Tainted, 0},
		{experiment.UnknownCodec, chart.Dotted, f.UnknownCodec, 0},
	}
	recent := lane.Samples[max(len(lane.Samples)-int(recentSpan/experiment.SamplePeriod), 0):]
	for i := range list {
		n := 0
		for j := range recent {
			n += recent[j].Outcomes[list[i].outcome]
		}
		list[i].rate = float64(n) / recentSpan.Seconds()
	}
	return list
}

// failedSoFar is the sum of all ways to fail.
func failedSoFar(t *experiment.Totals) int64 {
	return t.Failures.NoBaseline + t.Failures.Corrupt + t.Failures.UnknownCodec + t.Tainted
}

// outcomeShort is outcomeWord where room is scarce.
func outcomeShort(o experiment.Outcome) string {
	switch o {
	case experiment.NoBaseline:
		return "no base"
	case experiment.UnknownCodec:
		return "codec"
	case experiment.Duplicate:
		return "copy"
	}
	return outcomeWord(o)
}

// failureLegend names the ways to fail with their rates: those that occurred in
// any case, in as many words as there are columns for, and as many of the others
// as fit.
func failureLegend(th *theme, list []failure, room int) []span {
	var occurred []failure
	var others [][]span
	total := int64(0)
	for _, f := range list {
		if total += f.total; f.total > 0 {
			occurred = append(occurred, f)
		}
	}
	for _, f := range list {
		if f.total == 0 {
			others = append(others, failureSpans(th, []failure{f}, outcomeShort, len(others)+len(occurred) == 0))
		}
	}
	if total == 0 {
		return uncut(room, others)
	}
	soFar := []span{{inkDim, "  " + strconv.FormatInt(total, 10) + " so far"}}
	mute := func(experiment.Outcome) string { return "" }
	known := fit(room-spansWidth(soFar), failureSpans(th, occurred, outcomeWord, true), failureSpans(th, occurred, outcomeShort, true))
	if spansWidth(known)+spansWidth(soFar) > room {
		return fit(room, known, failureSpans(th, occurred, mute, true))
	}
	known = append(known, uncut(room-spansWidth(known)-spansWidth(soFar), others)...)
	return append(known, soFar...)
}

// failureSpans writes ways to fail one after the other; the first of a line has
// no gap before it.
func failureSpans(th *theme, list []failure, word func(experiment.Outcome) string, first bool) []span {
	var out []span
	for i, f := range list {
		sign := strokes(th)[f.stroke] + " " + string(th.outcome[f.outcome]) + " "
		if name := word(f.outcome); name != "" {
			sign += name + " "
		}
		if i > 0 || !first {
			sign = "  " + sign
		}
		out = append(out, span{outcomeInk(f.outcome), sign}, span{inkValue, fixed(f.rate, 1)})
	}
	return out
}
