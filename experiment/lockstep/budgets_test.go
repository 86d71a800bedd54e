package lockstep_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/view"
)

// budgetLane returns a lane of 30 s with a budget, whose sample at t has an error of the given millimetres.
func budgetLane(letter string, bps int64, priority string, began time.Duration, millimetres func(t time.Duration) int64) engine.Lane {
	l := engine.Lane{Letter: letter, Encoder: "rotor", Began: began, Budget: endpoint.Budget{Bps: bps, Priority: view.Policies.Default(priority)}}
	for t := began + meters.SamplePeriod; t <= 30*time.Second; t += meters.SamplePeriod {
		rows := 10 + int64(t/time.Second)
		l.Samples = append(l.Samples, meters.Sample{T: t, Sent: 6, View: meters.ViewSample{Bits: bps / 10, Rows: rows, Error: rows * view.ErrorUnit * millimetres(t)}})
	}
	return l
}

// The mean error, the ratio to the best lane and the period are those of the common samples: after the newest lane and
// after the newest change of the budget, without loop points and without lanes that have no budget.
func TestCompareBudgets(t *testing.T) {
	wave := func(t time.Duration) int64 { return 100 + int64(t/(100*time.Millisecond))%7 }
	triple := func(t time.Duration) int64 { return 3 * wave(t) }
	snap := &engine.Snapshot{Now: 30 * time.Second, Schema: frame.Cubes(901), Lanes: []engine.Lane{
		budgetLane("A", 64_000, "fiedler", 0, triple),
		budgetLane("B", 64_000, "accumulated", 5*time.Second, wave),
		budgetLane("C", 24_000, "unity", 0, triple),
		{Letter: "D", Encoder: "raw"},
	}}
	snap.Log = []config.StampedChange{config.Stamp(7*time.Second, config.NewChange("priority", "fiedler")), config.Stamp(9*time.Second, config.NewChange("down.loss", "1%"))}
	snap.Lanes[2].Samples[200].CrossingLoop = 1 // ends at 20.1 s
	c := lockstep.CompareBudgets(snap)
	sum, rows := 0.0, 0.0
	for _, s := range snap.Lanes[1].Samples {
		if s.T > 8*time.Second && s.T != 20*time.Second+meters.SamplePeriod {
			sum, rows = sum+float64(s.View.Error)/view.ErrorUnit, rows+float64(s.View.Rows)
		}
	}
	if c.FromS != 8 || c.ToS != 30 || c.Unit != "mm" || len(c.Lanes) != 3 {
		t.Fatalf("%+v", c)
	}
	a, b := &c.Lanes[0], &c.Lanes[1]
	if got, _ := b.MeanError.Value(); math.Abs(got-sum/rows) > 1e-9 {
		t.Errorf("mean error %v, want %v", got, sum/rows)
	}
	if used, _ := a.UsedKbps.Value(); math.Abs(used-64) > 1e-9 {
		t.Errorf("used %v kbps", used)
	}
	if r, _ := a.VsBest.Value(); math.Abs(r-3) > 1e-9 || math.Abs(a.VsBestLo.Or(0)-3) > 1e-6 || math.Abs(a.VsBestHi.Or(0)-3) > 1e-6 {
		t.Errorf("A is %v times the best, %s", r, a.Interval())
	}
	for i, l := range []*engine.BudgetLane{b, &c.Lanes[2]} {
		if _, known := l.VsBest.Value(); known {
			t.Errorf("lane %d of %s has a ratio to itself", i, l.Lane)
		}
	}
	findings := c.Findings()
	if len(findings) != 1 || !strings.HasPrefix(findings[0], "At 64 kbit/s, accumulated (lane B) has the least error: 103 mm. The error of fiedler (A), the next, is 3.00 times as large (95 % CI 3.00 to 3.00)") {
		t.Errorf("findings %q", findings)
	}
	snap.Lanes[0] = budgetLane("A", 64_000, "fiedler", 0, wave)
	if got := lockstep.CompareBudgets(snap).Findings(); !strings.HasSuffix(got[0], "is 1.00 times as large (95 % CI 1.00 to 1.00), which chance may explain.") {
		t.Errorf("equal lanes: %q", got)
	}
	snap.Log = append(snap.Log, config.Stamp(20*time.Second, config.NewChange("send_budget", "64kbit")))
	if got := lockstep.CompareBudgets(snap).Findings(); !strings.Contains(got[0], "too few data") {
		t.Errorf("9 s: %q", got)
	}
	if got := lockstep.CompareBudgets(&engine.Snapshot{Lanes: snap.Lanes[3:]}); got != nil {
		t.Errorf("without budgets: %+v", got)
	}
}
