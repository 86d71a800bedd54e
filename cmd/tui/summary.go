package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// writeReport tells a person what was measured: a page for one run, a table for
// a sweep.
func writeReport(w io.Writer, r *report.Report) {
	if r.Sweep {
		writeSweep(w, r)
		return
	}
	for _, run := range r.Runs {
		writeRun(w, run)
	}
}

func writeRun(w io.Writer, r *engine.Result) {
	t := r.Totals
	if t.Transfer != nil {
		writeTransfer(w, r)
		return
	}
	fmt.Fprintf(w, "%s, seed %d: %.1f s, %d frames of %s\n\n", title(r), r.Seed, r.DurationS, r.Frames, words.Count(r.ItemsPerFrame, r.Item))
	fmt.Fprintf(w, "payload   %s kbps; on the wire %s, feedback %s\n", figure(t.PayloadKbps), figure(t.WireKbps), figure(t.FeedbackKbps))
	q := &t.PacketBytes
	fmt.Fprintf(w, "packet    %.0f bytes at the median, 95 %% up to %.0f, the largest %.0f\n", q.Of(q.P50), q.Of(q.P95), q.Of(q.Max))
	fmt.Fprintf(w, "per %-5s %s bits", r.Item, figureOf(t.BitsPerItem))
	if t.BitsPerChangedCube != nil {
		fmt.Fprintf(w, "; per changed %s %s", r.Item, figureOf(*t.BitsPerChangedCube))
	}
	fmt.Fprintln(w)
	if said := gauges(&t); len(said) > 0 {
		writeGauges(w, said)
	} else {
		fmt.Fprintf(w, "baseline  %.0f ticks old at the median, 95 %% up to %.0f\n", t.BaselineAgeTicks.P50, t.BaselineAgeTicks.P95)
	}
	if e := t.Rounding; e != nil {
		fmt.Fprintf(w, "rounded   by %.3f on average, %.3f at most (%s)\n", e.Mean, e.Max, e.Field)
	}
	if over, budgeted := t.OverBudgetRatio.Value(); budgeted {
		fmt.Fprintf(w, "budget    exceeded %.1f %% of the time, by the payload of the last second\n", 100*over)
	}
	fmt.Fprintf(w, "packets   %s\n", outcomes(t))
	if t.BitsPerCube != nil {
		writePlayout(w, &t.Playout)
	}
	fmt.Fprintf(w, "age       what was shown was %.0f ms old at the median, 99 %% up to %.0f\n", t.AgeMS.Of(t.AgeMS.P50), t.AgeMS.Of(t.AgeMS.P99))
	if t.Remote != nil {
		writeRemote(w, r.Remote, t.Remote)
	}
	fmt.Fprintf(w, "wrong     %d", t.Wrong)
	if t.Undetected > t.Wrong {
		fmt.Fprintf(w, "; %d frames were off undetected, for want of a checksum", t.Undetected)
	}
	if t.Restarts.Or(0) > 0 {
		fmt.Fprintf(w, "; the sender started over %.0f times", t.Restarts)
	}
	fmt.Fprintln(w)
	mark := r.Timing.Mark()
	fmt.Fprintf(w, "times     encode %s µs%s, decode %s µs%[2]s at the median; %.0[4]f times real time\n",
		figure(r.Timing.EncodeUS.P50), mark, figure(r.Timing.DecodeUS.P50), r.Timing.RealTimeFactor)
	if mark != "" {
		fmt.Fprintf(w, "          %s\n", encoders.TimeNote(r.Timing.RunsAs))
	}
	writeBudget(w, r.Budget)
	writeShadows(w, r)
	fmt.Fprintf(w, "\ndigest %s\n", r.Digest)
}

// writeRemote says what the network told. A report may lack where the far end was.
func writeRemote(w io.Writer, where *engine.Remote, x *figures.Remote) {
	to := "the far end"
	if where != nil {
		to = where.To
	}
	ms := func(q *figures.Quantiles, v float64) string { return q.Of(v).Text(1) }
	fmt.Fprintf(w, "network   to %s: round trip %s ms at the median, 95 %% up to %s; jitter %s ms\n", to, ms(&x.RoundTripMS, x.RoundTripMS.P50),
		ms(&x.RoundTripMS, x.RoundTripMS.P95), x.JitterMS.Text(1))
	fmt.Fprintf(w, "          packets took up to %s ms longer than the fastest, 95 %% up to %s; fates were known after %s ms at the median\n",
		ms(&x.SlowerMS, x.SlowerMS.Max), ms(&x.SlowerMS, x.SlowerMS.P95), ms(&x.ReportedAfterMS, x.ReportedAfterMS.P50))
	if v, known := x.ReportKbps.Value(); known {
		fmt.Fprintf(w, "          the lab's own traffic, apart: %s kbps of reports, %s around the datagrams of the game\n", figure(v),
			figureOf(x.CoverKbps))
	}
	if x.Differs > 0 {
		fmt.Fprintf(w, "          %d arrivals came out otherwise than the same receiver here makes of them\n", x.Differs)
	}
}

