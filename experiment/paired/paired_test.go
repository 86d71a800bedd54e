package paired

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wirelab/internal/testkit"
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

// TestIndependentDifferences: with blocks of one pair, the interval is mean ± t s/√n,
// up to the scatter of the draws.
func TestIndependentDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{50, 200, 1000} {
		v := autoregressive(rng, n, 0)
		a, b := against(rng, v)
		got := ratios(a, b, 1, 1, 7)
		var m moments
		for _, x := range v {
			m.add(x)
		}
		half := textbook(n) * math.Sqrt(m.variance()/float64(n))
		if math.Abs(got.Estimate-m.mean) > 1e-9 || math.Abs((got.Hi-got.Lo)/2-half) > 0.12*half {
			t.Errorf("n = %d: %.4f ± %.4f, by the textbook %.4f ± %.4f", n, got.Estimate, (got.Hi-got.Lo)/2, m.mean, half)
		}
	}
}

// TestBlockVarianceClosedForm: for a mean, the variance over all draws of circular
// blocks is known: that of the n block means over the number of blocks.
func TestBlockVarianceClosedForm(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const n, block = 600, 12
	v := autoregressive(rng, n, 0.8)
	a, b := against(rng, v)
	var m moments
	for from := range n {
		s := 0.0
		for i := range block {
			s += v[(from+i)%n]
		}
		m.add(s / block)
	}
	k := float64(n) / block
	want := kieferVogelsang(block/float64(n)) * math.Sqrt(m.squares/n/k)
	got := ratios(a, b, block, 1, 3)
	if half := (got.Hi - got.Lo) / 2; math.Abs(half-want) > 0.12*want {
		t.Errorf("half width %.4f, by the closed form %.4f", half, want)
	}
}

// coverage returns the fraction of trials whose interval contains the true difference of
// 0.
func coverage(trials, n int, phi float64, interval func(a, b Ratio, seed uint64) Interval) float64 {
	rng := rand.New(rand.NewPCG(4, uint64(n)))
	hit := 0
	for i := range trials {
		a, b := against(rng, autoregressive(rng, n, phi))
		if got := interval(a, b, uint64(i)); got.Lo <= 0 && 0 <= got.Hi && got.Known {
			hit++
		}
	}
	return float64(hit) / float64(trials)
}

// TestCoverage: 95 % intervals contain the true difference in 95 of 100 cases, also
// for correlated samples, for which naive intervals do not.
func TestCoverage(t *testing.T) {
	trials := testkit.ChooseLong(400, 150, 50)
	naive := func(a, b Ratio, seed uint64) Interval { return ratios(a, b, 1, 1, seed) }
	for _, c := range []struct {
		n           int
		phi         float64
		least       float64 // what the blocks may fall short to: small samples cannot know their own memory
		naiveAtMost float64
	}{
		{100, 0, 0.94, 1}, {600, 0, 0.94, 1}, {300, 0.5, 0.94, 0.80}, {600, 0.8, 0.94, 0.60}, {3000, 0.9, 0.94, 0.45},
		{1500, -0.5, 0.94, 1},
		{100, 0.8, 0.90, 0.60}, {200, 0.9, 0.90, 0.45}, {600, 0.95, 0.92, 0.35}, // ten seconds, twenty, a minute
	} {
		trials := min(trials, 150_000/c.n)
		slack := 3 * math.Sqrt(0.95*0.05/float64(trials)) // three standard errors of the simulation
		got := coverage(trials, c.n, c.phi, CompareByDifference)
		alone := coverage(trials, c.n, c.phi, naive)
		t.Logf("n = %d, phi = %g: blocks cover %.3f, single pairs %.3f", c.n, c.phi, got, alone)
		if got < c.least-slack || got > 0.99+slack {
			t.Errorf("n = %d, phi = %g: covers %.3f", c.n, c.phi, got)
		}
		if alone > c.naiveAtMost+slack {
			t.Errorf("n = %d, phi = %g: the naive interval covers %.3f too, so the test is not meaningful", c.n, c.phi, alone)
		}
	}
}

// TestQuantileCoverage: the 95th percentiles of two correlated samples of one
// distribution do not differ.
func TestQuantileCoverage(t *testing.T) {
	trials := 300
	if !testkit.Thorough() {
		trials = 100
	}
	rng := rand.New(rand.NewPCG(5, 5))
	hit := 0
	for i := range trials {
		base, x, y := autoregressive(rng, 600, 0.7), autoregressive(rng, 600, 0.7), autoregressive(rng, 600, 0.7)
		for k := range base {
			x[k] += base[k]
			y[k] += base[k]
		}
		if got := bootstrapQuantiles(x, y, 0.95, uint64(i)); got.Known && got.Lo <= 0 && 0 <= got.Hi {
			hit++
		}
	}
	if share := float64(hit) / float64(trials); share < 0.89 {
		t.Errorf("covers %.3f", share)
	} else {
		t.Logf("covers %.3f", share)
	}
}

