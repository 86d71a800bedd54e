package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// writeReport writes the results as text: a page for a single run, a table for a sweep.
func writeReport(w io.Writer, r *report.Report) {
	if r.Sweep {
		writeSweep(w, r)
		return
	}
	for _, run := range r.Runs {
		writeRun(w, run)
	}
}

// writeRun writes the page of one run: its main figures, the bit budget, and the shadows. What the run does not have is
// left out.
func writeRun(w io.Writer, r *engine.Result) {
	t := &r.Totals
	if x := t.Transfer; x != nil {
		printf(w, "%s, seed %d: %.1f s, a file of %d bytes for a receiver with an old version of %d bytes\n\n", runTitle(r), r.Seed,
			r.DurationS, x.NewBytes, x.OldBytes)
		fmt.Fprintf(w, "time      %s\n", transferStatus(x))
	} else {
		printf(w, "%s, seed %d: %.1f s, %d frames of %s%s\n\n", runTitle(r), r.Seed, r.DurationS, r.Frames,
			words.Count(r.ItemsPerFrame, r.Item), overLink(r))
	}
	report.MainFigures(r).WriteText(w, anyWidth)
	fmt.Fprintln(w)
	if len(r.Stretches) > 0 {
		var names [][]string
		for _, name := range meters.StretchNames(r.Stretches) {
			names = append(names, []string{name})
		}
		fmt.Fprintln(w, "from change to change of the encoder or the link:")
		report.FigureTable([]string{"encoder"}, names, figures.Listed, r.Stretches).WriteText(w, anyWidth)
		fmt.Fprintln(w)
	}
	if list := allGauges(t); len(list) > 0 {
		writeGauges(w, list)
	}
	for _, f := range r.Traffic {
		roundTrip := f.RTTMS.FormatWith(func(ms float64) string { return fmt.Sprintf(", round trip %.1f ms", ms) }, "")
		printf(w, "traffic   %s: %s Mbit/s%s, %d packets lost\n", f.Label, f.Mbps.Text(2), roundTrip, f.Lost)
	}
	if t.Crowd != nil {
		writeCrowd(w, t.Crowd, r.Timing.TickUS)
	} else {
		writeShortDelay(w, r)
	}
	writeTiming(w, &r.Timing)
	writeBudget(w, r.Budget)
	writePrecision(w, r.Precision)
	writeShadows(w, r)
	printf(w, "\ndigest %s\n", r.Digest)
}

// transferStatus describes how long the transfer took or, if it is incomplete, how much of it was
// delivered.
func transferStatus(x *figures.Transfer) string {
	switch {
	case x.TimeS != nil:
		return fmt.Sprintf("%.3f s from the first datagram to the rebuilt file, SHA-256 %.16s...", *x.TimeS, x.SHA256)
	case x.Blocks == 0:
		return "unfinished: the patch was not yet made"
	case x.Failed:
		return fmt.Sprintf("unfinished: after %.3f s all blocks had arrived, but the file was damaged on the way", x.ElapsedS)
	}
	return fmt.Sprintf("unfinished: %d of %d blocks were delivered after %.3f s", x.Delivered, x.Blocks, x.ElapsedS)
}

// writeShortDelay writes a line if snapshots were missing because the playout delay is shorter than their interval.
func writeShortDelay(w io.Writer, r *engine.Result) {
	t := &r.Totals
	delay, err := time.ParseDuration(report.SettingOf(r, "receiver", "playout_delay"))
	isStarved := t.Playout.StarvedRatio.Or(0) > 0.1
	if err != nil || !isStarved || t.Sent == 0 {
		return
	}
	delayMS := 1000 * delay.Seconds()
	intervalMS := 1000 * r.DurationS / float64(t.Sent)
	const roundingMS = 1 // logs have times in whole milliseconds, so that their mean interval may differ by this
	if intervalMS > delayMS+roundingMS {
		// Three intervals cover two consecutive losses.
		fmt.Fprintf(w, "starved   the playout delay of %v is shorter than the %.0f ms between snapshots; "+
			"try --set receiver.playout_delay=%.0fms\n", delay, intervalMS, 3*intervalMS)
	}
}

// writeTiming writes the times of encoder and decoder, with a footnote for a plugin.
func writeTiming(w io.Writer, t *figures.Timing) {
	mark := t.Mark()
	fmt.Fprintf(w, "times     median: encode %s µs%s, decode %s µs%[2]s; run at %.0[4]f times real time\n",
		formatMicroseconds(&t.EncodeUS), mark, formatMicroseconds(&t.DecodeUS), t.RealTimeFactor)
	if mark != "" {
		printf(w, "          %s\n", encoders.TimeFootnote(t.RunsAs))
	}
}

