package sweep_test

import (
	"math/rand/v2"
	"testing"

	"wirelab/experiment/sweep"
)

// 95 % intervals contain the true value in 95 % of cases, for means of few values and for ratios of
// correlated pairs.
func TestIntervalCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials = 4000
	means, ratios, narrow := 0, 0, 0.0
	for range trials {
		x, y := make([]float64, 6), make([]float64, 6)
		for i := range x {
			luck := 100 + 10*r.NormFloat64()
			y[i] = luck
			x[i] = 0.8*luck + r.NormFloat64()
		}
		if m := sweep.EstimateMean(y); *m.Lo <= 100 && 100 <= *m.Hi {
			means++
		}
		m := sweep.EstimateRatio(x, y)
		if *m.Lo <= 0.8 && 0.8 <= *m.Hi {
			ratios++
		}
		narrow += (*m.Hi - *m.Lo) / 2 / trials
	}
	for name, n := range map[string]int{"means": means, "ratios": ratios} {
		if share := float64(n) / trials; share < 0.935 || share > 0.965 {
			t.Errorf("intervals of %s hold the truth in %.1f %% of trials", name, 100*share)
		}
	}
	if narrow > 0.02 { // unpaired it would be 0.11
		t.Errorf("the interval of a ratio is %.3f wide each way: the pairs' luck does not fall out of it", narrow)
	}
	if m := sweep.EstimateMean([]float64{5}); m.Mean != 5 || m.Lo != nil || m.Hi != nil {
		t.Errorf("one value gave %+v, expected no interval", m)
	}
}
