package figures_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/experiment/figures"
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
		if m := figures.EstimateMean(y); *m.Lo <= 100 && 100 <= *m.Hi {
			means++
		}
		m := figures.EstimateRatio(x, y)
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
	if m := figures.EstimateMean([]float64{5}); m.Mean != 5 || m.Lo != nil || m.Hi != nil {
		t.Errorf("one value gave %+v, expected no interval", m)
	}
}

// The interval of a figure without negative values has no negative end: the median and the range of the seeds replace
// it. Whatever is shown lies between the smallest and the largest value that such a figure can have.
func TestNoNegativeEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 40))
	ranges := 0
	for range 3000 {
		n := 2 + r.IntN(40)
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = max(r.NormFloat64()+float64(r.IntN(3)), 0)
			y[i] = 1 + r.ExpFloat64()
		}
		for _, m := range []figures.Mean{figures.MeanOf("lost", x), figures.RatioOf("lost", x, y), figures.MeanOf("lost", x).Times(100)} {
			lo, hi, known := m.Bounds()
			if !known || lo < 0 || hi < lo || m.Range == nil && (m.Mean < lo || m.Mean > hi) {
				t.Fatalf("%v: %+v", x, m)
			}
		}
		if m := figures.MeanOf("lost", x); m.Range != nil {
			ranges++
			slices.Sort(x)
			if want := (figures.Range{Min: x[0], Median: (x[(n-1)/2] + x[n/2]) / 2, Max: x[n-1]}); *m.Range != want || m.Lo != nil {
				t.Fatalf("%+v, want %+v", *m.Range, want)
			}
		}
	}
	if ranges < 100 {
		t.Errorf("only %d ranges were tested", ranges)
	}
	if m := figures.MeanOf("gauge", []float64{-1, 1}); m.Range != nil || *m.Lo >= 0 {
		t.Errorf("a figure with negative values: %+v", m)
	}
	if m := figures.MeanOf("lost", []float64{0, 0, 7}); m.Significant(3) != "0 (0 to 7)" {
		t.Error(m.Significant(3))
	}
	if m := figures.RatioOf("lost", []float64{0, 7}, []float64{1, 0}); m.Range != nil || m.Lo != nil { // 7/0 is no ratio
		t.Errorf("%+v", m)
	}
}