// writeCrowd writes the figures of a crowd: its encodings, the durations of a tick, and quantiles over clients. timing is
// nil if nothing was timed.
func writeCrowd(w io.Writer, c *figures.Crowd, timing *figures.CrowdTiming) {
	fmt.Fprintf(w, "crowd     %s, %s encodings a tick, at most %d", words.Count(c.Clients, "client"), c.EncodingsPerTick.Text(1), c.MaxEncodings)
	if c.UplinkPeakMS != nil {
		fmt.Fprintf(w, "; longest wait for the uplink %.1f ms", c.UplinkPeakMS)
	}
	fmt.Fprintln(w)
	if timing != nil {
		fmt.Fprint(w, "tick      on one core: ")
		if timing.ChooseUS != nil {
			fmt.Fprintf(w, "choose rows %.0f µs, ", timing.ChooseUS)
		}
		fmt.Fprintf(w, "encode %.0f µs, server %.0f, clients and links %.0f, decode once %.0f; elapsed: median %.0f µs, p99 %.0f\n",
			timing.EncodeUS, timing.ServerUS, timing.ClientsUS, timing.DecodeUS, timing.ElapsedUS.P50, timing.ElapsedUS.P99)
	}
	fmt.Fprintln(w)
	plain := len(figures.ClientFieldsOf(nil))
	writeQuantiles(w, c, c.Fields()[:plain])
	writeQuantiles(w, c, c.Fields()[plain:])
}

// writeQuantiles writes a table of the quantiles of some figures over clients; nothing without figures.
func writeQuantiles(w io.Writer, c *figures.Crowd, fields []figures.ClientField) {
	if len(fields) == 0 {
		return
	}
	titles := []string{"clients"}
	for _, field := range fields {
		titles = append(titles, ">"+field.Label())
	}
	g := texttable.New(titles...)
	for _, q := range c.Quantiles() {
		row := []string{q.Name}
		for _, field := range fields {
			row = append(row, field.Text(q.CrowdClient))
		}
		g.Add(row)
	}
	g.WriteText(w, anyWidth)
	fmt.Fprintln(w)
}

// runTitle names a run by its data and its encoder.
func runTitle(r *engine.Result) string {
	return report.SettingOf(r, "data", "source") + " with " + r.Encoders()
}

// overLink describes the links of a run, for its title; "" if they are not known.
func overLink(r *engine.Result) string {
	c, err := r.Config.Config("")
	isOther := r.Totals.Crowd != nil || r.Totals.Remote != nil // each client has links of its own, or there is a network
	if err != nil || isOther {
		return ""
	}
	text := c.LinkText()
	switch {
	case text != "perfect":
		return " over " + text
	case len(r.Changes) > 0:
		return " over a perfect link at first"
	}
	return " over a perfect link: no loss, no delay; try --profile unity-4g"
}

// writeBudget writes the bit budget in one line, each entry with its share. If it has more than
// maxShown entries, the smallest are summed up as "others".
func writeBudget(w io.Writer, budget []figures.BudgetShare) {
	if len(budget) == 0 {
		return
	}
	const maxShown = 12
	named := slices.Clone(budget)
	if len(named) > maxShown {
		slices.SortStableFunc(named, func(a, b figures.BudgetShare) int { return cmp.Compare(b.Share, a.Share) })
		named = named[:maxShown-1]
	}
	parts, rest := make([]string, len(named), maxShown), 1.0 // rest is the share of the entries that are not listed
	for i, b := range named {
		parts[i] = fmt.Sprintf("%s %.1f %%", b.Name(), 100*b.Share)
		rest -= b.Share // shares of the whole budget add up to 1
	}
	if n := len(budget) - len(named); n > 0 {
		parts = append(parts, fmt.Sprintf("%d others %.1f %%", n, 100*max(rest, 0)))
	}
	printf(w, "bits      %s\n", strings.Join(parts, ", "))
}

// writeShadows writes a table that compares the encoder with its shadows.
func writeShadows(w io.Writer, r *engine.Result) {
	if len(r.Shadows) == 0 {
		return
	}
	fmt.Fprint(w, "\nThe same frames and losses:\n")
	var names [][]string
	var totals []*figures.Totals
	for name, t := range report.Lanes(r) {
		if x := t.Transfer; x != nil && x.Encoder != "" { // the encoder was changed during the run
			name = x.Encoder
		}
		names, totals = append(names, []string{name}), append(totals, t)
	}
	report.FigureTable([]string{"encoder"}, names, figures.Narrow, totals).WriteText(w, anyWidth)
	if c := r.Comparison; c != nil && c.Budgets != nil {
		printf(w, "\nUnder a budget, %s:\n", c.Budgets.Period(1))
		report.BudgetTable(c.Budgets).WriteText(w, anyWidth)
		for _, sentence := range c.Budgets.Findings() {
			printf(w, "%s\n", sentence)
		}
	}
}

