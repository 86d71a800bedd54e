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

// lookWith searches over made-up values, and counts what it cost.
func lookWith(t *testing.T, ctx context.Context, c *config.Config, value func(job) outcome) (f *Found, cost float64, err error) {
	t.Helper()
	f, err = look(ctx, c, func(ctx context.Context, jobs []job) ([]outcome, error) {
		values := make([]outcome, len(jobs))
		for i, j := range jobs {
			if ctx.Err() != nil {
				return values, ctx.Err()
			}
			values[i] = value(j)
			cost += 1 / float64(j.Share)
		}
		return values, nil
	}, nil, outcome{})
	if f != nil {
		if _, err := json.Marshal(f); err != nil {
			t.Errorf("what was found cannot be written: %v", err)
		}
	}
	return f, cost, err
}

// spaceOf makes a search over ordered ranges of so many values each.
func spaceOf(runs, seeds int, sizes ...int) *config.Config {
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

// Whatever the budget and the space, with noise and without, for one figure and for two: a
// search costs no more than it may.
func TestBudgetIsKept(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 150 {
		c := spaceOf(10+r.IntN(60), 1+r.IntN(12), 1+r.IntN(9), 1+r.IntN(9), 1+r.IntN(9))
		c.Seed = uint64(trial)
		noise := float64(trial % 2)
		if trial%3 == 0 {
			c.Search.Minimise = []string{"payload_kbps", "wire_kbps"}
		}
		f, cost, err := lookWith(t, t.Context(), c, func(j job) outcome {
			v := outcome{}
			for i := range c.Search.Minimise {
				luck := rand.New(rand.NewPCG(uint64(j.Seed), uint64(j.Setting[0]+10*j.Setting[1]+100*j.Setting[2]+i))).Float64()
				v.Figures = append(v.Figures, math.Abs(float64(j.Setting[i]-3))+float64(j.Setting[2])+noise*luck)
			}
			return v
		})
		if err != nil || cost > float64(c.Search.Runs) || math.Abs(cost-f.Runs) > 1e-9 {
			t.Fatalf("trial %d: it cost %g of %d, and says %g: %v", trial, cost, c.Search.Runs, f.Runs, err)
		}
	}
}

// Of a wide range every value may be drawn, not only those at the edges of its shares.
func TestDrawsReachEveryValue(t *testing.T) {
	c := spaceOf(10, 1, 100)
	seen := map[int]bool{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		for _, s := range draw(c.Search.Over, 10, r) {
			seen[s[0]] = true
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d of 100 values were ever drawn", len(seen))
	}
}

// A search that is broken off tells the best that it has, wherever that happens.
func TestBrokenOff(t *testing.T) {
	for _, after := range []int{1, 12, 40, 60, 90} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		f, _, err := lookWith(t, ctx, spaceOf(60, 4, 9, 9, 9), func(j job) outcome {
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

// What cannot be run stands beside the best without a ratio, and the whole can be written.
func TestNeighbourThatCannotBeRun(t *testing.T) {
	c := spaceOf(60, 4, 9, 9)
	f, _, err := lookWith(t, t.Context(), c, func(j job) outcome {
		if j.Setting[0] < 3 {
			return (&evaluator{spec: c.Search}).refused(errors.New("no"))
		}
		return outcome{Figures: []float64{float64(j.Setting[0]+j.Setting[1]) + 0.1*float64(j.Seed)}}
	})
	if err != nil || f.Best.Words != "k0=3 k1=0" {
		t.Errorf("%+v, %v", f.Best, err)
	}
}

// A best of 0 has no ratio to the others, and they are told from it all the same.
func TestBestIsNothing(t *testing.T) {
	c := spaceOf(60, 8, 5, 5)
	f, _, err := lookWith(t, t.Context(), c, func(j job) outcome {
		luck := rand.New(rand.NewPCG(uint64(j.Seed), 1)).Float64()
		return outcome{Figures: []float64{float64(j.Setting[0]+j.Setting[1]) * (1 + 0.1*luck)}}
	})
	if err != nil || f.Best.Words != "k0=0 k1=0" {
		t.Fatalf("%+v, %v", f.Best, err)
	}
	if text := strings.Join(f.Sure, "\n"); strings.Contains(text, "cannot be told") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error(text)
	}
}

// A bound that the best breaks on any of its seeds is named.
func TestBoundBrokenOnALaterSeed(t *testing.T) {
	c := spaceOf(60, 4, 3, 3)
	f, _, err := lookWith(t, t.Context(), c, func(j job) outcome {
		v := outcome{Figures: []float64{float64(j.Setting[0]) + 0.1*float64(j.Seed)}}
		if j.Seed == 2 {
			v.Violation, v.Why = 1, "wrong is 1"
		}
		return v
	})
	if err != nil || f.Best.Breaks != "wrong is 1" {
		t.Errorf("breaks %q: %v", f.Best.Breaks, err)
	}
}

// What it says of settings drawn at random is true: they are counted where all of them were
// run, and no confidence is claimed where some were ahead.
func TestCertaintyIsCounted(t *testing.T) {
	said := map[bool]int{}
	for seed := range uint64(40) {
		c := spaceOf(60, 1, 30, 30)
		c.Seed = seed
		misleading := seed%2 == 0 // over an eighth of the duration the order is another one
		f, _, err := lookWith(t, t.Context(), c, func(j job) outcome {
			x := float64(j.Setting[0] + j.Setting[1])
			if misleading && j.Share > 1 {
				x = 100 - x
			}
			return outcome{Figures: []float64{x + 1}}
		})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(f.Sure, "\n")
		if strings.Contains(text, "none of 24 settings") {
			said[misleading]++
		}
	}
	if said[true] > 0 || said[false] != 20 {
		t.Errorf("confidence was claimed in %d of 20 misleading searches, and in %d of 20 others", said[true], said[false])
	}
}

// A space of 10^12 settings, and a large budget, take no memory or time to speak of.
func TestHugeSpace(t *testing.T) {
	c := spaceOf(600, 4, 1000, 1000, 1000, 1000)
	c.Search.Minimise = []string{"payload_kbps", "wire_kbps"}
	f, _, err := lookWith(t, t.Context(), c, func(j job) outcome {
		return outcome{Figures: []float64{float64(j.Setting[0] + j.Setting[2]), float64(1000 - j.Setting[0] + j.Setting[3])}}
	})
	if err != nil || f.Settings != 1e12 || len(f.Front) == 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// A value may be a table, which no program can compare with ==.
func TestApplyOfATable(t *testing.T) {
	c := config.Default()
	table := func(p string) map[string]any { return map[string]any{"model": "bernoulli", "p": p} }
	c.Search.Over = []config.Range{{Key: "down.loss", Values: []any{table("5%"), table("10%")}}}
	best, err := Apply(c, &Chosen{Set: map[string]any{"down.loss": table("10%")}})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := best.TOML(); err != nil || !strings.Contains(string(text), "10%") && !strings.Contains(string(text), "0.1") {
		t.Errorf("%v: %s", err, text)
	}
}

// A neighbour that cannot be compared with the best stands behind those that can.
func TestIncomparableRivalsComeLast(t *testing.T) {
	c := widths()
	f, err := look(t.Context(), c, func(_ context.Context, jobs []job) ([]outcome, error) {
		var out []outcome
		for _, j := range jobs {
			v := outcome{Figures: []float64{bowl(j.Setting)}}
			if j.Setting[0] == 4 { // next to the best
				v = (&evaluator{spec: c.Search}).refused(errors.New("no"))
			}
			out = append(out, v)
		}
		return out, nil
	}, nil, outcome{})
	if err != nil {
		t.Fatal(err)
	}
	last, refused := 0, 0
	for _, r := range f.Near {
		if r.Ratio.N == 0 {
			refused++
		} else if refused > 0 {
			last++
		}
	}
	if refused == 0 || last > 0 {
		t.Errorf("%d that cannot be compared, %d that can behind them", refused, last)
	}
}

// A part of a range that a flag sets counts, whatever the file said before.
func TestRangeSetAgain(t *testing.T) {
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