// writePlayout says what a person in front of the receiver would have seen.
func writePlayout(w io.Writer, p *figures.Playout) {
	fmt.Fprintf(w, "playout   %.2f %% of display ticks starved, %d snapshots too late", p.StarvedRatio.Times(100), p.Late)
	if p.Freezes > 0 {
		fmt.Fprintf(w, "; %d freezes, the longest %.0f ms", p.Freezes, p.LongestFreezeMS)
	}
	fmt.Fprintf(w, "\nshown     %.0f ms behind the sender", p.BehindMS)
	if e := p.PositionErrorMM; e != nil {
		fmt.Fprintf(w, "; moving cubes off by %.1f mm at the median, 95 %% up to %.1f, the worst %.1f", e.Of(e.P50), e.Of(e.P95),
			e.Of(e.Max))
	}
	fmt.Fprintln(w)
}

// title names a run by what matters most.
func title(r *engine.Result) string {
	return report.SettingOf(r, "data", "source") + " with " + report.SettingOf(r, "encoder", "name")
}

// outcomes lists how packets ended, what never happened left out.
func outcomes(t figures.Totals) string {
	parts := []string{fmt.Sprintf("%d sent", t.Sent), fmt.Sprintf("%d decoded", t.Decoded)}
	add := func(n int64, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(t.Duplicated, "copied")
	add(t.Stale, "stale")
	add(t.Duplicate, "duplicate")
	for _, cause := range slices.Sorted(maps.Keys(t.LostBy)) {
		add(t.LostBy[cause], "lost by "+cause)
	}
	add(t.Failures.NoBaseline, "without baseline")
	add(t.Failures.Corrupt, "corrupt")
	add(t.Failures.UnknownCodec, "of unknown codec")
	add(t.Tainted, "tainted")
	add(t.Unknown, "never heard of")
	add(t.InFlight, "in flight")
	return strings.Join(parts, ", ")
}

// writeBudget says where the bits go: of many fields, the largest shares by name.
func writeBudget(w io.Writer, budget []figures.BudgetShare) {
	if len(budget) == 0 {
		return
	}
	const most = 12
	named := slices.Clone(budget)
	if len(named) > most {
		slices.SortStableFunc(named, func(a, b figures.BudgetShare) int { return cmp.Compare(b.Share, a.Share) })
		named = named[:most-1]
	}
	parts, rest := make([]string, len(named), most), 1.0
	for i, b := range named {
		parts[i] = fmt.Sprintf("%s %.1f %%", b.Name(), 100*b.Share)
		rest -= b.Share
	}
	if n := len(budget) - len(named); n > 0 {
		parts = append(parts, fmt.Sprintf("%d others %.1f %%", n, 100*max(rest, 0)))
	}
	fmt.Fprintf(w, "bits      %s\n", strings.Join(parts, ", "))
}

// writeShadows sets further encoders beside the first.
func writeShadows(w io.Writer, r *engine.Result) {
	if len(r.Shadows) == 0 {
		return
	}
	fmt.Fprint(w, "\nThe same frames and losses:\n")
	g := texttable.New("encoder", ">payload kbps", ">wire kbps", ">p95 bytes", ">decoded", ">failed", ">wrong")
	for name, t := range report.Lanes(r) {
		g.Add(name, t.PayloadKbps, t.WireKbps, fmt.Sprintf("%.0f", t.PacketBytes.P95), t.Decoded, t.Failed(), t.Wrong)
	}
	g.WriteText(w, 0)
}

// writeSweep prints one row for each point of the grid: its place in the sweep, then the cells of what
// was sent, or of what the receiver shows if the sweep is about that.
func writeSweep(w io.Writer, r *report.Report) {
	if len(r.Runs) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(r.Runs[0].Set))
	titles, cells, note := cubeTitles(), cubeCells, ""
	switch first := &r.Runs[0].Totals; {
	case first.Transfer != nil:
		titles, cells = transferTitles(), transferCells
	case slices.Contains(keys, "receiver.playout_delay") || slices.Contains(keys, "receiver.interpolation"):
		titles, cells = playoutTitles(), playoutCells
	case first.BitsPerCube == nil:
		titles, cells, note = itemTable(r)
	}
	g := texttable.New(append(slices.Clone(keys), titles...)...)
	for _, run := range r.Runs {
		g.Add(append([]any{sweepCells(run, keys)}, cells(run)...)...)
	}
	g.WriteText(w, 0)
	fmt.Fprint(w, note)
}

// sweepCells begins a row with a run's place in the sweep.
func sweepCells(run *engine.Result, keys []string) (cells []string) {
	for _, k := range keys {
		cells = append(cells, run.Set[k])
	}
	if run.Interrupted {
		cells[len(cells)-1] += fmt.Sprintf(" (interrupted after %.1f s)", run.DurationS)
	}
	return cells
}

