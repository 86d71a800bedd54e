package engine

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// playoutConfig returns a configuration with losses, jitter and a link that becomes slower.
func playoutConfig(t *testing.T, pairs ...any) *config.Config {
	t.Helper()
	c := config.Default()
	c.At = []config.StampedChange{config.Stamp(8*time.Second, config.NewChange("down.latency", "90ms"))}
	pairs = append(pairs, "down.loss", "5%", "down.latency", "40ms", "down.jitter", "20ms", "receiver.display_hz", "59.9")
	testkit.Set(t, c, pairs...)
	return c
}

// runPlayoutOf runs c for 20 s on a few cubes.
func runPlayoutOf(t *testing.T, c *config.Config) *Session {
	t.Helper()
	s := mustOpen(t, c, labtest.NewCubeSource(3, 1, -1, 3), Options{})
	mustRun(t, s, 20*time.Second-1)
	return s
}

// A policy that is compared starves on the same ticks as a display with that policy, and comparing
// changes nothing else: no packet, and no figure of the display.
func TestComparedPoliciesBehaveLikeDisplays(t *testing.T) {
	const list = "mirror, lightyear, delay, age quantile=99%, 60ms"
	plain := runPlayoutOf(t, playoutConfig(t))
	compared := runPlayoutOf(t, playoutConfig(t, "receiver.playout_compare", list))
	if a, b := plain.Result(), compared.Result(); a.Digest != b.Digest || a.Totals.AgeMS != b.Totals.AgeMS || a.Totals.Playout.StarvedRatio != b.Totals.Playout.StarvedRatio {
		t.Error("comparing policies changed the run")
	}
	timings := compared.Config().ComparedPlayouts()
	figures := compared.Result().Totals.Playout.Policies
	if len(timings) != 6 || len(figures.List) != 6 {
		t.Fatalf("%d policies, want the display's and 5 others", len(timings))
	}
	for i, timing := range timings {
		alone := runPlayoutOf(t, playoutConfig(t, "receiver.playout", timing.String()))
		starved := 0
		for k, s := range alone.lanes[0].meter.Samples() {
			if s.T < 5*time.Second { // the comparison does not count the first seconds
				continue
			}
			p := compared.lanes[0].meter.Samples()[k].Playouts[i]
			if p.Shown != s.Displayed || p.Starved != s.Starved || p.Age != s.Age {
				t.Fatalf("%v at %v: %d of %d ticks starved, age %v; want %d of %d, %v", timing, s.T, p.Starved, p.Shown, p.Age, s.Starved, s.Displayed, s.Age)
			}
			starved += s.Starved
		}
		if starved == 0 && timing.IsFixed() {
			t.Errorf("%v never starved: too little happened to test anything", timing)
		}
	}
	// The point of the curve for 60 ms is the compared fixed delay.
	for _, f := range figures.Fixed {
		if last := figures.List[5]; f.DelayMS == 60 && (f.StarvedRatio != last.StarvedRatio || f.AgeMS.Or(0) != last.AgeMS.P50 || last.VsBestFixedMS.Or(9) > 0) {
			t.Errorf("60 ms: %v and %v on the curve, %v and %v as a policy", f.StarvedRatio, f.AgeMS, last.StarvedRatio, last.AgeMS.P50)
		}
	}
}
