package search

import (
	"math"
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/config"
)

// A figure is compared with the best in percent, or as a value if the best is 0.
func TestCompareText(t *testing.T) {
	for _, x := range []struct {
		x, best float64
		want    string
	}{{100, 100, "equal"}, {110, 100, "10.00 % higher"}, {95, 100, "5.00 % lower"}, {5, 0, "5 (best: 0)"}, {0, 0, "equal"}, {math.Inf(1), 100, "+Inf (best: 100)"}, {0, 100, "100.00 % lower"}} {
		if got := compareText(x.x, x.best); got != x.want {
			t.Errorf("%g against %g: %s, want %s", x.x, x.best, got, x.want)
		}
	}
}

// If the best figure is 0, there are no ratios, but other settings are still distinguished from it.
func TestBestFigureIsZero(t *testing.T) {
	f, err := searchSynthetic(t, t.Context(), newSpace(60, 8, 5, 5), func(j job) outcome {
		return outcome{Figure: float64(j.at[0]+j.at[1]) * (1 + 0.1*float64(j.seed%3))}
	})
	if err != nil || f.Best.Text != "k0=0 k1=0" {
		t.Fatalf("%+v, %v", f.Best, err)
	}
	text := strings.Join(f.Confidence, "\n")
	for _, word := range []string{"cannot be distinguished", "NaN", "Inf"} {
		if strings.Contains(text, word) {
			t.Error(text)
		}
	}
}

