package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
)

// report.md charts the problems of the display that occurred, with their maxima, and no others.
func TestPlayoutCharts(t *testing.T) {
	mm, deg := &figures.Quantiles{Max: 80}, &figures.Quantiles{}
	samples := make([]meters.Sample, 50)
	for i := range samples {
		samples[i] = meters.Sample{T: time.Duration(i+1) * meters.SamplePeriod, Displayed: 6}
	}
	samples[20].Starved, samples[20].Late, samples[21].PositionErrorMM = 3, 2, 80
	var run curves
	for i := range samples {
		run.add(&samples[i])
	}
	charted := func(p *figures.Playout) string {
		var got []string
		for _, c := range chartedCurves(&engine.Result{Totals: figures.Totals{Playout: *p}})[3:] {
			v := run.series(c.curve)
			got = append(got, fmt.Sprintf("%s: %g of %d", c.title, slices.Max(v), len(v)))
		}
		return strings.Join(got, "; ")
	}
	// 3 of 20 x 6 display ticks in two seconds; 2 snapshots in two seconds
	want := "Display ticks starved, %, 2 s mean: 2.5 of 50; Late snapshots per second, 2 s mean: 1 of 50; Largest position error of a displayed cube, mm: 80 of 50"
	if got := charted(&figures.Playout{StarvedRatio: figures.Known(0.01), Late: 2, PositionErrorMM: mm,
		OrientationErrorDeg: deg}); got != want {
		t.Errorf("charts %q, want %q", got, want)
	}
	deg.Max = 1
	if got := charted(&figures.Playout{PositionErrorMM: &figures.Quantiles{},
		OrientationErrorDeg: deg}); got != "Largest rotation error of a displayed cube, degrees: 0 of 50" {
		t.Errorf("charts %q of a display that only turned something", got)
	}
	if got := charted(&figures.Playout{}); got != "" {
		t.Errorf("charts %q of a display with nothing wrong", got)
	}
}
