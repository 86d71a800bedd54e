package search

import (
	"math"
	"strings"
	"testing"

	"wirelab/experiment/config"
)

// What the result says about confidence follows from what was run.
func TestConfidenceSentences(t *testing.T) {
	plain := func(j job) []float64 { return []float64{float64(10 + j.at[0])} }
	// Settings 0, 2 and 4 have the same noise, so that their difference is certain; 1 and 3 have the
	// opposite noise.
	noisy := func(j job) []float64 {
		return []float64{float64(10+j.at[0]) + []float64{0, 3, -3, 1}[j.seed]*float64(1-2*(j.at[0]%2))}
	}
	// The cheapest setting breaks the bound of 2 on the mean, and the next one with one seed only.
	bounded := func(j job) []float64 {
		return append(noisy(j), []float64{2.5, 1.9, 1}[j.at[0]]+[]float64{0, 0.2, -0.1, -0.2}[j.seed])
	}
	atMost := func(limit float64) config.Assertion { return config.Assertion{Name: "wrong", Op: "<=", Value: limit} }
	below0 := config.Assertion{Name: "wrong", Op: "<", Value: 0}
	constant := func(wrong float64) func(job) []float64 {
		return func(j job) []float64 { return append(plain(j), wrong) }
	}
	for name, x := range map[string]struct {
		c         *config.Config
		value     func(job) []float64
		bound     config.Assertion
		bounds    string
		best      string
		want, not []string // parts of the sentences
	}{
		"no noise": {c: newSpace(40, 4, 5), value: plain, best: "k0=0", want: []string{"The whole grid of 5 settings was run.", "The seed has no effect.",
			"1 of 1 neighbour of the best setting ran on the same frames: with the first seed, their lowest payload_kbps is 11, that of the best 10."},
			not: []string{"distinguished", "bound"}},
		"noise": {c: newSpace(60, 4, 5), value: noisy, best: "k0=0", want: []string{"With 4 seeds, 2 other settings cannot be distinguished from it."},
			not: []string{"no effect"}},
		"few runs": {c: newSpace(10, 4, 8), value: noisy, best: "k0=1", want: []string{"The limit of 10 runs did not allow for all 4 seeds."}},
		"best figure 0": {c: newSpace(60, 8, 5, 5), value: func(j job) []float64 {
			return []float64{float64(j.at[0]+j.at[1]) * (1 + 0.1*float64(j.seed%3))}
		}, best: "k0=0 k1=0", not: []string{"distinguished", "NaN", "Inf"}},
		"mean": {newSpace(60, 4, 3), bounded, atMost(2), "mean", "k0=1", []string{"It keeps all bounds, on the mean of 4 seeds.",
			"The 95 % interval of wrong, 1.6"}, nil},
		"each": {newSpace(60, 4, 3), bounded, atMost(2), "each", "k0=2", []string{"It keeps all bounds, with every seed of 4 seeds."}, nil},
		"none": {newSpace(60, 4, 3), bounded, atMost(0.5), "mean", "k0=2", []string{"No setting that was tried keeps all bounds. The closest, " +
			"with 4 seeds, is k0=2: wrong 0.975 ± 0.27, worst 1.2, misses <= 0.5 by 0.475."}, []string{"best", "from it"}},
		"strict": {newSpace(60, 4, 3), constant(0), below0, "mean", "k0=0", []string{"The seed has no effect.",
			"is k0=0: wrong 0, must be below 0."}, []string{"by 0"}},
		"no effect": {newSpace(60, 4, 3), constant(-1), below0, "mean", "k0=0",
			[]string{"It keeps all bounds, with every seed, because the seed has no effect."}, []string{"The seed has no effect", "mean"}},
		"no effect each": {newSpace(60, 4, 3), constant(-1), below0, "each", "k0=0",
			[]string{"It keeps all bounds, with every seed, because the seed has no effect."}, []string{"The seed has no effect", "seeds"}},
	} {
		x.c.Search.Bounds = x.bounds
		if x.bounds != "" {
			x.c.Search.Subject = []config.Assertion{x.bound}
		}
		f := searchSynthetic(t, t.Context(), x.c, x.value)
		text := strings.Join(f.Confidence, "\n")
		for _, want := range x.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		for _, not := range x.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q in\n%s", name, not, text)
			}
		}
		if f.Best.Text != x.best || f.Best.Keeps() != (name != "none" && name != "strict") || f.Bounds != x.bounds {
			t.Errorf("%s: best %+v, bounds %q", name, f.Best, f.Bounds)
		}
		if name != "mean" {
			continue
		}
		for _, r := range append(f.Rivals, rival{Candidate: *f.Best}) {
			want := map[string]string{"k0=0": "breaks: wrong 2.47 ± 0.27, worst 2.7, misses <= 2 by 0.475",
				"k0=1": "ok: wrong 1.88 ± 0.27, worst 2.1", "k0=2": "ok: wrong 0.975 ± 0.27"}[r.Text]
			if r.BoundsText() != want {
				t.Errorf("%s: %q, want %q", r.Text, r.BoundsText(), want)
			}
		}
	}
}

// A bound is violated by the difference relative to the larger of bound and figure; the violations add
// up. With few seeds, a mean may exceed its bound a little; a bound on every seed, or with ==, is
// violated at once.
func TestViolation(t *testing.T) {
	s := &search{seeds: 4}
	s.spec.Subject = []config.Assertion{{Name: "a", Op: "<=", Value: 100}, {Name: "b", Op: ">=", Value: 400}, {Name: "c", Op: "==", Value: 0}}
	for _, x := range []struct {
		bounds string
		runs   [][]float64 // a, b and c by seed
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
			tr.runs = append(tr.runs, outcome{Figures: append([]float64{0}, bounded...)})
		}
		if got := s.violation(tr); math.Abs(got-x.want) > 1e-12 {
			t.Errorf("%s %v: %g, want %g", x.bounds, x.runs, got, x.want)
		}
	}
}

// If the configuration itself is a setting, the result has the ratio of the best to it, paired by seed,
// also if it is the best; otherwise none.
func TestRatioToOwn(t *testing.T) {
	for every, want := range map[int]float64{1: 1, 3: 10.0 / 12, 4: -1} {
		c := newSpace(20, 1)
		c.Sender.Every = every
		c.Search.Over = []config.Range{{Key: "sender.every", Values: []any{int64(1), int64(2), int64(3)}, Ordered: true}}
		f := searchSynthetic(t, t.Context(), c, func(j job) []float64 { return []float64{float64(10 + j.at[0])} })
		if (f.RatioToOwn != nil) != (want > 0) || want > 0 && math.Abs(f.RatioToOwn.Mean-want) > 1e-9 {
			t.Errorf("every %d: %+v, want %g", every, f.RatioToOwn, want)
		}
	}
}
