package engine

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// Packets of equal size give a known rate. A lower budget is exceeded all the time, a higher one
// never, and one that is raised half-way half of the time.
func TestBudget(t *testing.T) {
	run := func(kbps any, then any) *Session {
		c := config.Default()
		c.Encoder.Name = "raw"
		if err := c.Set("budget_line", kbps); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, c, labtest.NewCubeSource(10, 3, -1, 4), Options{Endless: true, KeepSamples: 20})
		mustRun(t, s, 20500*time.Millisecond)
		if then != nil {
			mustChange(t, s, config.NewChange("budget_line", then))
		}
		mustRun(t, s, 40*time.Second)
		return s
	}
	x := totals(run("off", nil))
	if over, known := x.OverBudgetRatio.Value(); known {
		t.Errorf("%g of the time over no budget", over)
	}
	rate := x.PacketBytes.P50 * 60 * 8 / 1000 // all packets have the same size
	if x.PacketBytes.Min != x.PacketBytes.Max {
		t.Fatalf("packets of %+v bytes", x.PacketBytes)
	}
	for _, c := range []struct {
		kbps, then any
		want       float64
	}{
		{rate, nil, 0}, {rate - 0.001, nil, 1}, {"off", rate - 1, 1},
		// Samples end every 100 ms, the first that counts at 1 s: 196 under the
		// first budget.
		{rate - 1, rate + 1, 196.0 / 391}, {rate + 1, rate - 1, 195.0 / 391},
	} {
		got := totals(run(c.kbps, c.then)).OverBudgetRatio
		if v, known := got.Value(); !known || v != c.want {
			t.Errorf("budget %v, then %v: %v of the time, want %g", c.kbps, c.then, got, c.want)
		}
	}
}
