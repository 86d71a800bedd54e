package lossmodel_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"wirelab/lossmodel"
)

// A Light gives every packet the fate that a Link with the same spec, seed and name gives it.
func TestLightEqualsLink(t *testing.T) {
	for i, settings := range [][]string{
		{},
		{"loss", "3%"},
		{"latency", "40ms", "jitter", "15ms"},
		{"loss", "30%", "latency", "5ms", "jitter", "20ms", "distribution", "normal"},
		{"loss", "1%", "jitter", "7ms", "distribution", "exponential", "mtu", "300"},
		{"loss", "20%", "jitter", "7ms", "distribution", "paretonormal", "mtu", "100"},
		{"latency", "1s", "jitter", "70ms", "distribution", "pareto"},
	} {
		spec := lossmodel.DefaultSpec()
		for k := 0; k < len(settings); k += 2 {
			if err := spec.Set(settings[k], settings[k+1]); err != nil {
				t.Fatal(err)
			}
		}
		link, err := lossmodel.NewLink(spec, uint64(i), "down")
		if err != nil {
			t.Fatal(err)
		}
		light, err := lossmodel.NewLight(spec, uint64(i), "down")
		if err != nil {
			t.Fatal(err)
		}
		const packets = 20_000
		lost := 0
		for n := range packets {
			now, size := time.Duration(n)*time.Millisecond, n%1200
			v := link.Send(now, make([]byte, size), 0)
			delay, cause := light.Send(v.Fragments)
			if cause != v.Lost || cause == lossmodel.None && now+delay != v.Due {
				t.Fatalf("%v: packet %d: %v %v, the link %v %v", settings, n, cause, now+delay, v.Lost, v.Due)
			}
			if delay > light.MaxDelay() {
				t.Errorf("%v: a delay of %v exceeds MaxDelay", settings, delay)
			}
			if cause == lossmodel.Loss {
				lost++
			}
			for _, ok := link.Receive(now); ok; _, ok = link.Receive(now) {
			}
		}
		// The distribution, from closed forms: five standard deviations of a binomial variable.
		p := 0.0
		if spec.Loss != nil {
			p = spec.Loss.LossRate()
		}
		if got := float64(lost) / packets; math.Abs(got-p) > 5*math.Sqrt(p*(1-p)/packets) {
			t.Errorf("%v: %.4f lost, want %.4f", settings, got, p)
		}
	}
}

// NewLight names the first key that it does not model.
func TestLightRefuses(t *testing.T) {
	for key, value := range map[string]string{"loss": "gilbert mean=5% burst=3", "rate": "1mbit", "duplicate": "1%", "reorder": "5%",
		"keep_order": "true", "corrupt": "1%", "jitter_correlation": "25%", "spike_every": "10s"} {
		spec := lossmodel.DefaultSpec()
		if err := spec.Set(key, value); err != nil {
			t.Fatal(err)
		}
		if err := lossmodel.CheckLight(spec); err == nil || err.Key != key {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
	for seed := range uint64(3) { // the streams of links differ
		a, _ := lossmodel.NewLight(lossmodel.DefaultSpec().WithLoss(.5), seed, "down")
		b, _ := lossmodel.NewLight(lossmodel.DefaultSpec().WithLoss(.5), seed, "up")
		var x, y string
		for range 64 {
			_, lostA := a.Send(1)
			_, lostB := b.Send(1)
			x, y = x+fmt.Sprint(lostA), y+fmt.Sprint(lostB)
		}
		if x == y {
			t.Error("both directions lose the same packets")
		}
	}
}
