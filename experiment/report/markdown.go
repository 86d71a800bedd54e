package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
	"wirelab/internal/words"

	"github.com/guptarohit/asciigraph"
)

// writeMarkdown writes the page for people: what was run, what came out, and the
// charts as text.
func writeMarkdown(w io.Writer, r *engine.Result, samples *curves) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s on %s\n\n", SettingOf(r, "encoder", "name"), SettingOf(r, "data", "source"))
	fmt.Fprintf(&b, "%.1f s of virtual time, %d frames of %d %s, seed %d.", r.DurationS, r.Frames, r.ItemsPerFrame, mdName(words.Plural(r.Item)), r.Seed)
	b.WriteString(mdEnding(r.Reason, r.Error, r.Interrupted))
	b.WriteString("\n\n")
	mdTotals(&b, r)
	mdGauges(&b, r)
	mdTransfer(&b, r)
	if r.Totals.BitsPerCube != nil { // only cubes are shown
		mdPlayout(&b, r)
	}
	mdBudget(&b, r)
	mdComparison(&b, r)
	mdChanges(&b, r)
	mdAssertions(&b, r)
	mdCharts(&b, r, samples)
	fmt.Fprintf(&b, "## Again\n\n`tui replay report.json` runs this once more and demands the same bytes; `tui run experiment.toml` does so without asking.\n\nDigest `%s`.\n", r.Digest)
	_, err := io.WriteString(w, b.String())
	return err
}

// mdEnding says what a reader must know of how a run ended, nothing if it ended well.
func mdEnding(why engine.Ending, what string, interrupted bool) string {
	const until = " this is what was measured until then."
	switch {
	case what != "":
		return " Broken off: " + strings.ReplaceAll(what, "\n", "; ") + ";" + until
	case why == engine.Unfinished:
		return " It is still running, or was killed:" + until
	case interrupted:
		return " Interrupted:" + until
	case why == engine.Unmet:
		return " It did not hold."
	}
	return ""
}

// mdTable writes a part of a page: its title, unless it is empty, and a table.
func mdTable(b *strings.Builder, title string, t *texttable.Table) {
	if title != "" {
		fmt.Fprintf(b, "## %s\n\n", title)
	}
	t.WriteMarkdown(b)
	b.WriteString("\n")
}

func mdTotals(b *strings.Builder, r *engine.Result) {
	t := &r.Totals
	list := texttable.New("figure", ">measured")
	add := func(name, format string, values ...any) { list.Add(name, fmt.Sprintf(format, values...)) }
	add("payload", "%.1f kbps", t.PayloadKbps)
	add("wire (payload, header, 28 bytes of IPv4 and UDP)", "%.1f kbps", t.WireKbps)
	add("feedback (uplink, wire)", "%.1f kbps", t.FeedbackKbps)
	add("bits per "+mdName(r.Item), "%.3f", t.BitsPerItem)
	if over, budgeted := t.OverBudgetRatio.Value(); budgeted {
		add("time over the budget, by the payload of the last second", "%.1f %%", 100*over)
	}
	if t.BitsPerChangedCube != nil {
		add("bits per changed cube", "%.2f", *t.BitsPerChangedCube)
	}
	q, age := t.PacketBytes, t.BaselineAgeTicks
	add("packet bytes: least, median, 95 %, 99 %, most", "%.0f, %.0f, %.0f, %.0f, %.0f", q.Of(q.Min), q.Of(q.P50), q.Of(q.P95), q.Of(q.P99),
		q.Of(q.Max))
	add("baseline age: median, 95 %", "%.0f, %.0f ticks", age.Of(age.P50), age.Of(age.P95))
	add("age of what was shown: median, 99 %", "%.0f, %.0f ms", t.AgeMS.Of(t.AgeMS.P50), t.AgeMS.Of(t.AgeMS.P99))
	add("packets sent, and copies made by the link", "%d, %d", t.Sent, t.Duplicated)
	for _, x := range []struct {
		name string
		n    int64
	}{{"decoded", t.Decoded}, {"stale", t.Stale}, {"duplicate", t.Duplicate}, {"lost", t.Lost}, {"no baseline", t.Failures.NoBaseline},
		{"corrupt", t.Failures.Corrupt}, {"unknown codec", t.Failures.UnknownCodec}, {"tainted", t.Tainted},
		{"in flight at the end", t.InFlight}, {"**wrong**", t.Wrong}, {"undetected: decoded, and not what was sent", t.Undetected}} {
		list.Add(x.name, x.n)
	}
	list.Add("restarts, after a digest was another", t.Restarts.Text(0))
	if x := t.Remote; x != nil {
		times := func(name string, q *figures.Quantiles) {
			add(name, "%.1f, %.1f, %.1f ms", q.Of(q.P50), q.Of(q.P95), q.Of(q.Max))
		}
		list.Add("never heard of again over the network", t.Unknown)
		times("round trip: median, 95 %, most", &x.RoundTripMS)
		times("slower to the far end than the fastest: median, 95 %, most", &x.SlowerMS)
		add("jitter of arrival (RFC 3550)", "%s ms", x.JitterMS.Text(1))
		times("fate known after: median, 95 %, most", &x.ToldAfterMS)
		add("traffic of the lab: reports, around the game's", "%s, %s kbps", x.ReportKbps.Text(1), x.CoverKbps.Text(1))
		list.Add("arrivals that came out otherwise here", x.Differs)
	}
	if e := t.Rounding; e != nil {
		add("rounded by the encoder: mean, most ("+e.Field+")", "%.4f, %.4f", e.Mean, e.Max)
	}
	mdTable(b, "", list)
}

