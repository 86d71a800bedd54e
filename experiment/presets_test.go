package experiment

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"wirelab/experiment/internal/labtest"
	"wirelab/internal/golden"
)

// The table of each preset, shortened and on test data, is the same on every machine.
func TestPlayoutPresets(t *testing.T) {
	if labtest.RaceEnabled {
		t.Skip("the race detector takes its time, and has nothing to find here")
	}
	var got bytes.Buffer
	crowd := labtest.WriteRecording(t, 30, 1000)
	for _, name := range []string{"playout-10", "playout-60"} {
		c := must(LoadPreset(name))
		c.Duration, c.Data.Source, c.Data.Cubes = 15*time.Second, crowd, 30
		for _, r := range mustRun(t, c, RunOptions{}).Runs {
			p := &r.Totals.Playout
			fmt.Fprintf(&got, "%s %-34s %5s: %.4f %% starved, %d freezes up to %.1f ms, %d late by %v, %.3f ms behind, mm %v, degrees %v\n",
				name, r.Set["down.loss"],
				r.Set["receiver.playout_delay"], p.StarvedRatio.Times(100), p.Freezes, p.LongestFreezeMS, p.Late, p.LateMS, p.ClockLagMS,
				*p.PositionErrorMM, *p.OrientationErrorDeg)
		}
	}
	golden.Compare(t, "testdata/playout.golden", got.String())
}
