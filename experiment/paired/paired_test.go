package paired

import (
	"math"
	"math/rand/v2"
	"testing"
)

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// autoregressive returns n values of the stationary process x' = phi x + e of mean 0.
func autoregressive(rng *rand.Rand, n int, phi float64) []float64 {
	v := make([]float64, n)
	x := rng.NormFloat64() / math.Sqrt(1-phi*phi)
	for i := range v {
		v[i] = x
		x = phi*x + rng.NormFloat64()
	}
	return v
}

// against returns pairs a, b with the differences v.
func against(rng *rand.Rand, v []float64) (a, b Ratio) {
	base := make([]float64, len(v))
	over := make([]float64, len(v))
	for i := range v {
		base[i] = 200 + 50*math.Sin(float64(i)/9) + 20*rng.Float64()
		over[i] = base[i] + v[i]
	}
	return Ratio{over, ones(len(v))}, Ratio{base, ones(len(v))}
}

// coverage returns the fraction of trials whose interval contains the true difference of 0.
func coverage(trials, n int, phi float64) float64 {
	rng := rand.New(rand.NewPCG(4, uint64(n)))
	hit := 0
	for range trials {
		a, b := against(rng, autoregressive(rng, n, phi))
		if got := CompareByDifference(a, b); got.Lo <= 0 && 0 <= got.Hi && got.Known {
			hit++
		}
	}
	return float64(hit) / float64(trials)
}

// 95 % intervals of differences contain the true difference in 95 of 100 cases, also for correlated samples.
func TestDifferenceCoverage(t *testing.T) {
	for _, c := range []struct {
		n   int
		phi float64
	}{{150, 0}, {600, 0}, {300, 0.5}, {600, 0.8}, {3000, 0.9}, {1500, -0.5}} {
		const trials = 1000
		slack := 3 * math.Sqrt(0.95*0.05/float64(trials)) // three standard errors of the simulation
		got := coverage(trials, c.n, c.phi)
		t.Logf("n = %d, phi = %g: covers %.3f", c.n, c.phi, got)
		if math.Abs(got-0.95) > slack && !(c.phi < 0 && got > 0.95) { // alternating values are known better than their blocks show
			t.Errorf("n = %d, phi = %g: covers %.3f", c.n, c.phi, got)
		}
	}
}

// The 95th percentiles of the sizes of packets of two encoders with the same distribution do not differ.
func TestQuantileCoverage(t *testing.T) {
	const trials, n = 1000, 600
	rng := rand.New(rand.NewPCG(5, 5))
	hit := 0
	for range trials {
		base, x, y := autoregressive(rng, n, 0.7), autoregressive(rng, n, 0.7), autoregressive(rng, n, 0.7)
		for k := range base {
			x[k], y[k] = 100*math.Exp(0.1*(x[k]+base[k])), 100*math.Exp(0.1*(y[k]+base[k]))
		}
		if got := CompareQuantilesByRatio(x, y, 0.95); got.Known && got.Lo <= 1 && 1 <= got.Hi {
			hit++
		}
	}
	share := float64(hit) / trials
	t.Logf("covers %.3f", share)
	if share < 0.93 {
		t.Errorf("covers %.3f", share)
	}
}

// The interval of a quotient of quantiles is the inverse of that of the inverse quotient.
func TestQuotientsAreInverse(t *testing.T) {
	a, b := scenarios[3].run(rand.New(rand.NewPCG(1, 1)), 600)
	for _, q := range [][2]RatioInterval{{CompareQuantilesByRatio(a, b, 0.95), CompareQuantilesByRatio(b, a, 0.95)},
		{CompareByRatio(Ratio{a, ones(600)}, Ratio{b, ones(600)}), CompareByRatio(Ratio{b, ones(600)}, Ratio{a, ones(600)})}} {
		if there, back := q[0], q[1]; !there.Known || math.Abs(there.Ratio*back.Ratio-1) > 1e-9 || math.Abs(there.Lo*back.Hi-1) > 1e-9 {
			t.Errorf("%+v, inverse %+v", there, back)
		}
	}
}

