package chart

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// slowColumns computes Columns by its definition, bucket by bucket.
func slowColumns(values, weights []float64, end int64, per, n int, how Reducer) []float64 {
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
		end, per, n, how := int64(1+rng.IntN(200)), 1+rng.IntN(9), 1+rng.IntN(20), Reducer(rng.IntN(2))
		got, want := Columns(values, weights, end, per, n, how), slowColumns(values, weights, end, per, n, how)
		for c := range want {
			if math.IsNaN(want[c]) != math.IsNaN(got[c]) || math.Abs(want[c]-got[c]) > 1e-9 {
				t.Fatalf("end %d per %d n %d how %d: column %d is %v, want %v", end, per, n, how, c, got[c], want[c])
			}
		}
	}
}

// TestWindowAgainstDefinition: with a window, a dot shows the weighted mean of the values that end with its newest
// value, whichever of them are on the dot, and at least all values of the dot.
func TestWindowAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		values, weights := make([]float64, 1+rng.IntN(200)), make([]float64, 200)
		for i := range values {
			values[i], weights[i] = rng.Float64()*100, float64(rng.IntN(3))
		}
		end := int64(len(values) + rng.IntN(3))
		g := grid{dots: 1 + rng.Int64N(40), values: 1 + rng.Int64N(60), window: 1 + rng.Int64N(25)}
		const n = 12
		got := g.gather(values, weights, end, n, Mean)
		for d := range int64(n) {
			dot := g.lastDot(end-1) - (n - 1) + d
			newest := int64(-1)
			for at := max(end-int64(len(values)), 0); at < end; at++ {
				if g.firstDot(at) <= dot && dot <= g.lastDot(at) {
					newest = at
				}
			}
			sum, weight := 0.0, 0.0
			for at := newest; newest >= 0 && at > newest-max(g.window, (g.values+g.dots-1)/g.dots); at-- {
				if i := int(at - end + int64(len(values))); i >= 0 {
					sum, weight = sum+values[i]*weights[i], weight+weights[i]
				}
			}
			if want := sum / weight; math.IsNaN(want) != math.IsNaN(got[d]) || math.Abs(want-got[d]) > 1e-9 {
				t.Fatalf("%+v, end %d, dot %d of %d: %v, want %v", g, end, d, n, got[d], want)
			}
		}
	}
}

func TestBoundsAreRoundAndTight(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		rows := 3 + rng.IntN(40)
		hi := math.Pow(10, rng.Float64()*8-2)
		lo := 0.0
		if rng.IntN(3) == 0 {
			lo = -math.Pow(10, rng.Float64()*8-2)
		}
		b := fitBounds(lo, hi, rows)
		if b.lo > lo || b.hi < hi*(1-1e-9) {
			t.Fatalf("rows %d: [%v, %v] does not hold [%v, %v]", rows, b.lo, b.hi, lo, hi)
		}
		step := strconv.FormatFloat(b.step, 'e', 6, 64)
		if mantissa := strings.TrimRight(step[:strings.Index(step, "e")], "0"); !slices.Contains([]string{"1.", "2.", "2.5", "5."}, mantissa) {
			t.Fatalf("rows %d: labels are %s apart, which is not round", rows, step)
		}
		if rows > 4 && lo == 0 && b.hi > 2.01*hi {
			t.Fatalf("rows %d: the axis ends at %v for data up to %v", rows, b.hi, hi)
		}
		// Two mantissas apart is at most a factor of 2.5, and a label's rows may be
		// lost at either end.
		if span := b.hi - b.lo; rows > 8 && span > 4*(hi-lo) {
			t.Fatalf("rows %d: [%v, %v] is far wider than [%v, %v]", rows, b.lo, b.hi, lo, hi)
		}
		for label := range (rows - 1) / b.rowsPerLabel {
			v := float64(label) * b.step
			if y := b.row(v, rows); v <= b.hi && math.Abs(b.scale(v, rows)-float64(rows-1-y)) > 1e-6 {
				t.Fatalf("rows %d: label %v lies between two rows: %v", rows, v, b.scale(v, rows))
			}
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
		if got := Spark(c.values, c.w, 0); got != c.want {
			t.Errorf("Spark(%v, %d) = %q, want %q", c.values, c.w, got, c.want)
		}
	}
}
