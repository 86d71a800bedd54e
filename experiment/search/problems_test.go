package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/figures"
	"wirelab/internal/testkit"
)

// exhaustive runs all settings of c with all seeds. It returns the setting with the least mean of the
// first figure of those that keep the bounds, nil if none does, and the first figure of each setting by
// seed.
func exhaustive(t *testing.T, c *config.Config, eval evaluateFunc) (best setting, figuresBySeed map[string][]float64) {
	t.Helper()
	least := math.Inf(1)
	figuresBySeed = map[string][]float64{}
	for _, x := range allSettings(c.Search.Over) {
		var jobs []job
		for seed := range c.Search.Seeds {
			jobs = append(jobs, job{x, seed})
		}
		list, err := eval(t.Context(), jobs)
		if err != nil {
			t.Fatal(err)
		}
		sums, keeps, mean := make([]float64, len(c.Search.Subject)), true, 0.0
		for _, v := range list {
			mean += v.Figures[toMinimise] / float64(len(list))
			figuresBySeed[x.key()] = append(figuresBySeed[x.key()], v.Figures[toMinimise])
			for b, a := range c.Search.Subject {
				sums[b] += v.Figures[1+b] / float64(len(list))
				keeps = keeps && (a.Holds(v.Figures[1+b]) || c.Search.Bounds != config.EachSeed && a.Op == "<=")
			}
		}
		for b, a := range c.Search.Subject {
			keeps = keeps && (a.Holds(sums[b]) || a.Op != "<=")
		}
		if keeps && mean < least {
			best, least = x, mean
		}
	}
	return best, figuresBySeed
}

// checkAnswer compares the answer of a search with the exhaustive one and reports whether they are
// equal. The interval of an answer that differs must overlap with that of the exhaustive one, and its
// mean be at most 2 % above.
func checkAnswer(t *testing.T, name string, c *config.Config, f *Result, eval evaluateFunc) bool {
	t.Helper()
	want, bySeed := exhaustive(t, c, eval)
	if want == nil {
		if f.Best.Keeps() {
			t.Errorf("%s: no setting keeps the bounds, found %s: %+v", name, f.Best.Text, f.Best.Bounds)
		}
		return !f.Best.Keeps()
	}
	if !f.Best.Keeps() {
		t.Errorf("%s: %s keeps the bounds; found none: %q", name, settingText(c.Search.Over, want), f.Confidence)
		return false
	}
	if f.Best.Text == settingText(c.Search.Over, want) {
		return true
	}
	var got setting
	for _, x := range allSettings(c.Search.Over) {
		if settingText(c.Search.Over, x) == f.Best.Text {
			got = x
		}
	}
	found, best := figures.EstimateMean(bySeed[got.key()]), figures.EstimateMean(bySeed[want.key()])
	t.Logf("%s: found %s, %.4g, instead of %s, %.4g", name, f.Best.Text, found.Mean, settingText(c.Search.Over, want), best.Mean)
	if *found.Lo > *best.Hi || found.Mean > 1.02*best.Mean {
		t.Errorf("%s: %s is worse than %s", name, f.Best.Text, settingText(c.Search.Over, want))
	}
	return false
}

