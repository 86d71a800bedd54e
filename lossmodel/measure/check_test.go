package measure

import (
	"testing"
	"time"

	"wirelab/lossmodel"
)

func specOf(t testing.TB, pairs ...string) lossmodel.Spec {
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

func packets() int {
	if testing.Short() {
		return 50_000
	}
	return 200_000
}

// Every profile, and specs with every model, keep to their closed forms.
func TestTestHolds(t *testing.T) {
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
		specs[pairs[1]] = specOf(t, pairs...)
	}
	for name, spec := range specs {
		r, err := Test(spec, 7, Traffic{Packets: packets() / 2, Interval: time.Millisecond, Size: 200})
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK() {
			t.Errorf("%s does not hold:", name)
		}
		for _, c := range r.Checks {
			if !c.OK {
				t.Errorf("  %s %s: %.6g, expected %.6g: %.1f sigma of %.3g", c.Stage, c.Name, c.Measured, c.Expected, c.Sigmas, c.StdErr)
			}
		}
	}
}
