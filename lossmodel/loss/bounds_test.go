package loss_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"wirelab/lossmodel/loss"
)

// For independent losses the bounds contain the exact quantiles of the binomial distribution and
// are not much wider.
func TestBoundsIndependentLosses(t *testing.T) {
	const alpha = 1e-5
	for _, c := range []struct {
		p float64
		n int
	}{{0.02, 60}, {0.02, 3600}, {0.5, 200}, {0.001, 100}, {0.9, 1000}, {0.05, 50000}} {
		var o loss.LossBounds
		if !o.Add(loss.Bernoulli{P: c.p}, 1, int64(c.n)) || math.Abs(o.Mean()-c.p*float64(c.n)) > 1e-9 {
			t.Fatalf("%+v: mean %g", c, o.Mean())
		}
		term := func(k int) float64 {
			a, _ := math.Lgamma(float64(c.n + 1))
			b, _ := math.Lgamma(float64(k + 1))
			d, _ := math.Lgamma(float64(c.n - k + 1))
			return math.Exp(a - b - d + float64(k)*math.Log(c.p) + float64(c.n-k)*math.Log1p(-c.p))
		}
		low, high := 0, c.n
		for sum := term(0); sum < alpha/2; sum += term(low) {
			low++
		}
		for sum := term(c.n); sum < alpha/2; sum += term(high) {
			high--
		}
		least, most := o.Interval(alpha)
		sd := math.Sqrt(c.p * (1 - c.p) * float64(c.n))
		if least > float64(low)+1 || most < float64(high)-1 || least < float64(low)-sd-2 || most > float64(high)+sd+2 {
			t.Errorf("%+v: %g to %g, exactly %d to %d", c, least, most, low, high)
		}
	}
}

// For bursty losses and changing models at most the fraction alpha of runs exceeds the bounds.
// Bounds for independent losses are exceeded far more often.
func TestBoundsBursts(t *testing.T) {
	const runs, alpha, n = 1000, 0.02, 600
	models := []loss.Model{loss.Gilbert{Mean: 0.05, Burst: 8}, loss.GilbertElliott{P: 0.01, R: 0.1, H: 0.5, K: 0.99}, parseModel(t, "correlated p=10% rho=60%")}
	for i, first := range models {
		second := loss.Gilbert{Mean: 0.2, Burst: 3}
		var o, alone loss.LossBounds
		o.Add(first, 1, n)
		o.Add(second, 1, n)
		alone.Add(loss.Bernoulli{P: (loss.RateOf(first) + 0.2) / 2}, 1, 2*n)
		least, most := o.Interval(alpha)
		low, high := alone.Interval(alpha)
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		out, outAlone := 0, 0
		for range runs {
			lost := 0.0
			a, b := first.Process(nil, nil), second.Process(nil, nil)
			for k := range 2 * n {
				p, process := loss.Packet{Word: rng.Uint64(), Fragments: 1}, a
				if k >= n {
					process = b
				}
				if process.Judge(&p); p.Lost != loss.NotLost {
					lost++
				}
			}
			if lost < least || lost > most {
				out++
			}
			if lost < low || lost > high {
				outAlone++
			}
		}
		if out > runs*alpha || outAlone < 5*runs*alpha {
			t.Errorf("%T: %d of %d runs outside %g to %g, %d outside the bounds for independent losses", first, out, runs, least, most, outAlone)
		}
	}
}

// A deterministic model may deviate from its mean by one run.
func TestBoundsPatterns(t *testing.T) {
	var o loss.LossBounds
	if o.Add(loss.Trace{}, 1, 5) {
		t.Error("Add of a model with a file returned true")
	}
	o.Add(parseModel(t, "pattern bits=0001"), 1, 1000)
	if least, most := o.Interval(1e-5); least > 250 || most < 250 || most-least > 4 {
		t.Errorf("%g to %g of 250", least, most)
	}
}

// parseModel returns the model that a text describes.
func parseModel(t *testing.T, text string) loss.Model {
	t.Helper()
	table, _ := loss.Parse(text)
	m, err := loss.Read(table)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
