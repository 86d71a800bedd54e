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
	for i := 0; i < len(pairs); i += 2 {
		if err := s.Set(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// packets returns the number of packets of the slower tests, by the requested thoroughness.
func packets() int { return testkit.ChooseLong(200_000, 100_000, 40_000) }

// Test finds no deviation in any profile and in any model.
func TestAllStagesPass(t *testing.T) {
	specs := map[string]lossmodel.Spec{}
	for _, p := range lossmodel.Profiles() {
		specs[p.Name] = p.Down
	}
	for _, pairs := range [][]string{
		{"loss", "gilbert-elliott p=1% r=20% h=30% k=99%", "latency", "50ms±10ms", "distribution", "pareto"},
		{"loss", "four-state p13=2% p31=30% p32=5% p23=40% p14=1%", "latency", "50ms±10ms", "distribution", "paretonormal"},
		{"loss", "correlated p=10% rho=-10%", "latency", "50ms±10ms", "distribution", "normal", "jitter_correlation", "80%"},
		{"loss", "periodic every=13", "latency", "5ms±5ms", "distribution", "gamma", "jitter_shape", "4.5"},
		{"loss", "pattern bits=0011101", "latency", "5ms±5ms", "distribution", "exponential"},
		{"loss", "100%", "latency", "9ms±2ms", "distribution", "table", "delay_table", "-1 -0.5 3"},
		{"duplicate", "3%", "corrupt", "2%", "corrupt_ber", "1e-4", "reorder", "7%", "rate", "2mbit", "queue_packets", "20"},
		{"spike_every", "1s", "spike_height", "30ms", "spike_length", "90ms", "burst_delay", "3ms", "keep_order", "on"},
	} {
		specs[pairs[1]] = newSpec(t, pairs...)
	}
	for name, spec := range specs {
		r, err := Test(spec, 7, Traffic{Packets: testkit.Choose(67_000, 17_000), Interval: time.Millisecond, Size: 200})
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK() {
			t.Errorf("%s: checks failed:", name)
		}
		for _, c := range r.Checks {
			if !c.OK {
				t.Errorf("  %s %s: %.6g, expected %.6g: %.1f sigma of %.3g", c.Stage, c.Name, c.Measured, c.Expected, c.Sigmas, c.StdErr)
			}
		}
	}
}

// Test raises no false alarm when few packets are lost and no neighbours are.
func TestFewLossesPass(t *testing.T) {
	for _, loss := range []string{"0.1%", "1%", "gilbert-elliott p=0.1% r=50%"} {
		for seed := range uint64(40) {
			r, err := Test(newSpec(t, "loss", loss), seed, Traffic{Packets: 10_000, Interval: time.Millisecond, Size: 64})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Checks {
				if !c.OK {
					t.Errorf("%s, seed %d: %s %s: %.6g, expected %.6g: %.1f sigma", loss, seed, c.Stage, c.Name, c.Measured, c.Expected, c.Sigmas)
				}
			}
		}
	}
}

// A deviation of more than MaxSigmas fails the check and the report.
func TestDeviationFails(t *testing.T) {
	var r tester
	r.addCheck("loss", "share lost", "", 0.0510, 0.05, 0.0002)
	if !r.OK() || r.Checks[0].Sigmas < 4.9 {
		t.Errorf("a deviation of five standard errors: %+v", r.Checks)
	}
	r.addCheck("loss", "share lost", "", 0.0514, 0.05, 0.0002)
	r.addCheck("delay", "mean", "ms", 1, 2, 0)
	if r.OK() || r.Checks[1].OK || r.Checks[2].OK || r.Checks[2].Sigmas != 1e6 {
		t.Errorf("%+v", r.Checks)
	}
}

// The closed forms of the jitter distributions have the moments and reordered ratios of the
// specification.
func TestJitterDistributions(t *testing.T) {
	for _, c := range []struct {
		dist           lossmodel.Distribution
		mean, sd, late float64
	}{
		{lossmodel.Uniform, 0, 0.5774, 0.7114}, {lossmodel.Normal, 0, 1, 0.8331},
		{lossmodel.Pareto, -0.034, 0.82, 0.5403}, {lossmodel.ParetoNormal, -0.025, 0.83, 0.6709},
		{lossmodel.Exponential, 1, 1, math.NaN()}, {lossmodel.Gamma, math.Sqrt2, 1, math.NaN()},
	} {
		law, ok := newJitterDist(&lossmodel.Delay{Distribution: c.dist})
		if !ok || math.Abs(law.mean-c.mean) > 0.005 || math.Abs(law.sd-c.sd) > 0.005 {
			t.Errorf("%v: mean %.4f, sd %.4f", c.dist, law.mean, law.sd)
		}
		if late := law.reorderRatio(0.1); math.Abs(late-c.late) > 0.0016 {
			t.Errorf("%v: reordered %.4f, want %.4f", c.dist, late, c.late)
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
