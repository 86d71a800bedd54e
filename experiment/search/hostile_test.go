package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"wirelab/experiment/config"
)

// searchSynthetic runs a search over the outcomes that value returns, and counts its cost in complete runs.
func searchSynthetic(t *testing.T, ctx context.Context, c *config.Config, value func(job) outcome) (f *Result, cost float64, err error) {
	t.Helper()
	f, err = searchWith(ctx, c, func(ctx context.Context, jobs []job) ([]outcome, error) {
		values := make([]outcome, len(jobs))
		for i, j := range jobs {
			if ctx.Err() != nil {
				return values, ctx.Err()
			}
			values[i] = value(j)
			cost += 1 / float64(j.Divisor)
		}
		return values, nil
	}, nil, outcome{})
	if f != nil {
		if _, err := json.Marshal(f); err != nil {
			t.Errorf("the result cannot be encoded: %v", err)
		}
	}
	return f, cost, err
}

// newSpace returns a search over ordered ranges k0, k1 and so on with the given numbers of values.
func newSpace(runs, seeds int, sizes ...int) *config.Config {
	c := config.Default()
	c.Search = config.Search{Minimise: []string{"payload_kbps"}, Runs: runs, Seeds: seeds}
	for d, n := range sizes {
		r := config.Range{Key: fmt.Sprint("k", d), Ordered: true}
		for v := range n {
			r.Values = append(r.Values, int64(v))
		}
		c.Search.Over = append(c.Search.Over, r)
	}
	return c
}

// A search does not exceed its limit of runs, for one and for two figures, with and without noise.
func TestBudgetIsNotExceeded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 150 {
		c := newSpace(10+r.IntN(60), 1+r.IntN(12), 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(9))
		c.Seed = uint64(trial)
		noise := float64(trial % 2)
		if trial%3 == 0 {
			c.Search.Minimise = []string{"payload_kbps", "wire_kbps"}
		}
		f, cost, err := searchSynthetic(t, t.Context(), c, func(j job) outcome {
			v := outcome{}
			for i := range c.Search.Minimise {
				luck := rand.New(rand.NewPCG(uint64(j.Seed), uint64(j.Setting[0]+10*j.Setting[1]+100*j.Setting[2]+i))).Float64()
				v.Figures = append(v.Figures, math.Abs(float64(j.Setting[i]-3))+float64(j.Setting[2])+noise*luck)
			}
			return v
		})
		if err != nil || cost > float64(c.Search.Runs) || math.Abs(cost-f.Runs) > 1e-9 {
			t.Fatalf("trial %d: cost %g of %d runs, reported %g: %v", trial, cost, c.Search.Runs, f.Runs, err)
		}
	}
}

// Every value of a wide range can be drawn.
func TestDrawsReachEveryValue(t *testing.T) {
	c := newSpace(10, 1, 100)
	seen := map[int]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		for _, s := range drawSettings(c.Search.Over, 10, r) {
			seen[s[0]] = true
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d of 100 values were drawn", len(seen))
	}
}

// An interrupted search returns the best setting so far.
func TestInterruptedSearchReturnsBest(t *testing.T) {
	for _, after := range []int{1, 12, 40, 60, 90} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		f, _, err := searchSynthetic(t, ctx, newSpace(60, 4, 9, 9, 9), func(j job) outcome {
			if n++; n == after {
				cancel()
			}
			return outcome{Figures: []float64{float64(j.Setting[0] + j.Setting[1] + j.Setting[2] + 1)}}
		})
		cancel()
		if !errors.Is(err, context.Canceled) && n >= after {
			t.Errorf("after %d runs: %v", after, err)
		}
		if f == nil || n >= after && !f.Interrupted || after >= 60 && f.Best == nil {
			t.Errorf("after %d runs: %+v", after, f)
		}
	}
}

// A neighbour that cannot be run has no ratio, and the result can be encoded as JSON.
func TestNeighbourThatCannotBeRun(t *testing.T) {
	c := newSpace(60, 4, 9, 9)
	f, _, err := searchSynthetic(t, t.Context(), c, func(j job) outcome {
		if j.Setting[0] < 3 {
			return (&evaluator{spec: c.Search}).failedOutcome(errors.New("no"))
		}
		return outcome{Figures: []float64{float64(j.Setting[0]+j.Setting[1]) + 0.1*float64(j.Seed)}}
	})
	if err != nil || f.Best.Text != "k0=3 k1=0" {
		t.Errorf("%+v, %v", f.Best, err)
	}
}

// If the best figure is 0, there are no ratios, but other settings are still distinguished from it.
func TestBestFigureIsZero(t *testing.T) {
	c := newSpace(60, 8, 5, 5)
	f, _, err := searchSynthetic(t, t.Context(), c, func(j job) outcome {
		luck := rand.New(rand.NewPCG(uint64(j.Seed), 1)).Float64()
		return outcome{Figures: []float64{float64(j.Setting[0]+j.Setting[1]) * (1 + 0.1*luck)}}
	})
	if err != nil || f.Best.Text != "k0=0 k1=0" {
		t.Fatalf("%+v, %v", f.Best, err)
	}
	if text := strings.Join(f.Confidence, "\n"); strings.Contains(text, "cannot be distinguished") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error(text)
	}
}

