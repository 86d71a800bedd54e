package measure

import (
	"math"
	"testing"
	"time"

	"wirelab/internal/testkit"
	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
)

// newSpec returns the default spec with settings given as key, value pairs.
func newSpec(t testing.TB, pairs ...string) lossmodel.Spec {
	t.Helper()
	s := lossmodel.DefaultSpec()
	testkit.Set(t, &s, pairs...)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// packets returns the number of packets of the slower tests, by the requested thoroughness.
func packets() int { return testkit.ChooseLong(200_000, 100_000, 40_000) }

// The closed forms of the jitter distributions have the moments of the specification.
func TestJitterDistributions(t *testing.T) {
	for _, c := range []struct {
		dist     lossmodel.Distribution
		mean, sd float64
	}{
		{lossmodel.Uniform, 0, 0.5774}, {lossmodel.Normal, 0, 1},
		{lossmodel.Pareto, -0.034, 0.82}, {lossmodel.ParetoNormal, -0.025, 0.83},
		{lossmodel.Exponential, 1, 1}, {lossmodel.Gamma, math.Sqrt2, 1},
	} {
		law, ok := newJitterDist(&lossmodel.Delay{Distribution: c.dist})
		if !ok || math.Abs(law.mean-c.mean) > 0.005 || math.Abs(law.sd-c.sd) > 0.005 {
			t.Errorf("%v: mean %.4f, sd %.4f", c.dist, law.mean, law.sd)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	c := &capture.Capture{HasSent: true, HasDelay: true}
	rows, err := Trace(newSpec(b, "loss", "gilbert-elliott p=1% r=20%", "latency", "50ms±10ms"), 1,
		Traffic{Packets: 200_000, Interval: time.Millisecond})
	if err != nil {
		b.Fatal(err)
	}
	for c.Packets = rows; b.Loop(); {
		if _, err := Fit(c); err != nil {
			b.Fatal(err)
		}
	}
}