// writeSweep writes a table with one row per run: the settings of the sweep, the figures, the times of encoder and decoder,
// and the gauges of the endpoints.
func writeSweep(w io.Writer, r *report.Report) {
	if len(r.Runs) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(r.Runs[0].Set))
	var names [][]string
	var totals []*figures.Totals
	for _, run := range r.Runs {
		names, totals = append(names, sweepCells(run, keys)), append(totals, &run.Totals)
	}
	t, gauges, note := report.FigureTable(slices.Clone(keys), names, figures.Narrow, totals), gaugeNames(r), ""
	for _, title := range append([]string{"encode µs", "decode µs"}, gauges...) {
		t.Heads = append(t.Heads, texttable.Head{Text: title, Number: true})
	}
	for i, run := range r.Runs {
		mark := run.Timing.Mark()
		if mark != "" {
			note = encoders.TimeFootnote(run.Timing.RunsAs) + "\n"
		}
		cells := []string{formatMicroseconds(&run.Timing.EncodeUS) + mark, formatMicroseconds(&run.Timing.DecodeUS) + mark}
		for _, cell := range append(cells, gaugeCells(&run.Totals, gauges)...) {
			t.Rows[i] = append(t.Rows[i], texttable.Cell{Text: cell})
		}
	}
	t.WriteText(w, anyWidth)
	fmt.Fprint(w, note)
}

// sweepCells returns the first cells of a row: the run's value of each key of the sweep. The last
// cell also reports an interruption.
func sweepCells(run *engine.Result, keys []string) (cells []string) {
	for _, k := range keys {
		cells = append(cells, run.Set[k])
	}
	if run.Interrupted {
		cells[len(cells)-1] += fmt.Sprintf(" (interrupted after %.1f s)", run.DurationS)
	}
	return cells
}

// formatNumber formats a measured number with about four digits: 3 decimals below 10, 2 below
// 100, 1 below 10000, else none.
func formatNumber(v float64) string { return units.Stepped(v, 3, 10, 100, 10000) }

// formatMicroseconds formats the median of codec times in microseconds, "-" if no time was measured.
func formatMicroseconds(q *figures.Quantiles) string {
	if q.N == 0 || q.P50 == 0 {
		return "-"
	}
	return formatNumber(q.P50)
}

// formatFigure formats a figure as formatNumber does, or as "-" if it has no value.
func formatFigure(f figures.Figure) string { return f.FormatWith(formatNumber, "-") }

// allGauges returns the gauges of the sender, and those of the receiver that the sender does not
// have. A gauge is a figure that an encoder or decoder reports about itself, such as its memory.
func allGauges(t *figures.Totals) []encoders.Gauge {
	list := slices.Clone(t.Sender)
	for _, g := range t.Receiver {
		if !slices.ContainsFunc(list, func(o encoders.Gauge) bool { return o.Name == g.Name }) {
			list = append(list, g)
		}
	}
	return list
}

// gaugeNames returns the column titles of all gauges in all runs, each once.
func gaugeNames(r *report.Report) []string {
	var names []string
	for _, run := range r.Runs {
		for _, g := range allGauges(&run.Totals) {
			if name := gaugeName(g); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// gaugeName returns name and unit of a gauge.
func gaugeName(g encoders.Gauge) string { return strings.TrimSpace(g.Name + " " + g.Unit) }

// gaugeCells returns the values of one run in the columns of gaugeNames, "-" where a value is
// missing.
func gaugeCells(t *figures.Totals, names []string) []string {
	cells := slices.Repeat([]string{"-"}, len(names))
	for _, g := range allGauges(t) {
		cells[slices.Index(names, gaugeName(g))] = gaugeValue(g)
	}
	return cells
}

// gaugeValue formats a gauge with at least three significant digits.
func gaugeValue(g encoders.Gauge) string { return units.Significant(g.Value, 3) }

// writeGauges writes the gauges in one line.
func writeGauges(w io.Writer, list []encoders.Gauge) {
	parts := make([]string, len(list))
	for i, g := range list {
		parts[i] = strings.TrimSpace(g.Name + " " + gaugeValue(g) + " " + g.Unit)
	}
	printf(w, "gauges    %s\n", strings.Join(parts, ", "))
}
