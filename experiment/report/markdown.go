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
	"wirelab/internal/words"

	"github.com/guptarohit/asciigraph"
)

// writeMarkdown writes the page for people: what was run, what came out, and the
// charts as text.
func writeMarkdown(w io.Writer, r *engine.Result, samples *curves) error {
	var b strings.Builder
	encoder, _ := r.Config["encoder"].(map[string]any)
	data, _ := r.Config["data"].(map[string]any)
	fmt.Fprintf(&b, "# %v on %v\n\n", encoder["name"], data["source"])
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

func mdTotals(b *strings.Builder, r *engine.Result) {
	t := &r.Totals
	rows := [][2]string{
		{"payload", fmt.Sprintf("%.1f kbps", t.PayloadKbps)},
		{"wire (payload, header, 28 bytes of IPv4 and UDP)", fmt.Sprintf("%.1f kbps", t.WireKbps)},
		{"feedback (uplink, wire)", fmt.Sprintf("%.1f kbps", t.FeedbackKbps)},
		{"bits per " + mdName(r.Item), fmt.Sprintf("%.3f", t.BitsPerItem)},
	}
	if over, budgeted := t.OverBudgetRatio.Value(); budgeted {
		rows = append(rows, [2]string{"time over the budget, by the payload of the last second", fmt.Sprintf("%.1f %%", 100*over)})
	}
	if t.BitsPerChangedCube != nil {
		rows = append(rows, [2]string{"bits per changed cube", fmt.Sprintf("%.2f", *t.BitsPerChangedCube)})
	}
	q, age := t.PacketBytes, t.BaselineAgeTicks
	rows = append(rows,
		[2]string{"packet bytes: least, median, 95 %, 99 %, most", fmt.Sprintf("%.0f, %.0f, %.0f, %.0f, %.0f", q.Of(q.Min), q.Of(q.P50),
			q.Of(q.P95), q.Of(q.P99), q.Of(q.Max))},
		[2]string{"baseline age: median, 95 %", fmt.Sprintf("%.0f, %.0f ticks", age.Of(age.P50), age.Of(age.P95))},
		[2]string{"age of what was shown: median, 99 %", fmt.Sprintf("%.0f, %.0f ms", t.AgeMS.Of(t.AgeMS.P50), t.AgeMS.Of(t.AgeMS.P99))},
		[2]string{"packets sent, and copies made by the link", fmt.Sprintf("%d, %d", t.Sent, t.Duplicated)},
		[2]string{"decoded", fmt.Sprint(t.Decoded)},
		[2]string{"stale", fmt.Sprint(t.Stale)},
		[2]string{"duplicate", fmt.Sprint(t.Duplicate)},
		[2]string{"lost", fmt.Sprint(t.Lost)},
		[2]string{"no baseline", fmt.Sprint(t.Failures.NoBaseline)},
		[2]string{"corrupt", fmt.Sprint(t.Failures.Corrupt)},
		[2]string{"unknown codec", fmt.Sprint(t.Failures.UnknownCodec)},
		[2]string{"tainted", fmt.Sprint(t.Tainted)},
		[2]string{"in flight at the end", fmt.Sprint(t.InFlight)},
		[2]string{"**wrong**", fmt.Sprint(t.Wrong)},
		[2]string{"undetected: decoded, and not what was sent", fmt.Sprint(t.Undetected)},
		[2]string{"restarts, after a digest was another", t.Restarts.Text(0)},
	)
	if x := t.Remote; x != nil {
		ms := func(q *figures.Quantiles) string {
			return fmt.Sprintf("%.1f, %.1f, %.1f ms", q.Of(q.P50), q.Of(q.P95), q.Of(q.Max))
		}
		rows = append(rows,
			[2]string{"never heard of again over the network", fmt.Sprint(t.Unknown)},
			[2]string{"round trip: median, 95 %, most", ms(&x.RoundTripMS)},
			[2]string{"slower to the far end than the fastest: median, 95 %, most", ms(&x.SlowerMS)},
			[2]string{"jitter of arrival (RFC 3550)", x.JitterMS.Text(1) + " ms"},
			[2]string{"fate known after: median, 95 %, most", ms(&x.ToldAfterMS)},
			[2]string{"traffic of the lab: reports, around the game's", fmt.Sprintf("%s, %s kbps", x.ReportKbps.Text(1), x.CoverKbps.Text(1))},
			[2]string{"arrivals that came out otherwise here", fmt.Sprint(x.Differs)})
	}
	if e := t.Rounding; e != nil {
		rows = append(rows, [2]string{"rounded by the encoder: mean, most (" + e.Field + ")", fmt.Sprintf("%.4f, %.4f", e.Mean, e.Max)})
	}
	b.WriteString("| figure | measured |\n|---|---:|\n")
	for _, row := range rows {
		fmt.Fprintf(b, "| %s | %s |\n", row[0], row[1])
	}
	b.WriteString("\n")
}

func mdBudget(b *strings.Builder, r *engine.Result) {
	b.WriteString("## Where the bits went\n\n| slot | bits | a packet | share |\n|---|---:|---:|---:|\n")
	for _, s := range r.Budget {
		fmt.Fprintf(b, "| %s | %.0f | %.2f | %.1f %% |\n", mdName(s.Name()), s.Bits, s.Bits/max(1, float64(r.Totals.Sent)), 100*s.Share)
	}
	b.WriteString("\n")
}

func mdChanges(b *strings.Builder, r *engine.Result) {
	if len(r.Changes) == 0 {
		return
	}
	b.WriteString("## What was changed\n\n| at | change |\n|---:|---|\n")
	for i := 0; i < len(r.Changes); {
		label, n := config.Summarise(r.Changes[i:])
		fmt.Fprintf(b, "| %.3f s | %s |\n", r.Changes[i].TS, strings.ReplaceAll(label, "|", "\\|"))
		i += n
	}
	b.WriteString("\n")
}

func mdAssertions(b *strings.Builder, r *engine.Result) {
	if len(r.Assertions) == 0 {
		return
	}
	b.WriteString("## Assertions\n\n| figure | bound | measured | |\n|---|---|---:|---|\n")
	for _, a := range r.Assertions {
		verdict := "holds"
		if !a.Holds {
			verdict = "**does not hold**"
		}
		fmt.Fprintf(b, "| %s | %s | %g | %s |\n", a.Name, a.Bound, a.Got, verdict)
	}
	b.WriteString("\n")
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
	fmt.Fprintf(&b, "| %s | payload kbps | wire kbps | p95 bytes | decoded | lost | failures | wrong |%s\n|%s---:|---:|---:|---:|---:|---:|---:|%s\n",
		strings.Join(keys, " | "), mdItemHeads(r), strings.Repeat("---|", len(keys)),
		strings.Repeat("---:|", strings.Count(mdItemHeads(r), "|")))
	for _, run := range r.Runs {
		at := placeInSweep(run, keys)
		if run.Interrupted {
			at[len(at)-1] += fmt.Sprintf(" (interrupted after %.1f s)", run.DurationS)
		}
		t := &run.Totals
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.0f | %d | %d | %d | %d |%s\n", strings.Join(at, " | "), t.PayloadKbps, t.WireKbps,
			t.PacketBytes.P95,
			t.Decoded, t.Lost, t.Failed(), t.Wrong, mdItemCells(r, run))
	}
	if r.Runs[0].Totals.BitsPerCube != nil {
		mdSweepPlayout(&b, r, keys)
	}
	b.WriteString("\n`tui replay report.json` runs all of this once more and demands the same bytes.\n")
	_, err := io.WriteString(w, b.String())
	return err
}