// TestQuantileOfTwoClusters: a's values form two clusters, both far above b's. The
// median may lie in either, but the difference is significant.
func TestQuantileOfTwoClusters(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	x, y := make([]float64, 600), make([]float64, 600)
	for i := range x {
		x[i], y[i] = 300+rng.Float64(), 10+rng.Float64()
		if i/50%2 == 0 {
			x[i] += 4000
		}
	}
	if got := bootstrapQuantiles(x, y, 0.5, 1); !got.Significant() || got.Lo < 200 || got.Hi < 4000 {
		t.Errorf("%+v", got)
	}
}

// TestQuantileOfDraws compares the counted quantile with one that sorts.
func TestQuantileOfDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 500 {
		n := 1 + rng.IntN(40)
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(rng.IntN(20)) // ties
		}
		r := rank(v)
		times := make([]int32, n)
		var drawn []float64
		for range n {
			i := rng.IntN(n)
			drawn = append(drawn, v[i])
			times[r.rank[i]]++
		}
		slices.Sort(drawn)
		for _, p := range []float64{0.05, 0.5, 0.95} {
			want := drawn[max(int(math.Ceil(p*float64(n))), 1)-1]
			if got := r.quantile(times, n, p); got != want {
				t.Fatalf("n = %d, p = %g: %g, want %g", n, p, got, want)
			}
		}
	}
}

// TestBlockLength: blocks are short without correlation, longer with longer
// correlation, and never exceed maxBlockShare.
func TestBlockLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	before := 0.0
	for _, phi := range []float64{0, 0.5, 0.8, 0.95} {
		total := 0
		for range 20 {
			b := blockLength(autoregressive(rng, 3000, phi))
			if b < 1 || b > 1050 {
				t.Fatalf("a block of %d", b)
			}
			total += b
		}
		mean := float64(total) / 20
		t.Logf("phi = %g: %.1f pairs", phi, mean)
		if mean < before*1.5 || phi == 0 && mean > 6 {
			t.Errorf("phi = %g: blocks of %.1f pairs, %.1f with less correlation", phi, mean, before)
		}
		before = mean
	}
	drift := make([]float64, 1000)
	for i := range drift {
		drift[i] = float64(i)
	}
	if got := blockLength(drift); got != 350 {
		t.Errorf("data with a trend get blocks of %d, want the limit", got)
	}
	if got := blockLength(make([]float64, 100)); got != 1 {
		t.Errorf("constants get blocks of %d", got)
	}
}

// textbook is the 97.5 % quantile of Student's t for n values, from the tables.
func textbook(n int) float64 {
	return map[int]float64{50: 2.0096, 200: 1.9720, 1000: 1.9623}[n]
}

// kieferVogelsang are the critical values for Bartlett's kernel (Kiefer and Vogelsang, 2005, table 1).
func kieferVogelsang(b float64) float64 { return 1.96 + 2.9694*b + 0.4160*b*b - 0.5324*b*b*b }

