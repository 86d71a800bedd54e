package panes

import (
	"strconv"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/units"
)

// failure counts the packets that arrived but failed with one outcome.
type failure struct {
	outcome packetlog.Outcome
	stroke  chart.Stroke
	total   int64   // packets in the whole run
	rate    float64 // packets per second, over room.RecentSpan or, if Charts.OfRun is set, over the run
}

// failureStats returns the failures of the active encoder by outcome, in the order of the legend.
func (p *Charts) failureStats() []failure {
	lane := &p.Lane
	f := lane.Totals.Failures
	list := []failure{
		{outcome: packetlog.NoBaseline, stroke: chart.Solid, total: f.NoBaseline},
		{outcome: packetlog.Corrupt, stroke: chart.Dashed, total: f.Corrupt},
		{outcome: packetlog.UnknownCodec, stroke: chart.Dotted, total: f.UnknownCodec},
	}
	recent := meters.Tail(lane.Samples, room.RecentSpan)
	for i := range list {
		if p.OfRun {
			list[i].rate = float64(list[i].total) * room.PerSecond / float64(max(p.numSamples, 1))
			continue
		}
		n := int64(0)
		for j := range recent {
			n += *list[i].outcome.In(&recent[j].Counts)
		}
		list[i].rate = float64(n) * room.PerSecond / float64(max(len(recent), 1))
	}
	return list
}

// failureLegend returns the outcomes with their rates in at most maxWidth columns, and the total of
// the run. Outcomes that occurred are always listed, with the longest names that fit: full, short or
// none; the total and the other outcomes only if they fit.
func failureLegend(th *look.Theme, list []failure, maxWidth int) []look.Span {
	var occurred []failure
	var others [][]look.Span
	total := int64(0)
	for _, f := range list {
		total += f.total
		if f.total > 0 {
			occurred = append(occurred, f)
		}
	}
	for _, f := range list {
		if f.total == 0 {
			others = append(others, failureSpans(th, []failure{f}, look.ShortOutcomeName, len(others)+len(occurred) == 0))
		}
	}
	if total == 0 {
		return look.FitGroups(maxWidth, others)
	}
	totalSpans := []look.Span{look.Dim.Span("  " + strconv.FormatInt(total, 10) + " in total")}
	noName := func(packetlog.Outcome) string { return "" }
	const isFirst = true
	legend := look.Fit(maxWidth-look.SpansWidth(totalSpans), failureSpans(th, occurred, look.OutcomeName, isFirst),
		failureSpans(th, occurred, look.ShortOutcomeName, isFirst))
	if look.SpansWidth(legend)+look.SpansWidth(totalSpans) > maxWidth { // no room for the total
		return look.Fit(maxWidth, legend, failureSpans(th, occurred, noName, isFirst))
	}
	legend = append(legend, look.FitGroups(maxWidth-look.SpansWidth(legend)-look.SpansWidth(totalSpans), others)...)
	return append(legend, totalSpans...)
}

// failureSpans returns marker, name and rate per second of each failure. nameOf returns the name of an
// outcome, "" to omit it. isFirst means that nothing precedes the list in the legend, so that no gap is needed.
func failureSpans(th *look.Theme, list []failure, nameOf func(packetlog.Outcome) string, isFirst bool) []look.Span {
	var out []look.Span
	for i, f := range list {
		label := look.LineSamples(th)[f.stroke] + " " + string(th.Outcome[f.outcome]) + " "
		if name := nameOf(f.outcome); name != "" {
			label += name + " "
		}
		if i > 0 || !isFirst {
			label = "  " + label
		}
		out = append(out, look.OutcomeStyle(f.outcome).Span(label), look.Value.Span(units.Fixed(f.rate, 1)))
	}
	return out
}
