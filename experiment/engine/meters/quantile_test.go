package meters

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
	"wirelab/lossmodel"
)

// nearestRank implements the definition of the nearest-rank quantile: the smallest value with at
// least p % of all values at or below it.
func nearestRank(sorted []int64, p int) float64 {
	return float64(sorted[max(1, (len(sorted)*p+99)/100)-1])
}

func TestQuantilesAgreeWithSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 400; n += 13 {
		var c quantile.Counts
		var all []int64
		for range n {
			v := rng.IntN(3000)
			c.Add(int64(v))
			all = append(all, int64(v))
		}
		slices.Sort(all)
		want := figures.Quantiles{Min: float64(all[0]), P50: nearestRank(all, 50), P95: nearestRank(all, 95), P99: nearestRank(all, 99),
			Max: float64(all[n-1]), N: int64(n)}
		if got := QuantilesOf(&c); got != want {
			t.Fatalf("%d values: %+v, want %+v", n, got, want)
		}
	}
	if got := QuantilesOf(&quantile.Counts{}); got != (figures.Quantiles{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestHistogramPrecision(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var s histogram
	var all []int64
	for range 5000 {
		v := int64(math.Exp(rng.Float64() * 30))
		s.add(v)
		all = append(all, v)
	}
	slices.Sort(all)
	got := s.thousandths()
	for _, x := range []struct {
		got float64
		p   int
	}{{got.P50, 50}, {got.P95, 95}, {got.P99, 99}} {
		if want := nearestRank(all, x.p) / 1000; math.Abs(x.got-want) > 0.035*want+0.001 {
			t.Errorf("p%d: %g, want %g within 3.5 %%", x.p, x.got, want)
		}
	}
	if got.Max != float64(all[len(all)-1])/1000 {
		t.Errorf("max %g is not exact", got.Max)
	}
}

func FuzzBuckets(f *testing.F) {
	f.Add(uint64(0))
	f.Add(uint64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, v uint64) {
		i := quantile.Bucket(v, coarsePrecision)
		if i < 0 || i >= 64<<coarsePrecision {
			t.Fatalf("%d falls into bucket %d", v, i)
		}
		if mid := bucketMiddle(i, coarsePrecision); math.Abs(mid-float64(v)) > float64(v)/32+1 {
			t.Errorf("%d is shown as %g", v, mid)
		}
		if v > 0 && quantile.Bucket(v-1, coarsePrecision) > i {
			t.Errorf("buckets are not in order at %d", v)
		}
	})
}

// The percentiles of the delay are within 0.2 % of the exact ones, for delays from microseconds to seconds.
func TestDelayPercentiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, base := range []time.Duration{20 * time.Microsecond, time.Millisecond, 41 * time.Millisecond, 3 * time.Second} {
		for _, spread := range []float64{0.001, 0.1, 2} {
			m := &New(60, 0).Network
			var all []int64
			for seq := range uint64(3000) {
				d := base + time.Duration(rng.ExpFloat64()*spread*float64(base))
				m.CountArrival(seq, d)
				all = append(all, int64(d))
			}
			slices.Sort(all)
			got := m.figures(lossmodel.Gauges{}).DelayMS
			for p, ms := range map[int]float64{50: got.P50, 95: got.P95, 99: got.P99} {
				if want := nearestRank(all, p) / 1e6; math.Abs(ms-want) > 0.002*want {
					t.Errorf("from %v, spread %g: p%d is %g ms, want %g within 0.2 %%", base, spread, p, ms, want)
				}
			}
		}
	}
}