// TestCritical compares short blocks with the published values, since wrapping around
// makes no difference there, and long blocks with a simulation.
func TestCritical(t *testing.T) {
	for b := 0.0; b <= 0.2; b += 0.02 {
		if got, want := critical(b), kieferVogelsang(b); math.Abs(got-want) > 0.02*want {
			t.Errorf("b = %.2f: %.3f, published: %.3f", b, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(12, 12))
	const n, block, trials = 200, 70, 4000
	beyond := 0
	for range trials {
		v := autoregressive(rng, n, 0)
		r := newPrefixSums(v, block)
		mean := sum(v) / n
		var m moments
		for from := range n {
			m.add(r.sumOf(from, block)/block - mean)
		}
		if math.Abs(mean) > critical(float64(block)/n)*math.Sqrt(m.squares/n*block/n) {
			beyond++
		}
	}
	if share := float64(beyond) / trials; math.Abs(share-0.05) > 0.012 {
		t.Errorf("b = %.2f: a fraction of %.3f lies beyond, want 0.05", float64(block)/n, share)
	}
}

// TestWidening compares with the variance of block means, summed up lag by lag.
func TestWidening(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	v := autoregressive(rng, 2000, 0.8)
	r := autocovariance(v, 1)
	phi := persistence(r[1]/r[0], len(v))
	for _, block := range []int{2, 10, 60} {
		seen, whole := 1.0, 1.0
		for k := 1; k < 4000; k++ {
			whole += 2 * math.Pow(phi, float64(k))
			if k < block {
				seen += 2 * (1 - float64(k)/float64(block)) * math.Pow(phi, float64(k))
			}
		}
		if got, want := wideningFactor(v, block), math.Sqrt(whole/seen); math.Abs(got-want) > 1e-9 {
			t.Errorf("blocks of %d: %v, want %v", block, got, want)
		}
	}
	if got := wideningFactor(autoregressive(rng, 200, -0.7), 10); got != 1 {
		t.Errorf("alternating values are widened by %v", got)
	}
	if got := wideningFactor(make([]float64, 200), 10); got != 1 {
		t.Errorf("constants are widened by %v", got)
	}
}

// The blocks of a draw have the block length, except the last one, and add up to n pairs.
func TestBlocksOfDraw(t *testing.T) {
	for _, x := range []struct {
		n, block int
		want     []int
	}{{12, 4, []int{4, 4, 4}}, {10, 4, []int{4, 4, 2}}, {3, 4, []int{3}}, {1, 1, []int{1}}} {
		d := newDraws(x.n, x.block, 7)
		for range 50 {
			var got []int
			d.forEachBlock(func(from, length int) {
				if from < 0 || from >= x.n {
					t.Errorf("%d pairs: a block from %d", x.n, from)
				}
				got = append(got, length)
			})
			if !slices.Equal(got, x.want) {
				t.Fatalf("%d pairs: blocks of %d, want %d", x.n, got, x.want)
			}
		}
	}
}

// The correction of an autocorrelation is that of Marriott and Pope (1954), and the result stays below 1.
// The largest lag is less than the number of values.
func TestPersistence(t *testing.T) {
	for _, x := range []struct {
		r    float64
		n    int
		want float64
	}{{0, 100, 0.01}, {0.5, 100, 0.525}, {0.8, 20, 0.97}, {0.9, 20, 0.99}, {-0.5, 100, -0.49}} {
		if got := persistence(x.r, x.n); math.Abs(got-x.want) > 1e-12 {
			t.Errorf("%g from %d values: %g, want %g", x.r, x.n, got, x.want)
		}
	}
	for n := 1; n < 300; n++ {
		if lag := maxLag(n); lag >= n {
			t.Errorf("%d values: largest lag %d", n, lag)
		}
	}
}

// From MinPairsForDifference pairs on, an interval is known.
func TestEnoughPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	a, b := against(rng, autoregressive(rng, MinPairsForDifference, 0))
	if i := CompareByDifference(a, b, 1); !i.Known {
		t.Errorf("difference of ratios: %+v", i)
	}
	if i := bootstrapQuantiles(a.Num, b.Num, 0.95, 1); !i.Known {
		t.Errorf("difference of quantiles: %+v", i)
	}
}

func TestTooFewPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	a, b := against(rng, autoregressive(rng, MinPairsForDifference-1, 0))
	none := Ratio{ones(100), make([]float64, 100)}
	for name, got := range map[string]Interval{
		"few pairs": CompareByDifference(a, b, 1), "over nothing": CompareByDifference(none, Ratio{ones(100), ones(100)}, 1), "nothing": CompareByDifference(Ratio{}, Ratio{}, 1),
		"few for a quantile": bootstrapQuantiles(a.Num, b.Num, 0.95, 1), "no quantile": bootstrapQuantiles(nil, nil, 0.5, 1),
	} {
		if got.Known || got.Significant() {
			t.Errorf("%s: %+v", name, got)
		}
	}
	same, again := CompareByDifference(widen(a), widen(b), 1), CompareByDifference(widen(a), widen(b), 1)
	if same != again || !same.Known {
		t.Errorf("one seed gave %+v and %+v", same, again)
	}
}

func widen(r Ratio) Ratio {
	return Ratio{append(slices.Clone(r.Num), r.Num...), append(slices.Clone(r.Den), r.Den...)}
}

func BenchmarkRatios(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 9))
	x, y := against(rng, autoregressive(rng, 3000, 0.5))
	for b.Loop() {
		CompareByDifference(x, y, 1)
	}
}

func BenchmarkQuantiles(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 9))
	x, y := against(rng, autoregressive(rng, 600, 0.5))
	for b.Loop() {
		bootstrapQuantiles(x.Num, y.Num, 0.95, 1)
	}
}
