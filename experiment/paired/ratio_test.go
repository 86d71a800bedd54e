package paired

import (
	"math"
	"math/rand/v2"
	"testing"
)

// scenes returns the payloads of two encoders on the same frames: both vary by a factor
// of eight with the data, and each has additional noise. truth is the true quotient.
func scenes(rng *rand.Rand, n int, phi, scatter, times float64) (a, b Ratio, truth float64) {
	busy := autoregressive(rng, n, 0.97)
	x, y := autoregressive(rng, n, phi), autoregressive(rng, n, phi/2)
	own, other := scatter*math.Sqrt(1-phi*phi), scatter*math.Sqrt(1-phi*phi/4)
	a, b = Ratio{make([]float64, n), ones(n)}, Ratio{make([]float64, n), ones(n)}
	for i := range n {
		scene := 1000 * math.Exp(0.15*busy[i])
		a.Num[i], b.Num[i] = times*scene*math.Exp(own*x[i]), scene*math.Exp(other*y[i])
	}
	return a, b, times // the noise of both has the same distribution, so its mean cancels out
}

// TestQuotientCoverage: the intervals contain the true quotient in 95 of 100 cases, and
// in not much fewer if the data are too few to estimate the correlation time. A quotient
// of 2.9 is significant after two seconds.
func TestQuotientCoverage(t *testing.T) {
	for _, c := range []struct {
		n          int
		phi, least float64
	}{
		{20, 0, 0.95}, {20, 0.8, 0.92}, {50, 0.5, 0.95}, {50, 0.9, 0.87}, {100, 0.8, 0.93}, {200, 0.9, 0.92}, {600, 0, 0.94},
		{600, 0.8, 0.92}, {600, 0.95, 0.87},
	} {
		rng := rand.New(rand.NewPCG(4, uint64(c.n)))
		covers, sure, byDifference := 0, 0, 0
		trials := min(400, 90_000/c.n)
		for i := range trials {
			a, b, truth := scenes(rng, c.n, c.phi, 0.15, 2.9)
			q := CompareByRatio(a, b, uint64(i))
			if q.Known && q.Lo <= truth && truth <= q.Hi {
				covers++
			}
			if q.Significant() {
				sure++
			}
			if i < 50 && CompareByDifference(a, b, uint64(i)).Significant() {
				byDifference++
			}
		}
		share := float64(covers) / float64(trials)
		t.Logf("n = %d, phi = %g: covers %.3f, sure in %d of %d; by their difference in %d of %d", c.n, c.phi, share, sure, trials,
			byDifference, min(trials, 50))
		if slack := 3 * math.Sqrt(0.95*0.05/float64(trials)); share < c.least-slack {
			t.Errorf("n = %d, phi = %g: covers %.3f", c.n, c.phi, share)
		}
		if float64(sure) < 0.95*float64(trials) {
			t.Errorf("n = %d, phi = %g: a quotient of 2.9 is significant in %d of %d", c.n, c.phi, sure, trials)
		}
	}
}

// The interval of a quotient of quantiles has the same coverage, and is the inverse of
// that of the inverse quotient.
func TestQuantileQuotients(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	hit := 0
	const trials = 100
	for i := range trials {
		a, b, truth := scenes(rng, 600, 0.7, 0.15, 2)
		q := CompareQuantilesByRatio(a.Num, b.Num, 0.95, uint64(i))
		if q.Known && q.Lo <= truth && truth <= q.Hi {
			hit++
		}
		back := CompareQuantilesByRatio(b.Num, a.Num, 0.95, uint64(i))
		if math.Abs(q.Ratio*back.Ratio-1) > 1e-9 || math.Abs(q.Lo*back.Hi-1) > 0.02 {
			t.Errorf("%+v, inverse %+v", q, back)
		}
	}
	if hit < 85 {
		t.Errorf("covers in %d of %d", hit, trials)
	}
}

func TestQuotientUnknown(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	a, b, _ := scenes(rng, 40, 0, 0.1, 2)
	head := func(r Ratio, n int) Ratio { return Ratio{r.Num[:n], r.Den[:n]} }
	none := Ratio{make([]float64, 40), ones(40)}
	for name, q := range map[string]RatioInterval{
		"few pairs":    CompareByRatio(head(a, MinPairsForRatio-1), head(b, MinPairsForRatio-1), 1),
		"over nothing": CompareByRatio(a, none, 1), "of nothing": CompareByRatio(none, a, 1), "no pairs": CompareByRatio(Ratio{}, Ratio{}, 1),
		"no quantile": CompareQuantilesByRatio(nil, nil, 0.5, 1),
	} {
		if q.Known || q.Significant() {
			t.Errorf("%s: %+v", name, q)
		}
	}
	same := CompareByRatio(a, a, 1)
	if !same.Known || same.Ratio != 1 || same.Lo != 1 || same.Hi != 1 || same.Significant() {
		t.Errorf("two equal series: %+v", same)
	}
}
