package quantile_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/internal/quantile"
)

// Quantiles of a histogram, and of two that are merged, differ from those of the sorted values by at most
// half of 1/2^precision; the number, the sum and the extremes are exact. The values extend from a few to
// many powers of two.
func TestHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for round := range 300 {
		precision := []int{0, quantile.Coarse, quantile.Fine, quantile.Exact}[round%4]
		h := [2]quantile.Histogram{{Precision: precision}, {Precision: precision}}
		base, spread := math.Exp(rng.Float64()*20), math.Exp(rng.Float64()*6-6)
		var all []int64
		sum := int64(0)
		for range rng.IntN(2000) {
			v := int64(base * math.Exp(rng.NormFloat64()*spread))
			n := rng.Int64N(3)
			h[rng.IntN(2)].AddN(v, n)
			all = append(all, slices.Repeat([]int64{v}, int(n))...)
			sum += v * n
		}
		h[0].Merge(&h[1])
		if h[0].N != int64(len(all)) || h[0].Sum != sum {
			t.Fatalf("%d values with the sum %d, want %d with %d", h[0].N, h[0].Sum, len(all), sum)
		}
		if len(all) == 0 {
			continue
		}
		slices.Sort(all)
		if h[0].Min != all[0] || h[0].Max != all[len(all)-1] {
			t.Errorf("from %d to %d, want %d to %d", h[0].Min, h[0].Max, all[0], all[len(all)-1])
		}
		for _, p := range []float64{0, .5, .95, .99, 1} {
			want := float64(quantile.NearestRank(all, p))
			tolerance := math.Ldexp(want, -max(precision, quantile.Coarse)-1)
			if want < math.Ldexp(1, max(precision, quantile.Coarse)+1) {
				tolerance = 0
			}
			if got := h[0].Quantile(p); math.Abs(got-want) > tolerance {
				t.Errorf("precision %d: quantile %g is %g, want %g", precision, p, got, want)
			}
		}
	}
	var negative quantile.Histogram
	negative.Add(-5)
	if negative.Min != 0 || negative.Max != 0 || negative.Sum != 0 {
		t.Errorf("a negative value counts as %+v", negative)
	}
}
