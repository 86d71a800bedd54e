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
	"wirelab/experiment/figures"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/lockstep"
	"wirelab/experiment/view"
)

// budgetLane returns a lane of 30 s with a budget, whose sample at t has an error of the given millimetres.
func budgetLane(letter string, bps int64, priority string, began time.Duration, millimetres func(t time.Duration) int64) engine.Lane {
	l := engine.Lane{Letter: letter, Encoder: "rotor", Began: began, Budget: endpoint.Budget{Bps: bps, Priority: view.Policies.Default(priority)}}
	for t := began + meters.SamplePeriod; t <= 30*time.Second; t += meters.SamplePeriod {
		rows := 10 + int64(t/time.Second)
		l.Samples = append(l.Samples, meters.Sample{T: t, View: meters.ViewSample{Bits: bps / 10, Rows: rows, Error: rows * view.ErrorUnit * millimetres(t)}, Counts: figures.Counts{Sent: 6}})
	}
	return l
}

// The mean error, the ratio to the best lane and the period are those of the common samples: after the
// newest lane and after the newest change of the budget, without samples in which a lane catches up, and
// without lanes that have no budget.
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
	snap.Lanes[2].Samples[200].View.CatchingUp = true // ends at 20.1 s
	c := lockstep.CompareBudgets(snap)
	sum, rows := 0.0, 0.0
	for _, s := range snap.Lanes[1].Samples {
		if s.T > 8*time.Second && s.T != 20*time.Second+meters.SamplePeriod {
			sum, rows = sum+float64(s.View.Error)/view.ErrorUnit, rows+float64(s.View.Rows)
		}
	}
	if c.FromS != 8 || c.ToS != 30 || c.Period(0) != "from 8 to 30 s, without 0.1 s of catching up" || c.Unit != "mm" || len(c.Lanes) != 3 {
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
	snap.Log = append(snap.Log, config.Stamp(20*time.Second, config.NewChange("budget", "64kbit")))
	if got := lockstep.CompareBudgets(snap).Findings(); !strings.Contains(got[0], "too few data") {
		t.Errorf("9 s: %q", got)
	}
	snap.Log = append(snap.Log, config.Stamp(30*time.Second, config.NewChange("budget", "64kbit")))
	if got := lockstep.CompareBudgets(snap); got.Lanes[0].IsBest || got.Lanes[1].IsBest {
		t.Error("a lane without a known error is the best")
	}
	if got := lockstep.CompareBudgets(&engine.Snapshot{Lanes: snap.Lanes[3:]}); got != nil {
		t.Errorf("without budgets: %+v", got)
	}
}

// restartingCubes is a CubeSource that restarts, with most cubes elsewhere, at tick restart.
type restartingCubes struct{ *labtest.CubeSource }

const restart = 30 * 60

func (c restartingCubes) AtLoopPoint() bool { return c.Tick == restart+1 }

func (c restartingCubes) Next(f *frame.Frame) error {
	c.Moving = 2
	if c.Tick == restart {
		c.Moving = 1000
	}
	return c.CubeSource.Next(f)
}

// A lane that joins late has missed most rows. It is compared only after it has caught up: then its
// error is that of the lane with the same budget and policy that ran all the time. A restart of the
// recording is left out in the same way.
func TestLateLaneCatchesUp(t *testing.T) {
	c := config.Default()
	if err := c.Set("sender.budget", "16kbit"); err != nil {
		t.Fatal(err)
	}
	s, err := engine.NewSessionFromSource(c, restartingCubes{labtest.NewCubeSource(300, 2, -1, 3)}, engine.Options{KeepSamples: 400})
	if err == nil {
		err = s.RunUntil(10 * time.Second)
	}
	if err == nil {
		err = s.Change(config.NewChange("shadow", []config.Encoder{{Name: c.Encoder.Name, Own: map[string]string{"budget": "16kbit"}}}))
	}
	if err == nil {
		err = s.RunUntil(restart * time.Second / 60)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := lockstep.CompareBudgets(s.View(0))
	if before.LeftOutS == 0 || before.LeftOutS > 5 {
		t.Errorf("%v s left out", before.LeftOutS)
	}
	for i := range before.Lanes {
		if ratio := before.Lanes[i].VsBest.Or(1); ratio > 1.02 {
			t.Errorf("lane %s has %v times the error of the other", before.Lanes[i].Lane, ratio)
		}
	}
	if err := s.RunUntil(40 * time.Second); err != nil {
		t.Fatal(err)
	}
	after := lockstep.CompareBudgets(s.View(0))
	if after.LeftOutS <= before.LeftOutS {
		t.Error("the restart is not left out")
	}
	for i := range after.Lanes {
		if was, is := before.Lanes[i].MeanError.Or(0), after.Lanes[i].MeanError.Or(0); is > 2*was {
			t.Errorf("lane %s: a mean error of %v mm, %v before the restart", after.Lanes[i].Lane, is, was)
		}
	}
}