func mdBudget(b *strings.Builder, r *engine.Result) {
	t := texttable.New("slot", ">bits", ">a packet", ">share")
	for _, s := range r.Budget {
		t.Add(mdName(s.Name()), fmt.Sprintf("%.0f", s.Bits), fmt.Sprintf("%.2f", s.Bits/max(1, float64(r.Totals.Sent))),
			fmt.Sprintf("%.1f %%", 100*s.Share))
	}
	mdTable(b, "Where the bits went", t)
}

func mdChanges(b *strings.Builder, r *engine.Result) {
	if len(r.Changes) == 0 {
		return
	}
	t := texttable.New(">at", "change")
	for i := 0; i < len(r.Changes); {
		label, n := config.Summarise(r.Changes[i:])
		t.Add(fmt.Sprintf("%.3f s", r.Changes[i].TS), strings.ReplaceAll(label, "|", "\\|"))
		i += n
	}
	mdTable(b, "What was changed", t)
}

func mdAssertions(b *strings.Builder, r *engine.Result) {
	if len(r.Assertions) == 0 {
		return
	}
	t := texttable.New("figure", "bound", ">measured", "")
	for _, a := range r.Assertions {
		verdict := "holds"
		if !a.Holds {
			verdict = "**does not hold**"
		}
		t.Add(a.Name, a.Bound, fmt.Sprintf("%g", a.Got), verdict)
	}
	mdTable(b, "Assertions", t)
}

// mdCharts draws the three charts of the dashboard over the whole run, and how the
// display fared.
func mdCharts(b *strings.Builder, r *engine.Result, run *curves) {
	if run.end == run.begin {
		return
	}
	chart := func(title string, c curve) {
		fmt.Fprintf(b, "## %s\n\n```\n%s\n```\n\n", title, plot(run.of(c), c >= peaks, run.begin, run.end))
	}
	chart("Payload, kbps", payloadCurve)
	chart("Bits per changed "+mdName(r.Item), changedCurve)
	chart("Decode failures a second", failureCurve)
	mdPlayoutCharts(&r.Totals.Playout, chart)
}

// plot draws v over the run's seconds: bucketed to the chart's width (the mean,
// or the peak where spikes are the point), with a scale that starts at zero.
func plot(v []float64, peaks bool, from, to time.Duration) string {
	const width, height = 72, 10
	v = bucket(v, min(width, len(v)), peaks)
	top := slices.Max(v)
	if top <= 0 || math.IsInf(top, 0) || math.IsNaN(top) {
		top = 1
	}
	return asciigraph.Plot(v, asciigraph.Height(height), asciigraph.Precision(1), asciigraph.LowerBound(0), asciigraph.UpperBound(top),
		asciigraph.Caption(fmt.Sprintf("%.1f to %.1f s", from.Seconds(), to.Seconds())))
}

// bucket reduces v to n values.
func bucket(v []float64, n int, peaks bool) []float64 {
	out := make([]float64, n)
	for i := range out {
		part := v[i*len(v)/n : (i+1)*len(v)/n]
		if peaks {
			out[i] = slices.Max(part)
			continue
		}
		for _, x := range part {
			out[i] += x / float64(len(part))
		}
	}
	return out
}

// writeSweepMarkdown writes the table that compares the runs of a sweep.
func writeSweepMarkdown(w io.Writer, r *Report) error {
	var b strings.Builder
	b.WriteString("# Sweep\n\n")
	if r.Planned > 0 {
		fmt.Fprintf(&b, "%d of %d runs.%s\n\n", len(r.Runs), r.Planned, mdEnding(r.Reason, r.Error, r.Interrupted))
	}
	if len(r.Runs) == 0 {
		b.WriteString("No run was finished.\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	keys := slices.Sorted(maps.Keys(r.Runs[0].Set))
	list := texttable.New(slices.Concat(keys, texttable.Numbers("payload kbps", "wire kbps", "p95 bytes", "decoded", "lost", "failures", "wrong"),
		texttable.Numbers(mdItemHeads(r)...))...)
	for _, run := range r.Runs {
		at := placeInSweep(run, keys)
		if run.Interrupted {
			at[len(at)-1] += fmt.Sprintf(" (interrupted after %.1f s)", run.DurationS)
		}
		t := &run.Totals
		list.Add(at, t.PayloadKbps, t.WireKbps, fmt.Sprintf("%.0f", t.PacketBytes.P95), t.Decoded, t.Lost, t.Failed(), t.Wrong,
			mdItemCells(r, run))
	}
	list.WriteMarkdown(&b)
	if r.Runs[0].Totals.BitsPerCube != nil {
		mdSweepPlayout(&b, r, keys)
	}
	b.WriteString("\n`tui replay report.json` runs all of this once more and demands the same bytes.\n")
	_, err := io.WriteString(w, b.String())
	return err
}
