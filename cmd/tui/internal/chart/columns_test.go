package chart

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowColumns is the definition, bucket by bucket.
func slowColumns(values, weights []float64, end int64, per, n int, how Reduce) []float64 {
	out := make([]float64, n)
	for c := range out {
		bucket := (end-1)/int64(per) - int64(n-1-c)
		sum, weight, top, found := 0.0, 0.0, math.Inf(-1), false
		for i, v := range values {
			at := end - int64(len(values)) + int64(i)
			if at < 0 || at/int64(per) != bucket || math.IsNaN(v) || weights[i] <= 0 {
				continue
			}
			sum, weight, top, found = sum+v*weights[i], weight+weights[i], math.Max(top, v), true
		}
		switch {
		case !found:
			out[c] = math.NaN()
		case how == Max:
			out[c] = top
		default:
			out[c] = sum / weight
		}
	}
	return out
}

func TestColumnsAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		values, weights := make([]float64, rng.IntN(60)), make([]float64, 60)
		for i := range values {
			values[i], weights[i] = rng.Float64()*100, float64(rng.IntN(4))
			if rng.IntN(9) == 0 {
				values[i] = math.NaN()
			}
		}
		end, per, n, how := int64(1+rng.IntN(200)), 1+rng.IntN(9), 1+rng.IntN(20), Reduce(rng.IntN(2))
		got, want := Columns(values, weights, end, per, n, how), slowColumns(values, weights, end, per, n, how)
		for c := range want {
			if math.IsNaN(want[c]) != math.IsNaN(got[c]) || math.Abs(want[c]-got[c]) > 1e-9 {
				t.Fatalf("end %d per %d n %d how %d: column %d is %v, want %v", end, per, n, how, c, got[c], want[c])
			}
		}
	}
}

func TestNiceTop(t *testing.T) {
	for _, c := range []struct{ v, top, step float64 }{{187, 200, 100}, {256, 300, 100}, {61, 80, 40}, {0.7, 0.8, 0.4}, {1000, 1000, 500}, {1001, 1500, 500}} {
		if top, step := niceTop(c.v, 5); math.Abs(top-c.top) > 1e-9 || math.Abs(step-c.step) > 1e-9 {
			t.Errorf("niceTop(%v) = %v, %v, want %v, %v", c.v, top, step, c.top, c.step)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{{0, "0"}, {7, "7"}, {12.5, "12.5"}, {0.25, "0.25"}, {340, "340"}, {9999, "9999"}, {12000, "12k"}, {1.5e6, "1500k"}, {2.5e7, "25M"}, {-120, "-120"}, {1e18, "1000P"}} {
		if got := Number(c.v); got != c.want || len(got) > gutter {
			t.Errorf("Number(%v) = %q, want %q", c.v, got, c.want)
		}
	}
}

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float64
		w      int
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 8, "▁▂▃▄▅▆▇█"},
		{[]float64{3, 3, 3}, 3, "███"},
		{nil, 3, "   "},
		{[]float64{0, 0}, 4, "  ▁▁"},
		{[]float64{0, 0, 8, 8}, 2, "▁█"},
	} {
		if got := Spark(c.values, c.w, false); got != c.want {
			t.Errorf("Spark(%v, %d) = %q, want %q", c.values, c.w, got, c.want)
		}
	}
}