// What the result says about confidence follows from what was run.
func TestConfidenceSentences(t *testing.T) {
	has := func(f *Result, want string, present bool) {
		t.Helper()
		if text := strings.Join(f.Confidence, "\n"); strings.Contains(text, want) != present {
			t.Errorf("%q present: %v, in\n%s", want, !present, text)
		}
	}
	plain := func(j job) outcome { return outcome{Figure: float64(10 + j.at[0])} }
	// Settings 0, 2 and 4 have the same noise, so that their difference is certain; 1 and 3 have the
	// opposite noise.
	noisy := func(j job) outcome {
		return outcome{Figure: float64(10+j.at[0]) + []float64{0, 3, -3, 1}[j.seed]*float64(1-2*(j.at[0]%2))}
	}
	run := func(c *config.Config, value func(job) outcome) *Result {
		f, err := searchSynthetic(t, t.Context(), c, value)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := run(newSpace(40, 4, 5), plain)
	has(f, "All 5 settings were run: no other setting is better", true)
	has(f, "Of the 1 neighbours of the best setting, 1 were run on the same frames. With the first seed, the lowest figure of a neighbour is 10.00 % higher.", true)
	has(f, "cannot be distinguished", false)
	f = run(newSpace(60, 4, 5), noisy)
	has(f, "All 5 settings were run with the first seed, and those that may be the best with up to 4 seeds.", true)
	has(f, "With 4 seeds, 2 other settings cannot be distinguished from it.", true)
	if f.Best.Text != "k0=0" || f.Seeds != 4 || f.Rivals[0].Text != "k0=1" {
		t.Errorf("%+v", f)
	}
	f = run(newSpace(10, 4, 8), noisy)
	has(f, "The limit of 10 runs did not allow for all 4 seeds.", true)
	// bounded returns a search whose figure "wrong" is limited, and limits the outcomes.
	bounded := func(size int, op string, limit float64) *config.Config {
		c := newSpace(60, 4, size)
		c.Search.Subject = []config.Assertion{{Name: "wrong", Op: op, Value: limit}}
		return c
	}
	f = run(bounded(3, "==", 0), func(j job) outcome {
		v := noisy(j)
		v.Bounded = []float64{map[bool]float64{true: 1}[j.seed == 2]}
		return v
	})
	has(f, "No setting that was tried keeps all bounds. With the one that is closest, wrong is 1 with the worst seed, over 4 seeds.", true)
	if f.Best.Keeps() || f.Bounds != config.MeanOfSeeds {
		t.Errorf("best %+v, bounds %q", f.Best, f.Bounds)
	}
	// The cheapest setting breaks the bound on the mean, and the next one with one seed only.
	c := bounded(3, "<=", 2)
	value := func(j job) outcome {
		v := noisy(j)
		v.Bounded = []float64{[]float64{2.5, 1.9, 1}[j.at[0]] + []float64{0, 0.2, -0.1, -0.2}[j.seed]}
		return v
	}
	f = run(c, value)
	has(f, "It keeps all bounds, on the mean of 4 seeds.", true)
	has(f, "The 95 % interval of wrong, 1.6", true)
	if f.Best.Text != "k0=1" || !f.Best.Keeps() || !f.Best.Bounds[0].Holds || f.Best.Bounds[0].Worst != 2.1 || f.Best.BoundsText() != "ok: wrong 1.88 ± 0.27, worst 2.1" {
		t.Errorf("best %+v: %s", f.Best, f.Best.BoundsText())
	}
	i := slices.IndexFunc(f.Rivals, func(r rival) bool { return r.Text == "k0=0" })
	if i < 0 || f.Rivals[i].Keeps() || f.Rivals[i].BoundsText() != "breaks: wrong 2.47 ± 0.27, worst 2.7" {
		t.Errorf("rivals %s: %+v", f.Rivals[max(i, 0)].BoundsText(), f.Rivals)
	}
	c.Search.Bounds = config.EachSeed
	if f = run(c, value); f.Best.Text != "k0=2" || !f.Best.Keeps() {
		t.Errorf("with each seed the best is %+v", f.Best)
	}
	has(f, "It keeps all bounds, with each of 4 seeds.", true)
}

// A bound is violated by the difference relative to the larger of bound and figure; the violations add
// up. With few seeds, a mean may exceed its bound a little; a bound on every seed, or with ==, is
// violated at once.
func TestViolation(t *testing.T) {
	s := &search{seeds: 4, spec: config.Search{Subject: []config.Assertion{{Name: "a", Op: "<=", Value: 100}, {Name: "b", Op: ">=", Value: 400}, {Name: "c", Op: "==", Value: 0}}}}
	for _, x := range []struct {
		bounds string
		runs   [][]float64
		want   float64
	}{
		{"mean", [][]float64{{200, 100, 0}}, 0.5 + 0.75},
		{"mean", [][]float64{{100, 400, 0}}, 0},
		{"mean", [][]float64{{150, 400, 0}}, 0},                                    // a third above, with one of four seeds
		{"mean", [][]float64{{150, 400, 0}, {150, 400, 0}, {150, 400, 0}}, 1. / 3}, // and with three
		{"mean", [][]float64{{101, 1e6, 0}, {101, 1e6, 0}, {102, 1e6, 0}, {99, 1e6, 0}}, 0.75 / 100.75},
		{"each", [][]float64{{150, 400, 0}}, 1. / 3},
		{"each", [][]float64{{90, 400, 0}, {200, 400, 0}, {90, 400, 0}, {90, 400, 0}}, 0.5},
		{"mean", [][]float64{{90, 400, 0}, {90, 400, 1}}, 1},
	} {
		s.spec.Bounds = x.bounds
		tr := &trial{}
		for _, bounded := range x.runs {
			tr.runs = append(tr.runs, outcome{Bounded: bounded})
		}
		if got := s.violation(tr); math.Abs(got-x.want) > 1e-12 {
			t.Errorf("%s %v: %g, want %g", x.bounds, x.runs, got, x.want)
		}
	}
	if got := s.violation(&trial{runs: []outcome{*failedOutcome("no")}}); !math.IsInf(got, 1) {
		t.Errorf("a setting that cannot be run: %g", got)
	}
}

// If the configuration itself is a setting, the result has the ratio of the best to it, paired by seed,
// also if it is the best; otherwise none.
func TestRatioToOwn(t *testing.T) {
	for every, want := range map[int]float64{1: 1, 3: 10.0 / 12, 4: -1} {
		c := config.Default()
		c.Sender.Every = every
		c.Search = config.Search{Minimise: "payload_kbps", Runs: 20, Seeds: 1, Over: []config.Range{{Key: "sender.every", Values: []any{int64(1), int64(2), int64(3)}, Ordered: true}}}
		f, err := searchSynthetic(t, t.Context(), c, func(j job) outcome { return outcome{Figure: float64(10 + j.at[0])} })
		if err != nil || (f.RatioToOwn != nil) != (want > 0) || want > 0 && math.Abs(f.RatioToOwn.Mean-want) > 1e-9 {
			t.Errorf("every %d: %+v, %v, want %g", every, f.RatioToOwn, err, want)
		}
	}
}
