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
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
	"wirelab/internal/words"
	"wirelab/lossmodel"
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

// writeRun writes the page of one run: a line for each group of figures, the bit budget, and the
// shadows. Lines without data are omitted.
func writeRun(w io.Writer, r *engine.Result) {
	t := r.Totals
	if t.Transfer != nil {
		writeTransfer(w, r)
		return
	}
	printf(w, "%s, seed %d: %.1f s, %d frames of %s%s\n\n", runTitle(r), r.Seed, r.DurationS, r.Frames, words.Count(r.ItemsPerFrame, r.Item), overLink(r))
	fmt.Fprintf(w, "payload   %s kbps; on the wire %s, feedback %s\n", formatNumber(t.PayloadKbps), formatNumber(t.WireKbps), formatNumber(t.FeedbackKbps))
	q := &t.PacketBytes
	mean := figures.RatioFigure(t.PayloadKbps*1000/8*r.DurationS, float64(t.Sent))
	fmt.Fprintf(w, "packet    mean %s bytes, median %.0f, p95 %.0f, max %.0f\n", formatFigure(mean), q.Of(q.P50), q.Of(q.P95), q.Of(q.Max))
	printf(w, "per %-5s %s bits", r.Item, formatFigure(t.BitsPerItem))
	if t.BitsPerChangedCube != nil && report.CostsPerChange(r) {
		printf(w, "; per changed %s %s", r.Item, formatFigure(*t.BitsPerChangedCube))
	}
	fmt.Fprintln(w)
	if list := allGauges(&t); len(list) > 0 {
		writeGauges(w, list)
	} else {
		ages := &t.BaselineAgeTicks
		fmt.Fprintf(w, "baseline  age: median %.0f ticks, p95 %.0f\n", ages.Of(ages.P50), ages.Of(ages.P95))
	}
	if e := t.Rounding; e != nil {
		printf(w, "rounding  error: mean %.3f, max %.3f (%s)\n", e.Mean, e.Max, e.Field)
	}
	if over, budgeted := t.OverBudgetRatio.Value(); budgeted {
		fmt.Fprintf(w, "budget    exceeded %.1f %% of the time (payload of the last second)\n", 100*over)
	}
	printf(w, "packets   %s\n", outcomes(t))
	for _, f := range r.Traffic {
		roundTrip := f.RTTMS.FormatWith(func(ms float64) string { return fmt.Sprintf(", round trip %.1f ms", ms) }, "")
		printf(w, "traffic   %s: %s Mbit/s%s, %d packets lost\n", f.Label, f.Mbps.Text(2), roundTrip, f.Lost)
	}
	if t.Crowd != nil {
		writeCrowd(w, t.Crowd, r.Timing.TickUS)
	}
	if report.HasPlayout(&t) && t.Crowd == nil {
		writePlayout(w, &t.Playout)
		writeShortDelay(w, r)
	}
	if t.AgeMS.N > 0 {
		fmt.Fprintf(w, "age       of the displayed snapshot: median %.0f ms, p99 %.0f\n", t.AgeMS.P50, t.AgeMS.P99)
	}
	writeTransport(w, &t)
	if t.Remote != nil {
		writeRemote(w, r.Remote, t.Remote)
	}
	fmt.Fprintf(w, "wrong     %d\n", t.Wrong)
	writeTiming(w, &r.Timing)
	writeBudget(w, r.Budget)
	writePrecision(w, r.Precision)
	writeShadows(w, r)
	printf(w, "\ndigest %s\n", r.Digest)
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

// writeRemote writes what was measured on the network. peer is nil in reports that do not name
// the peer.
func writeRemote(w io.Writer, peer *engine.Remote, network *figures.Remote) {
	to := "the peer"
	if peer != nil {
		to = peer.To
	}
	// ms formats v, a quantile of q in milliseconds, with one decimal.
	ms := func(q *figures.Quantiles, v float64) string { return q.Of(v).Text(1) }
	printf(w, "network   to %s: round trip: median %s ms, p95 %s; jitter %s ms\n", to, ms(&network.RoundTripMS, network.RoundTripMS.P50),
		ms(&network.RoundTripMS, network.RoundTripMS.P95), network.JitterMS.Text(1))
	fmt.Fprintf(w, "          delay above the fastest packet: max %s ms, p95 %s; outcomes known after: median %s ms\n",
		ms(&network.SlowerMS, network.SlowerMS.Max), ms(&network.SlowerMS, network.SlowerMS.P95), ms(&network.ReportedAfterMS, network.ReportedAfterMS.P50))
	if v, known := network.ReportKbps.Value(); known {
		fmt.Fprintf(w, "          overhead of the lab, not counted above: %s kbps of reports, %s of headers\n", formatNumber(v),
			formatFigure(network.CoverKbps))
	}
	if network.Differs > 0 {
		fmt.Fprintf(w, "          %d packets had a different outcome at the peer than at the receiver that this machine simulates\n", network.Differs)
	}
}

// writePlayout writes how well the receiver's display could show the snapshots: starved ticks,
// freezes, delay and position errors.
func writePlayout(w io.Writer, p *figures.Playout) {
	fmt.Fprintf(w, "playout   %.2f %% of display ticks starved, %d snapshots late", p.StarvedRatio.Times(100), p.Late)
	if p.Freezes > 0 {
		fmt.Fprintf(w, "; %d freezes, longest %.0f ms", p.Freezes, p.LongestFreezeMS)
	}
	fmt.Fprintln(w)
	if e := p.PositionErrorMM; e != nil {
		fmt.Fprintf(w, "display   position error of moving cubes: median %.1f mm, p95 %.1f, max %.1f\n", e.Of(e.P50), e.Of(e.P95),
			e.Of(e.Max))
	}
	writeTableError(w, "position error of what moves", p.PositionError, p.PositionErrorUnit)
	writeTableError(w, "angle error of what turns", p.AngleError, p.AngleErrorUnit)
	if p.JumpedRows != nil && p.AppearedRows.Or(0)+p.DisappearedRows.Or(0)+p.JumpedRows.Or(0) > 0 {
		fmt.Fprintf(w, "left out  per tick: %s rows not yet displayed, %s still displayed, %s before a jump\n", p.AppearedRows.Text(2),
			p.DisappearedRows.Text(2), p.JumpedRows.Text(2))
	}
}

// writeView writes how a budget was kept and what the receiver showed.
func writeView(w io.Writer, v *figures.View) {
	printf(w, "budget    %s of %s kbps used by %s; %s rows a packet, %s bits a row, %.0f %% full; %d packets over it\n", formatFigure(v.UsedKbps),
		formatNumber(v.LimitKbps), v.Policy, v.RowsPerPacket.Text(1), v.BitsPerRow.Text(1), v.FillRatio.Times(100), v.Over)
	fmt.Fprint(w, "shown     ")
	if v.MeanErrorMM != nil {
		fmt.Fprintf(w, "position error: mean %.0f mm, p95 %.0f", v.MeanErrorMM, v.ErrorMM.Of(v.ErrorMM.P95))
		if v.MeanErrorDeg != nil {
			fmt.Fprintf(w, "; orientation: mean %.1f°", v.MeanErrorDeg)
		}
	} else if v.MeanError != nil {
		fmt.Fprintf(w, "error of a row: mean %.1f steps, p95 %.1f", v.MeanError, v.Error.Of(v.Error.P95))
	}
	fmt.Fprintf(w, "; age of rows: mean %.0f ms, p99 %.0f; longest wait %.0f ms; %s resting rows wrong\n", v.MeanRowAgeMS,
		v.RowAgeMS.Of(v.RowAgeMS.P99), v.LongestWaitMS, v.RestingWrong.Text(1))
}

// writeTransport writes what redundancy repaired and how long reliable messages took; nothing without them.
func writeTransport(w io.Writer, t *figures.Totals) {
	if v := t.View; v != nil {
		writeView(w, v)
	}
	if r := t.Redundancy; r != nil {
		printf(w, "repair    %s: %d packets repaired, %.3f %% never arrived; %.3f %% not within 50 ms, %.3f %% not within 100 ms; costs %s kbps\n",
			r.Policy, r.Repaired, r.ResidualLoss.Times(100), r.Missed50.Times(100), r.Missed100.Times(100), formatNumber(r.OverheadKbps))
	}
	m := t.Messages
	if m == nil {
		return
	}
	printf(w, "messages  %s: %d sent, %d delivered, %d wrong", m.Delivery, m.Sent, m.Delivered, m.Wrong)
	if m.Refused > 0 {
		fmt.Fprintf(w, ", %d refused by the sender", m.Refused)
	}
	for _, q := range []struct {
		name  string
		times *figures.Quantiles
	}{{"delivery", &m.DeliveryMS}, {"bursts", &m.BurstMS}} {
		if q.times.N > 0 {
			fmt.Fprintf(w, "; %s: median %.0f ms, p99 %.0f, max %.0f", q.name, q.times.P50, q.times.P99, q.times.Max)
		}
	}
	fmt.Fprintln(w)
}

// writeTableError writes the error of a kind of interpolated values of a table, with its unit, as the next part of a
// line; nothing if it was not measured. q may be nil.
func writeTableError(w io.Writer, what string, q *figures.Quantiles, unit string) {
	if q != nil && q.N > 0 {
		printf(w, "display   %s: median %s %s, p95 %s, max %s\n", what, units.Significant(q.P50, 3), unit, units.Significant(q.P95, 3), units.Significant(q.Max, 3))
	}
}

// runTitle names a run by its data and its encoder.
func runTitle(r *engine.Result) string {
	return report.SettingOf(r, "data", "source") + " with " + report.SettingOf(r, "encoder", "name")
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

// outcomes lists the number of packets with each outcome. Apart from sent and decoded, zeros are
// left out.
func outcomes(t figures.Totals) string {
	parts := []string{fmt.Sprintf("%d sent", t.Sent), fmt.Sprintf("%d decoded", t.Decoded)}
	add := func(n int64, outcome string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	add(t.Duplicated, "copied")
	add(t.Stale, "stale")
	add(t.Duplicate, "duplicate")
	for cause, n := range t.LostBy {
		add(n, "lost by "+lossmodel.Cause(cause).String())
	}
	add(t.Failures.NoBaseline, "without baseline")
	add(t.Failures.Corrupt, "corrupt")
	add(t.Failures.UnknownCodec, "with an unknown codec")
	add(t.Unknown, "with unknown outcome")
	add(t.InFlight, "in flight")
	return strings.Join(parts, ", ")
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
	g := texttable.New("encoder", ">payload kbps", ">wire kbps", ">p95 bytes", ">decoded", ">failed", ">wrong")
	for name, t := range report.Lanes(r) {
		g.Add(name, t.PayloadKbps, t.WireKbps, fmt.Sprintf("%.0f", t.PacketBytes.P95), t.Decoded, t.Failed(), t.Wrong)
	}
	g.WriteText(w, anyWidth)
	if c := r.Comparison; c != nil && c.Budgets != nil {
		printf(w, "\nUnder a budget, %s:\n", c.Budgets.Period(1))
		report.BudgetTable(c.Budgets).WriteText(w, anyWidth)
		for _, sentence := range c.Budgets.Findings() {
			printf(w, "%s\n", sentence)
		}
	}
}

// writeSweep writes a table with one row per run: the settings of the sweep, then figures of what
// was sent or, if the sweep varies playout settings, of what the receiver displays.
func writeSweep(w io.Writer, r *report.Report) {
	if len(r.Runs) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(r.Runs[0].Set))
	titles, cells, note := cubeTitles(), cubeCells, ""
	switch first := &r.Runs[0].Totals; {
	case first.Transfer != nil:
		titles, cells = transferTitles(), transferCells
	case slices.Contains(keys, "receiver.playout_delay") || slices.Contains(keys, "receiver.playout") || slices.Contains(keys, "receiver.interpolation"):
		titles, cells = playoutTitles(first), playoutCells
	case first.BitsPerCube == nil:
		titles, cells, note = itemTable(r)
	}
	g := texttable.New(append(slices.Clone(keys), titles...)...)
	for _, run := range r.Runs {
		g.Add(append([]any{sweepCells(run, keys)}, cells(run)...)...)
	}
	g.WriteText(w, anyWidth)
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

// cubeTitles returns the column titles of cubeCells. As in all titles, a leading ">" aligns the
// column to the right.
func cubeTitles() []string {
	return []string{">payload kbps", ">wire kbps", ">p95 bytes", ">decoded", ">lost", ">failed", ">starved %", ">wrong"}
}

// cubeCells returns the figures of one run over cube data, in the columns of cubeTitles.
func cubeCells(run *engine.Result) []any {
	t := &run.Totals
	return []any{t.PayloadKbps, t.WireKbps, fmt.Sprintf("%.0f", t.PacketBytes.P95), t.Decoded, t.Lost, t.Failed(),
		fmt.Sprintf("%.2f", t.Playout.StarvedRatio.Times(100)), t.Wrong}
}

// playoutTitles returns the column titles of playoutCells. The errors of cubes are in millimetres, those of tables in the
// unit of their positions.
func playoutTitles(t *figures.Totals) []string {
	unit := "mm"
	if t.Playout.PositionError != nil {
		unit = t.Playout.PositionErrorUnit
	}
	return []string{">lost", ">starved %", ">freezes", ">longest ms", ">late", ">age p50 ms", strings.TrimSpace(">error p50 " + unit), strings.TrimSpace(">p95 " + unit), ">wrong"}
}

// playoutCells returns the figures of the receiver's display in one run, in the columns of
// playoutTitles; "-" for position errors that were not measured.
func playoutCells(run *engine.Result) []any {
	t, p := &run.Totals, &run.Totals.Playout
	p50, p95 := "-", "-"
	if e := p.PositionErrorMM; e != nil {
		p50, p95 = e.Of(e.P50).Text(1), e.Of(e.P95).Text(1)
	} else if e := p.PositionError; e != nil && e.N > 0 {
		p50, p95 = units.Significant(e.P50, 3), units.Significant(e.P95, 3)
	}
	return []any{t.Lost, fmt.Sprintf("%.3f", p.StarvedRatio.Times(100)), p.Freezes, fmt.Sprintf("%.0f", p.LongestFreezeMS), p.Late,
		t.AgeMS.Of(t.AgeMS.P50).Text(0), p50, p95, t.Wrong}
}

// itemTable returns the columns of sweeps without cubes: bits per item, for bytes also the
// compressed size in percent, starvation if any run measured it, encode and decode times, and the gauges of the endpoints. cells
// returns the row of one run. note is the footnote of the mark that some times have (times of an
// encoder that runs emulated, for example); it is empty if no time has a mark.
func itemTable(r *report.Report) (titles []string, cells func(*engine.Result) []any, note string) {
	item, names := r.Runs[0].Item, gaugeNames(r)
	titles = []string{">bits/" + item}
	if item == "byte" {
		titles = append(titles, ">ratio %")
	}
	titles = append(titles, ">payload kbps", ">wire kbps", ">decoded", ">lost", ">failed")
	hasPlayout := slices.ContainsFunc(r.Runs, func(run *engine.Result) bool { return report.HasPlayout(&run.Totals) })
	if hasPlayout {
		titles = append(titles, ">starved %")
	}
	titles = append(titles, ">wrong", ">encode µs", ">decode µs")
	for _, run := range r.Runs {
		if run.Timing.Mark() != "" {
			note = encoders.TimeFootnote(run.Timing.RunsAs) + "\n"
		}
	}
	return append(titles, texttable.Numbers(names...)...), func(run *engine.Result) []any {
		t, mark := &run.Totals, run.Timing.Mark()
		row := []any{fmt.Sprintf("%.2f", t.BitsPerItem)}
		if item == "byte" {
			row = append(row, fmt.Sprintf("%.1f", t.BitsPerItem.Times(100.0/8))) // compressed size in percent of the raw 8 bits of a byte
		}
		row = append(row, t.PayloadKbps, t.WireKbps, t.Decoded, t.Lost, t.Failed())
		if hasPlayout {
			row = append(row, t.Playout.StarvedRatio.Times(100).Text(2))
		}
		return append(row, t.Wrong,
			fmt.Sprintf("%.1f%s", run.Timing.EncodeUS.P50, mark), fmt.Sprintf("%.1f%s", run.Timing.DecodeUS.P50, mark), gaugeCells(t, names))
	}, note
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