func cubeTitles() []string {
	return []string{">payload kbps", ">wire kbps", ">p95 bytes", ">decoded", ">lost", ">failed", ">starved %", ">wrong"}
}

func cubeCells(run *engine.Result) []any {
	t := &run.Totals
	return []any{t.PayloadKbps, t.WireKbps, fmt.Sprintf("%.0f", t.PacketBytes.P95), t.Decoded, t.Lost, t.Failed(),
		fmt.Sprintf("%.2f", t.Playout.StarvedRatio.Times(100)), t.Wrong}
}

func playoutTitles() []string {
	return []string{">lost", ">starved %", ">freezes", ">longest ms", ">too late", ">behind ms", ">mm p50", ">p95", ">wrong"}
}

func playoutCells(run *engine.Result) []any {
	t, p := &run.Totals, &run.Totals.Playout
	p50, p95 := "-", "-"
	if e := p.PositionErrorMM; e != nil {
		p50, p95 = e.Of(e.P50).Text(1), e.Of(e.P95).Text(1)
	}
	return []any{t.Lost, fmt.Sprintf("%.3f", p.StarvedRatio.Times(100)), p.Freezes, fmt.Sprintf("%.0f", p.LongestFreezeMS), p.Late,
		fmt.Sprintf("%.0f", p.BehindMS), p50, p95, t.Wrong}
}

// itemTable returns the columns of sweeps without cubes: the bits per item, of bytes their share of
// eight, the times, and the gauges of the ends of a protocol; and a note on the times.
func itemTable(r *report.Report) (titles []string, cells func(*engine.Result) []any, note string) {
	item, names := r.Runs[0].Item, gaugeNames(r)
	titles = []string{">bits/" + item}
	if item == "byte" {
		titles = append(titles, ">ratio %")
	}
	titles = append(titles, ">payload kbps", ">wire kbps", ">decoded", ">lost", ">failed", ">wrong", ">encode µs", ">decode µs")
	for _, run := range r.Runs {
		if run.Timing.Mark() != "" {
			note = encoders.TimeNote(run.Timing.RunsAs) + "\n"
		}
	}
	return append(titles, texttable.Numbers(names...)...), func(run *engine.Result) []any {
		t, mark := &run.Totals, run.Timing.Mark()
		row := []any{fmt.Sprintf("%.2f", t.BitsPerItem)}
		if item == "byte" {
			row = append(row, fmt.Sprintf("%.1f", t.BitsPerItem.Times(100.0/8)))
		}
		return append(row, t.PayloadKbps, t.WireKbps, t.Decoded, t.Lost, t.Failed(), t.Wrong,
			fmt.Sprintf("%.1f%s", run.Timing.EncodeUS.P50, mark), fmt.Sprintf("%.1f%s", run.Timing.DecodeUS.P50, mark), gaugeCells(t, names))
	}, note
}

// figure writes a measured number with about four digits.
func figure(v float64) string { return units.Stepped(v, 3, 10, 100, 10000) }

// figureOf is figure for a number that may be missing.
func figureOf(f figures.Figure) string { return f.In(figure, "-") }

// gauges are what the ends of a protocol say of themselves: the sender what both know,
// and what the receiver knows besides.
func gauges(t *figures.Totals) []encoders.Gauge {
	list := slices.Clone(t.Sender)
	for _, g := range t.Receiver {
		if !slices.ContainsFunc(list, func(o encoders.Gauge) bool { return o.Name == g.Name }) {
			list = append(list, g)
		}
	}
	return list
}

// gaugeNames names the gauges of all runs, with their units.
func gaugeNames(r *report.Report) []string {
	var names []string
	for _, run := range r.Runs {
		for _, g := range gauges(&run.Totals) {
			if name := gaugeName(g); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func gaugeName(g encoders.Gauge) string { return strings.TrimSpace(g.Name + " " + g.Unit) }

// gaugeCells are the cells of one run below gaugeNames.
func gaugeCells(t *figures.Totals, names []string) []string {
	cells := slices.Repeat([]string{"-"}, len(names))
	for _, g := range gauges(t) {
		cells[slices.Index(names, gaugeName(g))] = gaugeValue(g)
	}
	return cells
}

// gaugeValue shows a gauge with three digits or more.
func gaugeValue(g encoders.Gauge) string { return units.Significant(g.Value, 3) }

// writeGauges tells what the ends say of themselves in a line.
func writeGauges(w io.Writer, list []encoders.Gauge) {
	parts := make([]string, len(list))
	for i, g := range list {
		parts[i] = strings.TrimSpace(g.Name + " " + gaugeValue(g) + " " + g.Unit)
	}
	fmt.Fprintf(w, "the ends  %s\n", strings.Join(parts, ", "))
}
