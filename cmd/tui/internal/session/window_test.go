package session

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/live"
	"wirelab/internal/testkit"
)

// TestCutEqualsFormerPresent: the means of a cut snapshot equal those that the lab had then.
func TestCutEqualsFormerPresent(t *testing.T) { synctest.Test(t, cutEqualsFormerPresent) }

func cutEqualsFormerPresent(t *testing.T) {
	cfg := config.Default()
	if err := cfg.Apply(config.NewChange("encoder.name", "relative-orientation", "profile", "unity-broadband")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	runner, err := live.New(t.Context(), cfg, live.Options{Clock: func() time.Duration { return time.Since(start) }})
	if err != nil {
		t.Fatal(err)
	}
	runner.Start(context.Background())
	defer runner.Stop()
	at := func(when time.Duration) *engine.Snapshot {
		runner.Do(live.Command{Seek: &when})
		testkit.WaitFor(t, when.String(), func() bool {
			s := runner.Snapshot()
			return s.State == engine.Paused && s.Now >= when
		})
		return runner.Snapshot()
	}
	runner.Do(live.Command{Pause: new(true)})
	then := at(7 * time.Second)
	later := at(11 * time.Second)
	want, got := then.Lanes[0].Recent, window{snap: later, to: 7 * time.Second}.snapshot().Lanes[0].Recent
	got.EncodeUS, got.DecodeUS = want.EncodeUS, want.DecodeUS // samples do not contain them
	if math.Abs(got.BaselineAgeMS-want.BaselineAgeMS) < 1e-9 {
		got.BaselineAgeMS = want.BaselineAgeMS
	}
	if got != want || want.PayloadP95Kbps == 0 {
		t.Errorf("the past is\n%+v\nit was\n%+v", got, want)
	}
}
