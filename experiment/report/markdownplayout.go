package report

import (
	"fmt"
	"strings"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// mdPlayout says what a person in front of the receiver saw.
func mdPlayout(b *strings.Builder, r *engine.Result) {
	p := &r.Totals.Playout
	first := ""
	if len(r.Changes) > 0 {
		first = " at first"
	}
	fmt.Fprintf(b, "## Playout\n\nThe display held snapshots back by %v%s, with %v interpolation, and was %.0f ms behind the sender on average.\n\n",
		SettingOf(r, "receiver", "playout_delay"), first, SettingOf(r, "receiver", "interpolation"), p.BehindMS)
	t := texttable.New("figure", ">measured")
	t.Add("display ticks", p.Displayed)
	t.Add("starved: no snapshot to move to", fmt.Sprintf("%.3f %%", p.StarvedRatio.Times(100)))
	t.Add("freezes, the longest", fmt.Sprintf("%d, %.0f ms", p.Freezes, p.LongestFreezeMS))
	t.Add("snapshots that came too late; by: median, most",
		fmt.Sprintf("%d; %.1f, %.1f ms", p.Late, p.LateMS.Of(p.LateMS.P50), p.LateMS.Of(p.LateMS.Max)))
	if e := p.PositionErrorMM; e != nil {
		t.Add("moving cubes are shown off by: median, 95 %, 99 %, most",
			fmt.Sprintf("%.1f, %.1f, %.1f, %.1f mm", e.Of(e.P50), e.Of(e.P95), e.Of(e.P99), e.Of(e.Max)))
	}
	if e := p.OrientationErrorDeg; e != nil {
		t.Add("and turned by", fmt.Sprintf("%.2f, %.2f, %.2f, %.2f°", e.Of(e.P50), e.Of(e.P95), e.Of(e.P99), e.Of(e.Max)))
	}
	mdTable(b, "", t)
}

// mdPlayoutCharts draws what of the display went wrong when; what never did has no
// chart. Shares are drawn by their means, errors by their peaks.
func mdPlayoutCharts(p *figures.Playout, chart func(title string, c curve)) {
	if p.StarvedRatio.Or(0) > 0 {
		chart("Display ticks starved, %", starvedCurve)
	}
	if p.Late > 0 {
		chart("Snapshots too late for the display, a second", lateCurve)
	}
	if p.PositionErrorMM != nil && p.PositionErrorMM.Max > 0 {
		chart("The worst shown cube is off by, mm", positionCurve)
	}
	if p.OrientationErrorDeg != nil && p.OrientationErrorDeg.Max > 0 {
		chart("The worst shown cube is turned by, degrees", orientationCurve)
	}
}

// mdSweepPlayout compares what the runs of a sweep showed.
func mdSweepPlayout(b *strings.Builder, r *Report, keys []string) {
	fmt.Fprintf(b, "\n## Playout\n\n| %s | starved | freezes | longest | too late | behind the sender | off, median | 95 %% | turned, 95 %% |\n|%s---:|---:|---:|---:|---:|---:|---:|---:|\n",
		strings.Join(keys, " | "), strings.Repeat("---|", len(keys)))
	for _, run := range r.Runs {
		p := &run.Totals.Playout
		off, turned := "| |", ""
		if p.PositionErrorMM != nil && p.OrientationErrorDeg != nil {
			off = fmt.Sprintf("%.1f mm | %.1f mm |", p.PositionErrorMM.Of(p.PositionErrorMM.P50),
				p.PositionErrorMM.Of(p.PositionErrorMM.P95))
			turned = fmt.Sprintf("%.2f°", p.OrientationErrorDeg.Of(p.OrientationErrorDeg.P95))
		}
		fmt.Fprintf(b, "| %s | %.3f %% | %d | %.0f ms | %d | %.0f ms | %s %s |\n", strings.Join(placeInSweep(run, keys), " | "),
			p.StarvedRatio.Times(100), p.Freezes, p.LongestFreezeMS, p.Late, p.BehindMS, off, turned)
	}
}

// placeInSweep returns the values of a run's keys.
func placeInSweep(run *engine.Result, keys []string) []string {
	at := make([]string, len(keys))
	for i, k := range keys {
		at[i] = run.Set[k]
	}
	return at
}
