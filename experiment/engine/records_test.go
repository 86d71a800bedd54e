package engine

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// Totals, samples and packets count the same failures.
func TestFailuresAddUp(t *testing.T) {
	c := config.Default()
	c.Receiver.History, c.Receiver.Playout = 12, 50*time.Millisecond
	testkit.Set(t, c, "down.corrupt", "20%", "link.latency", "90ms", "down.jitter", "60ms",
		"down.loss", "10%")
	s := mustOpen(t, c, labtest.NewCubeSource(10, 3, -1, 4), Options{Endless: true, KeepPackets: 10_000})
	mustRun(t, s, time.Minute)
	var outcomes, samples int64
	for _, r := range s.View(1 << 14).Lanes[0].Packets {
		if r.Outcome.Failed() {
			outcomes++
		}
	}
	for _, x := range s.View(0).Lanes[0].Samples {
		samples += int64(x.Failed())
	}
	x := totals(s)
	if got := x.Failed(); got != outcomes || got != samples {
		t.Errorf("%d failures in the totals, %d by outcome, %d by sample", got, outcomes, samples)
	}
	if x.Failures.Corrupt == 0 || x.Failures.NoBaseline == 0 {
		t.Errorf("the test needs other settings: %+v", x)
	}
}