// With equal blocks of independent values the interval is that of the textbook: the mean of the ten means, and
// Student's t with nine degrees of freedom.
func TestJackknifeOfMeans(t *testing.T) {
	const n = 200
	v := make([]float64, n)
	var means moments
	for block := range blocks {
		level := math.Sin(float64(block) * 7)
		for i := range n / blocks {
			v[block*n/blocks+i] = level + float64(1-2*(i%2)) // alternating, so that neighbours do not seem alike
		}
		means.add(level)
	}
	a, b := Ratio{v, ones(n)}, Ratio{ones(n), ones(n)}
	got := CompareByDifference(a, b)
	half := 2.262157 * math.Sqrt(means.variance()/blocks) * wideningFactor(influence(a, b, a.Value(), -1), n/blocks)
	var shares [blocks]float64
	for k := range shares {
		shares[k] = 1
	}
	if degreesOfFreedom(&shares) != 9 {
		t.Errorf("equal blocks have %d degrees of freedom", degreesOfFreedom(&shares))
	}
	shares = [blocks]float64{1}
	if degreesOfFreedom(&shares) != 5 { // (0 + 9) / 2, rounded
		t.Errorf("a single busy block has %d degrees of freedom", degreesOfFreedom(&shares))
	}
	var m moments
	for _, x := range v {
		m.add(x - 1)
	}
	if math.Abs(got.Estimate-m.mean) > 1e-9 || got.Block != 20 || !got.Known || (got.Hi-got.Lo)/2 < half*0.999 {
		t.Errorf("%+v, by the textbook ± %.4f", got, half)
	}
}

// TestWidening compares with the variance of block means, summed up lag by lag.
func TestWidening(t *testing.T) {
	const phi = 0.8
	for _, block := range []int{2, 10, 60} {
		seen, whole := 1.0, 1.0
		for k := 1; k < 4000; k++ {
			whole += 2 * math.Pow(phi, float64(k))
			if k < block {
				seen += 2 * (1 - float64(k)/float64(block)) * math.Pow(phi, float64(k))
			}
		}
		if got, want := neighbourFactor(phi, float64(block)), math.Sqrt(whole/seen); math.Abs(got-want) > 1e-9 {
			t.Errorf("blocks of %d: %v, want %v", block, got, want)
		}
	}
	if got := wideningFactor(make([]float64, 200), 10); got != 1 {
		t.Errorf("constants are widened by %v", got)
	}
}

// Too few pairs have an estimate without an interval; so have figures that are not finite.
func TestTooFewPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	a, b := against(rng, autoregressive(rng, MinPairs-1, 0))
	long := Ratio{ones(200), ones(200)}
	none, nothing := Ratio{ones(200), make([]float64, 200)}, Ratio{make([]float64, 200), ones(200)}
	few := ones(MinPairsForQuantile - 1)
	for name, got := range map[string]Interval{"few pairs": CompareByDifference(a, b), "over nothing": CompareByDifference(none, long),
		"no pairs": CompareByDifference(Ratio{}, Ratio{})} {
		if got.Known || got.Significant() {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, got := range map[string]RatioInterval{"few pairs": CompareByRatio(a, b), "over nothing": CompareByRatio(long, none), "of nothing": CompareByRatio(nothing, long),
		"over zero": CompareByRatio(long, nothing), "no pairs": CompareByRatio(Ratio{}, Ratio{}), "few packets": CompareQuantilesByRatio(few, few, 0.95),
		"no packets": CompareQuantilesByRatio(nil, nil, 0.5)} {
		if got.Known || got.Significant() {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Two equal series have the ratio 1 and the difference 0 exactly, and are not significant.
func TestEqualSeries(t *testing.T) {
	a, _ := scenarios[3].run(rand.New(rand.NewPCG(1, 1)), 200)
	r := Ratio{a, ones(200)}
	if q := CompareByRatio(r, r); !q.Known || q.Ratio != 1 || q.Lo != 1 || q.Hi != 1 || q.Significant() {
		t.Errorf("%+v", q)
	}
	if d := CompareByDifference(r, r); !d.Known || d.Lo != 0 || d.Hi != 0 || d.Significant() {
		t.Errorf("%+v", d)
	}
}