// A bound that the best setting violates with any seed is reported.
func TestBoundViolatedOnLaterSeed(t *testing.T) {
	c := newSpace(60, 4, 3, 3)
	f, _, err := searchSynthetic(t, t.Context(), c, func(j job) outcome {
		v := outcome{Figures: []float64{float64(j.Setting[0]) + 0.1*float64(j.Seed)}}
		if j.Seed == 2 {
			v.Violation, v.Reason = 1, "wrong is 1"
		}
		return v
	})
	if err != nil || f.Best.Violations != "wrong is 1" {
		t.Errorf("breaks %q: %v", f.Best.Violations, err)
	}
}

// Drawn settings are counted in the short runs that all of them have, and no confidence is claimed if some are
// better there.
func TestConfidenceIsCounted(t *testing.T) {
	claims := map[bool]int{}
	for seed := range uint64(40) {
		c := newSpace(60, 1, 30, 30)
		c.Seed = seed
		misleading := seed%2 == 0 // the order in short runs is the opposite of that in complete runs
		f, _, err := searchSynthetic(t, t.Context(), c, func(j job) outcome {
			x := float64(j.Setting[0] + j.Setting[1])
			if misleading && j.Divisor > 1 {
				x = 100 - x
			}
			return outcome{Figures: []float64{x + 1}}
		})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(f.Confidence, "\n")
		if strings.Contains(text, "none of 24 settings") {
			claims[misleading]++
		}
	}
	if claims[true] > 0 || claims[false] != 20 {
		t.Errorf("confidence was claimed in %d of 20 misleading searches, and in %d of 20 others", claims[true], claims[false])
	}
}

// A space of 10^12 settings takes little memory and time.
func TestHugeSpace(t *testing.T) {
	c := newSpace(600, 4, 1000, 1000, 1000, 1000)
	c.Search.Minimise = []string{"payload_kbps", "wire_kbps"}
	f, _, err := searchSynthetic(t, t.Context(), c, func(j job) outcome {
		return outcome{Figures: []float64{float64(j.Setting[0] + j.Setting[2]), float64(1000 - j.Setting[0] + j.Setting[3])}}
	})
	if err != nil || f.Settings != 1e12 || len(f.Front) == 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A value may be a table, which cannot be compared with ==.
func TestApplyTableValue(t *testing.T) {
	c := config.Default()
	table := func(p string) map[string]any { return map[string]any{"model": "bernoulli", "p": p} }
	c.Search.Over = []config.Range{{Key: "down.loss", Values: []any{table("5%"), table("10%")}}}
	best, err := Apply(c, &Candidate{Set: map[string]any{"down.loss": table("10%")}})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := best.TOML(); err != nil || !strings.Contains(string(text), "10%") && !strings.Contains(string(text), "0.1") {
		t.Errorf("%v: %s", err, text)
	}
}

// Rivals without a ratio are listed last.
func TestIncomparableRivalsComeLast(t *testing.T) {
	c := tuneSpace()
	f, err := searchWith(t.Context(), c, evaluateEach(func(j job) outcome {
		v := outcome{Figures: []float64{bowl(j.Setting)}}
		if j.Setting[0] == 4 { // next to the best
			v = (&evaluator{spec: c.Search}).failedOutcome(errors.New("no"))
		}
		return v
	}), nil, outcome{})
	if err != nil {
		t.Fatal(err)
	}
	last, refused := 0, 0
	for _, r := range f.Rivals {
		if r.Ratio.N == 0 {
			refused++
		} else if refused > 0 {
			last++
		}
	}
	if refused == 0 || last > 0 {
		t.Errorf("%d rivals without a ratio, %d others after them", refused, last)
	}
}

// A flag replaces one part of a range of the file.
func TestRangeChangedByFlag(t *testing.T) {
	c, err := config.Parse("test.toml", []byte("[search]\nminimise = \"payload_kbps\"\n[search.over]\n\"sender.every\" = { from = 1, to = 2 }\n"))
	if err == nil {
		err = c.Set("search.over.sender.every.to", int64(4))
	}
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Search.Over[0].Values); n != 4 {
		t.Errorf("%d values, expected 1 to 4", n)
	}
}

// With bounds, a search in which no setting can be run ends with a result that says so.
func TestNothingCanBeRunWithBounds(t *testing.T) {
	c := newSpace(40, 2, 3, 20, 8)
	c.Search.Subject = []config.Assertion{{Name: "playout.starved_ratio", Op: "<=", Value: 0.01}}
	e := evaluator{spec: c.Search}
	f, _, err := searchSynthetic(t, t.Context(), c, func(job) outcome { return e.failedOutcome(errors.New("unsuited")) })
	if err != nil || f.Best.Keeps() || len(f.Confidence) != 1 || !strings.HasSuffix(f.Confidence[0], "cannot be run: unsuited.") {
		t.Errorf("%+v: %v", f, err)
	}
}
