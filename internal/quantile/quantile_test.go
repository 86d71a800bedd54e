package quantile_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/internal/quantile"
)

// nearestRank follows the definition: it tries all values.
func nearestRank(sorted []int64, p float64) int64 {
	for _, v := range sorted {
		atMost := 0
		for _, x := range sorted {
			if x <= v {
				atMost++
			}
		}
		if float64(atMost) >= p*float64(len(sorted)) {
			return v
		}
	}
	return sorted[len(sorted)-1]
}

// The quantiles of lists, counts and weights agree with the definition.
func TestNearestRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		values := make([]int64, 1+rng.IntN(40))
		var counts quantile.Counts
		sum := int64(0)
		for i := range values {
			values[i] = rng.Int64N(30)
			sum += values[i]
			counts.Add(values[i])
		}
		slices.Sort(values)
		weights := make([]int32, 30)
		for _, v := range values {
			weights[v]++
		}
		for _, p := range []float64{0, 0.01, 0.05, 0.25, 0.5, 0.51, 0.75, 0.95, 0.99, 1} {
			want := nearestRank(values, p)
			if got := quantile.NearestRank(values, p); got != want {
				t.Errorf("NearestRank(%v, %v) = %d, want %d", values, p, got, want)
			}
			unordered := make([]float64, len(values))
			for i, at := range rng.Perm(len(values)) {
				unordered[i] = float64(values[at])
			}
			if got := quantile.SelectRank(unordered, p); got != float64(want) {
				t.Errorf("SelectRank(%v, %v) = %v, want %d", values, p, got, want)
			}
			if got := counts.NearestRank(p); got != want {
				t.Errorf("Counts of %v, %v: %d, want %d", values, p, got, want)
			}
			if got := int64(quantile.Weighted(weights, int32(len(values)), p)); p > 0 && got != want {
				t.Errorf("Weighted of %v, %v: %d, want %d", values, p, got, want)
			}
		}
		if mean := float64(sum) / float64(len(values)); counts.Mean() != mean || counts.N != int64(len(values)) {
			t.Errorf("mean of %v: %v, want %v", values, counts.Mean(), mean)
		}
	}
	var none quantile.Counts
	if none.NearestRank(0.5) != 0 || none.Mean() != 0 {
		t.Error("an empty distribution has quantiles")
	}
}

func TestNearestRankExamples(t *testing.T) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i + 1
	}
	for _, c := range []struct {
		list []int
		p    float64
		want int
	}{{hundred, 0, 1}, {hundred, .5, 50}, {hundred, .95, 95}, {hundred, .99, 99}, {hundred, 1, 100}, {[]int{7}, .5, 7},
		{[]int{1, 2, 3}, .5, 2}} {
		if got := quantile.NearestRank(c.list, c.p); got != c.want {
			t.Errorf("quantile %v of %d values = %d, want %d", c.p, len(c.list), got, c.want)
		}
	}
}

func TestOtherRanks(t *testing.T) {
	list := []int{10, 20, 30, 40}
	for _, c := range []struct {
		p           float64
		next, lower int
	}{{0, 10, 10}, {0.2, 10, 10}, {0.25, 20, 10}, {0.5, 30, 20}, {0.7, 30, 30}, {0.99, 40, 30}, {1, 40, 40}} {
		if got := quantile.NextRank(list, c.p); got != c.next {
			t.Errorf("NextRank %v: %d, want %d", c.p, got, c.next)
		}
		if got := quantile.LowerRank(list, c.p); got != c.lower {
			t.Errorf("LowerRank %v: %d, want %d", c.p, got, c.lower)
		}
	}
	if got := quantile.Median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("Median = %v", got)
	}
}

// Every value is in its bucket, buckets are adjacent, and they are as narrow as the precision
// requires.
func TestBuckets(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, precision := range []int{0, 5, 7} {
		for range 5000 {
			v := rng.Uint64() >> rng.IntN(64)
			b := quantile.Bucket(v, precision)
			low, width := quantile.Bounds(b, precision)
			if v < low || v-low >= width {
				t.Errorf("precision %d: %d is not in bucket %d, %d values from %d on", precision, v, b, width, low)
			}
			if width > 1 && float64(width) > math.Ldexp(float64(low), -precision) {
				t.Errorf("precision %d: bucket %d has %d values from %d on", precision, b, width, low)
			}
			if next, _ := quantile.Bounds(b+1, precision); low+width != 0 && next != low+width && b+1 < (65-precision)<<precision {
				t.Errorf("precision %d: bucket %d ends at %d, and the next one begins at %d", precision, b, low+width, next)
			}
		}
	}
}
