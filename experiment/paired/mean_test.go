package paired_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/experiment/paired"
)

// The interval of equal values is the value.
func TestMeanOfEqualValues(t *testing.T) {
	for _, n := range []int{2, 3, 10, 50} {
		for _, value := range []float64{0, -3, 1.5e308} {
			if i := paired.MeanOf(slices.Repeat([]float64{value}, n)); i != (paired.Interval{Estimate: value, Lo: value, Hi: value, Block: 1, Known: true}) {
				t.Errorf("%d times %g: %+v", n, value, i)
			}
		}
	}
}

// The interval of a mean agrees with a computation by hand for three values, and 95 of 100 intervals contain the true
// mean for any number of values.
func TestMeanOf(t *testing.T) {
	got := paired.MeanOf([]float64{1, 2, 6})
	half := 4.30265 * math.Sqrt(7.0/3) // variance 7, two degrees of freedom
	if math.Abs(got.Estimate-3) > 1e-12 || math.Abs(got.Hi-3-half) > 1e-4 || math.Abs(got.Lo-3+half) > 1e-4 || !got.Known {
		t.Errorf("%+v, want 3 ± %g", got, half)
	}
	if one := paired.MeanOf([]float64{4}); one.Estimate != 4 || one.Known {
		t.Errorf("one value: %+v", one)
	}
	if none := paired.MeanOf(nil); !math.IsNaN(none.Estimate) || none.Known {
		t.Errorf("no value: %+v", none)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 3, 8, 31, 40, 120} {
		const trials = 4000
		held := 0
		for range trials {
			v := make([]float64, n)
			for i := range v {
				v[i] = 5 + rng.NormFloat64()
			}
			if m := paired.MeanOf(v); m.Lo <= 5 && 5 <= m.Hi {
				held++
			}
		}
		if share := float64(held) / trials; share < 0.937 || share > 0.963 {
			t.Errorf("of %d values %.1f %% of the intervals contain the true mean", n, 100*share)
		}
	}
	for _, n := range []int{10, 30, 100} { // exponential, and its mirror image; Student's t has 90, 93 and 94 %
		const trials = 4000
		held, mirrored := 0, 0
		for range trials {
			v, w := make([]float64, n), make([]float64, n)
			for i := range v {
				v[i] = rng.ExpFloat64()
				w[i] = -v[i]
			}
			if m := paired.MeanOf(v); m.Lo <= 1 && 1 <= m.Hi {
				held++
			}
			if m := paired.MeanOf(w); m.Lo <= -1 && -1 <= m.Hi {
				mirrored++
			}
		}
		if share := float64(held) / trials; share < 0.932 || share > 0.963 || mirrored != held {
			t.Errorf("of %d exponential values %.1f %% of the intervals contain the true mean; mirrored %d of %d", n, 100*share, mirrored, held)
		}
	}
}