// randomProblem returns a search for the least cost within bounds, and a model of its runs. The cost
// falls along a random direction of the grid, and the bounded figures rise. Both have noise that
// settings share and noise of their own; runs of a part of the duration have more of it.
func randomProblem(seed uint64, bounds string) (*config.Config, evaluateFunc) {
	r := rand.New(rand.NewPCG(seed, 28))
	sizes := make([]int, 2+r.IntN(2))
	for d := range sizes {
		sizes[d] = 3 + r.IntN(5)
	}
	c := newSpace(150+r.IntN(100), 8, sizes...)
	c.Seed, c.Search.Bounds = seed, bounds
	c.Search.Minimise = "wire_kbps"
	c.Search.Subject = []config.Assertion{{Name: "playout.starved_ratio", Op: "<=", Value: 0.01}, {Name: "wrong", Op: "==", Value: 0}}
	cheaper, worse := make([]float64, len(sizes)), make([]float64, len(sizes)) // effect of a step along each range
	for d := range sizes {
		cheaper[d], worse[d] = 0.02+0.1*r.Float64(), 0.1+0.5*r.Float64()
	}
	level, wrongFrom := math.Exp(-3*r.Float64()), r.IntN(4) // of starvation; wrong frames in a corner of the grid
	return c, func(_ context.Context, jobs []job) ([]outcome, error) {
		out := make([]outcome, len(jobs))
		for i, j := range jobs {
			shared := rand.New(rand.NewPCG(seed, uint64(j.seed)<<8+1))
			own := rand.New(rand.NewPCG(seed^uint64(j.seed)<<32, 1))
			cost, starved, wrong := 200.0, 0.01*level, 0.0
			for d, v := range j.at {
				own = rand.New(rand.NewPCG(own.Uint64(), uint64(v)))
				cost *= 1 - cheaper[d]*float64(v)/float64(len(j.at))
				starved *= math.Exp(worse[d] * float64(v))
			}
			if j.at[0]+wrongFrom > len(c.Search.Over[0].Values) && j.seed%3 == 1 {
				wrong = 1
			}
			cost *= 1 + 0.02*shared.NormFloat64() + 0.003*own.NormFloat64()
			starved *= math.Exp(0.15*shared.NormFloat64() + 0.15*own.NormFloat64())
			out[i] = outcome{Figures: []float64{cost, starved, wrong}}
		}
		return out, nil
	}
}

// On random problems the answer of a search is that of all settings with all seeds, or cannot be
// distinguished from it.
func TestAnswerIsTheExhaustiveOne(t *testing.T) {
	for _, bounds := range []string{config.MeanOfSeeds, config.EachSeed} {
		equal, cost, all := 0, 0, 0.0
		problems := testkit.Choose(uint64(200), 20)
		for seed := range problems {
			c, eval := randomProblem(seed, bounds)
			f, err := searchWith(t.Context(), c, eval, nil)
			if err != nil || f.Runs > c.Search.Runs {
				t.Fatalf("%d of %d runs, %v", f.Runs, c.Search.Runs, err)
			}
			if checkAnswer(t, fmt.Sprint(bounds, " ", seed), c, f, eval) {
				equal++
			}
			cost, all = cost+f.Runs, all+countSettings(c.Search.Over)*float64(c.Search.Seeds)
		}
		if equal < int(problems)*17/20 {
			t.Errorf("%s: only %d of %d answers are the exhaustive ones", bounds, equal, problems)
		}
		t.Logf("%s: %d of %d answers are the exhaustive ones, with %d runs instead of %.0f", bounds, equal, problems, cost, all)
	}
}

// The same holds for real runs over links with random loss and jitter. The result does not depend on the
// number of parallel runs, and parameters of other encoders are ignored.
func TestAnswerOfRealRuns(t *testing.T) {
	for seed := range testkit.Choose(uint64(20), 3) {
		r := rand.New(rand.NewPCG(seed, 9))
		text := fmt.Sprintf(`
seed = %d
duration = "2s"
data.source = "rpc"
down.loss = "%d%%"
down.latency = "40ms"
down.jitter = "%dms"
[search]
minimise = "wire_kbps"
subject_to = ["wrong == 0", "playout.starved_ratio <= %.1f%%"]
bounds = %q
runs = 60
seeds = 5
[search.over]
"sender.every" = [1, 2, 3, 4]
"receiver.playout_delay" = ["80ms", "120ms", "160ms", "200ms"]
"encoder.name" = ["rpc-adaptive"]
"encoder.params.damping" = [0.1]
`, seed, 1+r.IntN(10), 5+r.IntN(30), math.Exp(4*r.Float64()-2), []string{config.MeanOfSeeds, config.EachSeed}[seed%2])
		c, err := config.Parse("test.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		f, err := Run(t.Context(), c, Options{Clock: clock, Jobs: 2})
		if err != nil {
			t.Fatal(err)
		}
		if alone, err := Run(t.Context(), c, Options{Clock: clock, Jobs: 1}); err != nil || !reflect.DeepEqual(alone, f) {
			t.Errorf("with one job: %+v, %v; with two: %+v", alone, err, f)
		}
		base := c.Clone()
		base.Search = config.Search{}
		e := &evaluator{base: base, spec: c.Search, clock: clock, jobs: 2, packs: delivery.NewPackCache()}
		checkAnswer(t, fmt.Sprint("real ", seed), c, f, e.evaluate)
		t.Logf("real %d: %s: %s", seed, f.Best.Text, f.Best.BoundsText())
	}
}
