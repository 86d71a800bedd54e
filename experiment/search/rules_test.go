package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/testkit"
)

// newTestSearch returns a search of a space whose jobs value evaluates. ran lists the jobs in order.
func newTestSearch(c *config.Config, value func(job) outcome) (s *search, ran *[]job) {
	ran = new([]job)
	return &search{spec: c.Search, rand: rand.New(rand.NewPCG(c.Seed, 1)), outcomes: map[string]outcome{}, tried: map[string]setting{}, drawnAhead: -1,
		evaluate: evaluateEach(func(j job) outcome {
			*ran = append(*ran, j)
			return value(j)
		})}, ran
}

// evaluateEach evaluates each job with value.
func evaluateEach(value func(job) outcome) evaluateFunc {
	return func(_ context.Context, jobs []job) ([]outcome, error) {
		out := make([]outcome, len(jobs))
		for i, j := range jobs {
			out[i] = value(j)
		}
		return out, nil
	}
}

// figuresOf returns an outcome that meets the bounds.
func figuresOf(list ...float64) outcome { return outcome{Figures: list} }

// An outcome is better with less violation, then with the lower first figure; it dominates another if it is better in one
// figure and not worse in the other.
func TestOrderOfOutcomes(t *testing.T) {
	broken := outcome{Figures: []float64{0, 0}, Violation: 1}
	for _, x := range []struct {
		v, w      outcome
		compare   int
		dominates bool
	}{
		{figuresOf(1, 5), figuresOf(2, 1), -1, false}, {figuresOf(1, 1), figuresOf(1, 1), 0, false}, {figuresOf(1, 1), figuresOf(1, 2), 0, true}, {figuresOf(1, 2), figuresOf(1, 1), 0, false},
		{figuresOf(1, 1), figuresOf(2, 1), -1, true}, {figuresOf(2, 1), figuresOf(1, 1), 1, false}, {figuresOf(9, 9), broken, -1, true}, {broken, figuresOf(9, 9), 1, false}, {broken, broken, 0, false},
	} {
		if got := x.v.compare(x.w); got != x.compare {
			t.Errorf("%v compared with %v is %d", x.v, x.w, got)
		}
		if got := x.v.dominates(x.w); got != x.dominates {
			t.Errorf("%v dominates %v: %v", x.v, x.w, got)
		}
	}
}

// Neighbours differ in one range: by one or two positions if it is ordered, otherwise by any value. The grid has every
// combination once, and a text for each.
func TestGrid(t *testing.T) {
	over := newSpace(10, 1, 6, 3, 4).Search.Over
	over[2].Ordered = false
	all := allSettings(over)
	seen := map[string]bool{}
	for _, x := range all {
		seen[x.key()] = true
		want := map[string]bool{}
		for _, y := range all {
			differing, near := 0, true
			for d := range x {
				if x[d] != y[d] {
					differing++
					near = near && (!over[d].Ordered || math.Abs(float64(x[d]-y[d])) <= 2)
				}
			}
			if differing == 1 && near {
				want[y.key()] = true
			}
		}
		got := neighbours(over, x)
		for _, y := range got {
			if !want[y.key()] {
				t.Fatalf("%v is a neighbour of %v", y, x)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d neighbours of %v, want %d", len(got), x, len(want))
		}
	}
	if len(all) != 72 || len(seen) != 72 || countSettings(over) != 72 || settingText(over, all[71]) != "k0=5 k1=2 k2=3" {
		t.Errorf("%d settings, %d different, counted %g, the last %s", len(all), len(seen), countSettings(over), settingText(over, all[71]))
	}
	// A Latin hypercube: n settings of n values have each value once, in every range; of n/2 values, each twice.
	over = newSpace(10, 1, 12, 12, 6).Search.Over
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		for d := range over {
			count := map[int]int{}
			for _, x := range drawSettings(over, 12, r) {
				count[x[d]]++
			}
			for v := range over[d].Values {
				if want := 12 / len(over[d].Values); count[v] != want {
					t.Fatalf("value %d of range %d was drawn %d times, want %d", v, d, count[v], want)
				}
			}
		}
	}
}

// Of all runs, the race may use three for each seed after the first, but at most 30 %, unless the seed has no effect.
func TestRemainingRuns(t *testing.T) {
	for _, x := range []struct {
		runs, seeds, walkSeeds int
		spent, want            float64
	}{{100, 4, 0, 10, 81}, {100, 4, 3, 10, 81}, {100, 4, 1, 10, 90}, {100, 11, 3, 0, 70}, {100, 12, 3, 0, 70}, {100, 1, 0, 5, 95}, {20, 8, 3, 4.5, 9.5}} {
		s := &search{spec: config.Search{Runs: x.runs, Seeds: x.seeds}, walkSeeds: x.walkSeeds, spentRuns: x.spent}
		if got := s.remainingRuns(); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%+v: %g", x, got)
		}
	}
}

// A job is run once, costs its share of the duration, and in the walk only if it can be afforded. The trace has a step for each,
// up to its limit.
func TestRunJobs(t *testing.T) {
	c := newSpace(10, 1, 50)
	s, ran := newTestSearch(c, func(j job) outcome { return figuresOf(float64(j.Setting[0])) })
	var progress []float64
	s.progress = func(done, total float64) { progress = append(progress, done, total) }
	s.walkSeeds = 1
	run := func(phase string, jobs ...job) error { return s.runJobs(t.Context(), phase, jobs) }
	if err := run("drawn", job{setting{1}, 0, 8}, job{setting{1}, 0, 8}, job{setting{2}, 0, 4}); err != nil || len(*ran) != 2 || s.spentRuns != 0.375 || len(s.tried) != 0 {
		t.Errorf("%v: %d jobs cost %g, %d tried", err, len(*ran), s.spentRuns, len(s.tried))
	}
	if err := run("drawn", job{setting{1}, 0, 8}); err != nil || len(*ran) != 2 || len(progress) != 2 {
		t.Errorf("%v: a known job was run", err)
	}
	if got := s.newCost([]job{{setting{1}, 0, 8}, {setting{3}, 0, 2}, completeRun(setting{1}, 0), completeRun(setting{1}, 1)}); got != 2.5 {
		t.Errorf("new jobs cost %g, want 2.5", got)
	}
	var many []job
	for i := range 9 {
		many = append(many, completeRun(setting{i}, 0))
	}
	if err := run("walk", append(many, job{setting{1}, 0, 2}, job{setting{4}, 0, 4})...); !errors.Is(err, errBudgetSpent) || s.spentRuns != 0.375 {
		t.Errorf("jobs that cost 9.75 of 9.625 runs: %v", err)
	}
	if err := run("walk", append(many, job{setting{3}, 0, 2}, job{setting{3}, 0, 8})...); err != nil || s.spentRuns != 10 || len(s.tried) != 9 {
		t.Errorf("jobs that cost exactly what remains: %v, %g, %d tried", err, s.spentRuns, len(s.tried))
	}
	if err := run("race", completeRun(setting{20}, 0)); err != nil || s.spentRuns != 11 || !slices.Equal(progress, []float64{0.375, 10, 10, 10, 11, 10}) {
		t.Errorf("only the walk has a limit: %v, progress %v", err, progress)
	}
	if len(s.trace) != 14 || s.trace[0].Share != 0.125 || s.trace[0].Phase != "drawn" || s.trace[0].Setting != "k0=1" || s.trace[0].Figures[0] != 1 {
		t.Errorf("%d steps, the first %+v", len(s.trace), s.trace[0])
	}
	for len(s.trace) < maxTrace {
		s.addStep("walk", completeRun(setting{20}, 0), "")
	}
	if s.addStep("walk", completeRun(setting{20}, 0), ""); len(s.trace) != maxTrace {
		t.Errorf("%d steps, want at most %d", len(s.trace), maxTrace)
	}
	if finiteOrNil([]float64{1, math.Inf(-1)}) != nil || finiteOrNil([]float64{math.NaN()}) != nil || len(finiteOrNil([]float64{1, -2})) != 2 {
		t.Error("finiteOrNil is wrong")
	}
	// An interrupted evaluation stores what it has; another error stores nothing.
	ctx, cancel := context.WithCancel(t.Context())
	s.evaluate = func(context.Context, []job) ([]outcome, error) {
		cancel()
		return []outcome{figuresOf(1), {}}, ctx.Err()
	}
	if err := s.runJobs(ctx, "race", []job{completeRun(setting{30}, 0), completeRun(setting{31}, 0)}); !errors.Is(err, context.Canceled) || s.tried["[30]"] == nil || s.tried["[31]"] != nil {
		t.Errorf("interrupted: %v, tried %v", err, s.tried)
	}
	broken := errors.New("broken")
	s.evaluate = func(context.Context, []job) ([]outcome, error) { return []outcome{figuresOf(1)}, broken }
	if err := run("race", completeRun(setting{40}, 0)); !errors.Is(err, broken) || s.tried["[40]"] != nil {
		t.Errorf("after an error: %v", err)
	}
}

// If the grid fits into the remaining runs, all of it is run; otherwise 40 % of the runs, at least 8, are drawn, and after each rung
// the better half stays, rounded up. The configuration's own setting takes part, and none twice.
func TestDrawAndHalve(t *testing.T) {
	for _, x := range []struct {
		runs, size, drawn int
		spent             float64
	}{{20, 20, 0, 0}, {20, 21, 8, 0}, {20, 20, 8, 0.5}, {100, 5000, 40, 0}, {21, 5000, 8, 0}, {23, 5000, 9, 0}} {
		s, ran := newTestSearch(newSpace(x.runs, 1, x.size), func(j job) outcome { return figuresOf(math.Abs(float64(j.Setting[0] - 7))) })
		s.spentRuns = x.spent
		own := setting{x.size - 1}
		list, err := s.drawAndHalve(t.Context(), own)
		if err != nil || s.nDrawn != x.drawn || len(s.drawn) != x.drawn {
			t.Fatalf("%+v: %d drawn, %v", x, s.nDrawn, err)
		}
		byDivisor := map[int]int{}
		for _, j := range *ran {
			byDivisor[j.Divisor]++
		}
		if x.drawn == 0 {
			if len(list) != x.size || list[0][0] != 7 || byDivisor[1] != x.size || len(byDivisor) != 1 {
				t.Errorf("%+v: %d settings remain, the best %v; runs %v", x, len(list), list[0], byDivisor)
			}
			continue
		}
		different := map[string]bool{own.key(): true}
		for _, y := range s.drawn {
			different[y.key()] = true
		}
		n := len(different)
		for _, divisor := range divisors {
			if byDivisor[divisor] != n {
				t.Errorf("%+v: %d runs of 1/%d, want %d", x, byDivisor[divisor], divisor, n)
			}
			if divisor > 1 {
				n = (n + 1) / 2
			}
		}
		if len(list) != n || !slices.IsSortedFunc(list, func(a, b setting) int {
			return s.outcomeOf(completeRun(a, 0)).compare(s.outcomeOf(completeRun(b, 0)))
		}) {
			t.Errorf("%+v: %v remain, want %d, the best first", x, list, n)
		}
		dropped := 0
		for _, step := range s.trace {
			if strings.HasPrefix(step.Outcome, "dropped: not among the better half") {
				dropped++
			}
		}
		if dropped != len(different)-n {
			t.Errorf("%+v: %d steps say that a setting was dropped, want %d", x, dropped, len(different)-n)
		}
	}
}

// With two figures, settings are ranked by how many others dominate them.
func TestRankOfTwoFigures(t *testing.T) {
	values := [][]float64{{5, 1}, {1, 5}, {2, 6}, {3, 7}, {6, 6}}
	c := newSpace(10, 1, 5)
	c.Search.Minimise = []string{"payload_kbps", "wire_kbps"}
	s, _ := newTestSearch(c, func(j job) outcome { return figuresOf(values[j.Setting[0]]...) })
	var jobs []job
	list := []setting{{4}, {3}, {2}, {1}, {0}}
	for _, x := range list {
		jobs = append(jobs, completeRun(x, 0))
	}
	if err := s.runJobs(t.Context(), "drawn", jobs); err != nil {
		t.Fatal(err)
	}
	s.rank(list, 1) // dominated by 0, 0, 1, 2 and 3 others
	if got := fmt.Sprint(list); got != "[[1] [0] [2] [3] [4]]" {
		t.Error(got)
	}
	if got := fmt.Sprint(s.undominated()); got != "[[1] [0]]" {
		t.Errorf("the front is %s", got)
	}
	if got := fmt.Sprint(s.bestSettings(2)); got != "[[1] [0]]" {
		t.Errorf("the best are %s", got)
	}
	long := make([]setting, 31)
	for i := range long {
		long[i] = setting{i}
	}
	if got := fmt.Sprint(thinOut(long, 4)); got != "[[0] [10] [20] [30]]" || len(thinOut(long, 31)) != 31 || len(thinOut(long, 30)) != 30 {
		t.Errorf("thinned out to %s", got)
	}
}

// The walk in an ordered range steps by one in both directions, skips one bad value, and doubles its steps while they improve.
func TestSearchRange(t *testing.T) {
	for name, x := range map[string]struct {
		values []float64 // figure by position
		at     int
		want   int
		runs   string // positions in the order of running
	}{
		"to the right":        {[]float64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1, -2}, 1, 8, "1 0 2 4 8"},
		"to the left":         {[]float64{0, 1, 2, 3, 4, 5}, 5, 0, "5 4 2"},
		"at the minimum":      {[]float64{3, 2, 1, 2, 3}, 2, 2, "2 1 3 0 4"},
		"over one bad value":  {[]float64{5, 9, 4, 3, 2, 9, 1}, 0, 6, "0 1 2 6"},
		"at the first":        {[]float64{1, 2, 3}, 0, 0, "0 1 2"},
		"equal is not better": {[]float64{2, 2, 2}, 1, 1, "1 0 2"},
	} {
		s, ran := newTestSearch(newSpace(100, 1, len(x.values)), func(j job) outcome { return figuresOf(x.values[j.Setting[0]]) })
		s.walkSeeds = 1
		got, err := s.searchRange(t.Context(), setting{x.at}, 0)
		var runs []string
		for _, j := range *ran {
			runs = append(runs, fmt.Sprint(j.Setting[0]))
		}
		if name == "to the left" { // 5 -> 4, then by -2 to 2, then by -4, which is outside
			x.want = 2
		}
		if err != nil || got[0] != x.want || strings.Join(runs, " ") != x.runs {
			t.Errorf("%s: from %d to %d by %v, want %d by %s; %v", name, x.at, got[0], runs, x.want, x.runs, err)
		}
	}
	spent, ran := newTestSearch(newSpace(3, 1, 12), func(j job) outcome { return figuresOf(float64(-j.Setting[0])) })
	spent.walkSeeds = 1 // three runs are enough for the first step, and no further one is begun
	if got, err := spent.searchRange(t.Context(), setting{1}, 0); err != nil || got[0] != 2 || len(*ran) != 3 {
		t.Errorf("with three runs: %v after %d runs, %v", got, len(*ran), err)
	}
	c := newSpace(100, 1, 5)
	c.Search.Over[0].Ordered = false
	s, ran := newTestSearch(c, func(j job) outcome { return figuresOf([]float64{4, 3, 2, 9, 1}[j.Setting[0]]) })
	s.walkSeeds = 1
	if got, err := s.searchRange(t.Context(), setting{1}, 0); err != nil || got[0] != 4 || len(*ran) != 5 {
		t.Errorf("a range without order: %v after %d runs, %v", got, len(*ran), err)
	}
	for _, x := range []struct{ at, by, want int }{{0, -1, -1}, {0, 0, 0}, {3, 1, 4}, {3, 2, -1}, {1, -1, 0}} {
		got, ok := s.shifted(setting{x.at}, 0, x.by)
		if ok != (x.want >= 0) || ok && got[0] != x.want {
			t.Errorf("%d by %d: %v, %v", x.at, x.by, got, ok)
		}
	}
}

// A setting is better with less violation, or with the lower mean over the seeds of the walk. More than 5 % worse with the first
// seed, it is not run with the others.
func TestIsBetter(t *testing.T) {
	values := map[string]outcome{"[0] 0": figuresOf(100), "[0] 1": figuresOf(100), "[0] 2": figuresOf(100)}
	for _, x := range []struct {
		seeds  [3]float64
		better bool
		runs   int
	}{{[3]float64{99, 99, 99}, true, 4}, {[3]float64{104, 90, 90}, true, 4}, {[3]float64{105, 90, 90}, true, 4}, {[3]float64{105.1, 0, 0}, false, 0}, {[3]float64{100, 100, 100}, false, 4},
		{[3]float64{90, 105, 106}, false, 4}, {[3]float64{104, 98, 98}, false, 4}} {
		for seed, v := range x.seeds {
			values[fmt.Sprintf("[1] %d", seed)] = figuresOf(v)
		}
		s, ran := newTestSearch(newSpace(100, 4, 2), func(j job) outcome { return values[fmt.Sprint(j.Setting.key(), " ", j.Seed)] })
		s.walkSeeds = 3
		if err := s.runJobs(t.Context(), "walk", []job{completeRun(setting{0}, 0), completeRun(setting{1}, 0)}); err != nil {
			t.Fatal(err)
		}
		*ran = nil
		if got, err := s.isBetter(t.Context(), setting{1}, setting{0}); err != nil || got != x.better || len(*ran) != x.runs {
			t.Errorf("%v against 100: better %v after %d runs, %v", x.seeds, got, len(*ran), err)
		}
		s.walkSeeds = 1 // the first seed decides
		if got, _ := s.isBetter(t.Context(), setting{1}, setting{0}); got != (x.seeds[0] < 100) {
			t.Errorf("%v against 100 with one seed: %v", x.seeds, got)
		}
		broken := values["[1] 0"]
		broken.Violation = 0.5
		s.outcomes[jobKey(completeRun(setting{1}, 0))] = broken
		for _, walkSeeds := range []int{1, 3} {
			s.walkSeeds = walkSeeds
			if got, _ := s.isBetter(t.Context(), setting{1}, setting{0}); got {
				t.Error("a violation is better")
			}
			if got, _ := s.isBetter(t.Context(), setting{0}, setting{1}); !got {
				t.Error("no violation is not better than one")
			}
		}
	}
	// If bounds apply to every seed, a violation with a later seed decides, too.
	c := newSpace(100, 4, 2)
	c.Search.Bounds = config.EachSeed
	s, _ := newTestSearch(c, func(j job) outcome {
		v := figuresOf(float64(2 - j.Setting[0]))
		if j.Setting[0] == 1 && j.Seed == 2 {
			v.Violation = 1
		}
		return v
	})
	s.walkSeeds = 3
	if got, err := s.bestOf(t.Context(), setting{0}, []setting{{1}}); err != nil || got[0] != 0 {
		t.Errorf("the best is %v, %v", got, err)
	}
	s.outcomes, s.walkSeeds = map[string]outcome{}, 2 // without that seed the lower figure is better
	if got, err := s.bestOf(t.Context(), setting{0}, []setting{{1}}); err != nil || got[0] != 1 {
		t.Errorf("the best is %v, %v", got, err)
	}
}

// The walk uses one seed if the seed changes neither the first nor the last setting, otherwise three, or all if there are fewer.
func TestChooseWalkSeeds(t *testing.T) {
	for name, x := range map[string]struct {
		runs, seeds  int
		spent        float64
		affected     int // setting whose figure depends on the seed; -1: none
		want, runsOf int
	}{
		"one seed": {100, 1, 0, 0, 1, 0}, "first": {100, 8, 0, 0, 3, 1}, "last": {100, 8, 0, 2, 3, 2}, "middle": {100, 8, 0, 1, 1, 2}, "none": {100, 8, 0, -1, 1, 2},
		"two seeds": {100, 2, 0, 0, 2, 1}, "no runs left": {10, 8, 10, 0, 1, 0}, "one run left": {10, 8, 9, 0, 3, 1}, "too few left for the last": {10, 8, 8.5, 2, 1, 1},
	} {
		s, ran := newTestSearch(newSpace(x.runs, x.seeds, 3), func(j job) outcome {
			v := float64(j.Setting[0])
			if j.Setting[0] == x.affected {
				v += float64(j.Seed)
			}
			return figuresOf(v)
		})
		list := []setting{{0}, {1}, {2}}
		for _, y := range list {
			s.outcomes[jobKey(completeRun(y, 0))] = figuresOf(float64(y[0]))
		}
		s.spentRuns = x.spent
		if err := s.chooseWalkSeeds(t.Context(), list); err != nil || s.walkSeeds != x.want || len(*ran) != x.runsOf {
			t.Errorf("%s: %d seeds after %d runs, want %d after %d; %v", name, s.walkSeeds, len(*ran), x.want, x.runsOf, err)
		}
	}
}

// The race runs all seeds as far as the runs last, drops from the third seed on what is significantly worse, and sorts by the worst
// violation, then by the mean. Its intervals are those of the seeds so far.
func TestRace(t *testing.T) {
	value := func(j job) outcome {
		noise := []float64{0, 3, -3, 1, -1, 2, -2, 0}[j.Seed]
		switch j.Setting[0] {
		case 0: // the leader
			return figuresOf(100 + noise)
		case 1: // worse by exactly 2 with every seed
			return figuresOf(102 + noise)
		case 2: // on average 0.5 worse, but with other noise
			return figuresOf(100.5 - noise)
		}
		v := figuresOf(90 + noise) // the lowest figure, but violates a bound with the second seed
		if j.Seed == 1 {
			v.Violation, v.Reason = 1, "broken"
		}
		return v
	}
	c := newSpace(100, 8, 4)
	c.Search.Bounds = config.EachSeed
	s, ran := newTestSearch(c, value)
	s.walkSeeds = 3
	list, err := s.race(t.Context(), []setting{{3}, {2}, {1}, {0}})
	if err != nil || fmt.Sprint(list) != "[[0] [2]]" || fmt.Sprint(s.broken) != "[[3]]" {
		t.Errorf("the race leaves %v, broken are %v, %v", list, s.broken, err)
	}
	count := map[int]int{}
	for _, j := range *ran {
		count[j.Setting[0]]++
	}
	if count[0] != 8 || count[1] != 3 || count[2] != 8 || s.racedSeeds != 8 {
		t.Errorf("runs by setting %v, %d seeds", count, s.racedSeeds)
	}
	if got := s.meanFigure(setting{0}, 3); got != 100 {
		t.Errorf("the mean of three seeds is %g", got)
	}
	if got := s.pairedDifference(setting{1}, setting{0}, 8); got.N != 3 || got.Mean != 2 || *got.Lo != 2 {
		t.Errorf("paired difference %+v, want 2 over the three seeds of both", got)
	}
	if got := s.pairedDifference(setting{2}, setting{0}, 4); got.N != 4 || math.Abs(got.Mean-(0.5-2*0.25)) > 1e-9 {
		t.Errorf("paired difference %+v", got)
	}
	if got := s.pairedRatio(setting{1}, setting{0}, 8); got.N != 3 || math.Abs(got.Mean-1.02) > 1e-9 {
		t.Errorf("paired ratio %+v", got)
	}
	if got := len(s.figureBySeed(setting{0}, 0, 5)); got != 5 {
		t.Errorf("%d figures of 5 seeds", got)
	}
	if s.violation(setting{3}, 1) != 0 || s.violation(setting{3}, 2) != 1 || s.violationText(setting{3}) != "broken" || s.violationText(setting{0}) != "" {
		t.Error("violations are wrong")
	}
	// With 11 runs, two settings are run with five seeds each; the eleventh run is not enough for a sixth.
	s, ran = newTestSearch(newSpace(11, 8, 4), value)
	s.walkSeeds = 3
	if list, err = s.race(t.Context(), []setting{{2}, {0}}); err != nil || len(list) != 2 || len(*ran) != 10 || s.racedSeeds != 5 || s.spentRuns != 10 {
		t.Errorf("%d runs, %d seeds, %v", len(*ran), s.racedSeeds, err)
	}
	s, ran = newTestSearch(newSpace(10, 8, 4), value) // exactly enough for five
	s.walkSeeds = 3
	if _, err = s.race(t.Context(), []setting{{2}, {0}}); err != nil || len(*ran) != 10 {
		t.Errorf("%d of 10 runs, %v", len(*ran), err)
	}
	s, ran = newTestSearch(newSpace(100, 8, 4), value)
	s.walkSeeds = 1
	if list, err = s.race(t.Context(), []setting{{2}, {0}}); err != nil || len(list) != 2 || len(*ran) != 0 {
		t.Errorf("without an effect of the seed there is no race: %v, %v", list, err)
	}
}

// Settings that differ in two ranges at once are tried when the walk along single ranges has ended.
func TestDiagonalValley(t *testing.T) {
	c := newSpace(150, 1, 12, 12)
	f, _, err := searchSynthetic(t, t.Context(), c, func(j job) outcome { // a narrow valley along x == y, down to (9, 9)
		x, y := float64(j.Setting[0]), float64(j.Setting[1])
		return figuresOf(100*math.Abs(x-y) + math.Abs(x-9) + 1)
	})
	if err != nil || f.Best.Text != "k0=9 k1=9" {
		t.Errorf("the best is %s, %v", f.Best.Text, err)
	}
	s, ran := newTestSearch(newSpace(100, 1, 12, 12), func(j job) outcome {
		x, y := float64(j.Setting[0]), float64(j.Setting[1])
		return figuresOf(100*math.Abs(x-y) + math.Abs(x-9))
	})
	s.walkSeeds = 1
	at, err := s.descend(t.Context(), setting{0, 0})
	if err != nil || fmt.Sprint(at) != "[0 0]" {
		t.Errorf("single ranges lead to %v, %v", at, err)
	}
	if err := s.tryDiagonals(t.Context()); err != nil && !errors.Is(err, errBudgetSpent) {
		t.Fatal(err)
	}
	if best := s.bestSettings(1)[0]; fmt.Sprint(best) != "[9 9]" {
		t.Errorf("diagonals lead to %v after %d runs", best, len(*ran))
	}
}

// After a diagonal step to a better setting, single ranges are searched again from there, before other diagonals.
func TestDescendAfterDiagonal(t *testing.T) {
	s, ran := newTestSearch(newSpace(100, 1, 12, 12), func(j job) outcome {
		switch x, y := j.Setting[0], j.Setting[1]; {
		case x == 0 && y == 0:
			return figuresOf(50)
		case x > 0 && y == 1:
			return figuresOf(float64(20 - x))
		}
		return figuresOf(100)
	})
	s.walkSeeds = 1
	if at, err := s.descend(t.Context(), setting{0, 0}); err != nil || fmt.Sprint(at) != "[0 0]" {
		t.Fatalf("single ranges lead to %v, %v", at, err)
	}
	before := len(*ran)
	if err := s.tryDiagonals(t.Context()); err != nil && !errors.Is(err, errBudgetSpent) {
		t.Fatal(err)
	}
	var after []string
	for _, j := range (*ran)[before:] {
		after = append(after, fmt.Sprint(j.Setting))
	}
	if len(after) < 2 || after[0] != "[1 1]" || slices.Contains([]string{"[0 2]", "[2 0]", "[2 2]"}, after[1]) || fmt.Sprint(s.bestSettings(1)[0]) != "[11 1]" {
		t.Errorf("from a diagonal step to the best setting: %v", after)
	}
}

// Drawn settings that are better than the best in short runs are counted, if the runs allow it.
func TestCountDrawnAhead(t *testing.T) {
	for _, x := range []struct {
		runs  int
		spent float64
		drawn []int
		want  int
	}{{10, 0, []int{1, 2, 5, 6, 5}, 2}, {10, 9.875, []int{1, 2, 5}, 2}, {10, 9.9, []int{1, 2, 5}, -1}, {10, 0, nil, -1}} {
		s, _ := newTestSearch(newSpace(x.runs, 1, 9), func(j job) outcome { return figuresOf(float64(j.Setting[0])) })
		for _, v := range x.drawn {
			s.drawn = append(s.drawn, setting{v})
			s.outcomes[jobKey(job{setting{v}, 0, 8})] = figuresOf(float64(v))
		}
		delete(s.outcomes, jobKey(job{setting{5}, 0, 8}))
		s.nDrawn, s.spentRuns = len(x.drawn), x.spent
		if len(x.drawn) > 0 {
			s.outcomes[jobKey(job{setting{5}, 0, 8})] = outcome{}
			delete(s.outcomes, jobKey(job{setting{5}, 0, 8}))
		}
		s.countDrawnAhead(t.Context(), []setting{{5}})
		if s.drawnAhead != x.want {
			t.Errorf("%+v: %d ahead", x, s.drawnAhead)
		}
	}
}

// The difference of two figures is in percent; equal figures and those without a finite ratio are told as such.
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

// What the result says about confidence follows from what was run.
func TestConfidenceSentences(t *testing.T) {
	text := func(f *Result) string { return strings.Join(f.Confidence, "\n") }
	has := func(f *Result, want string, present bool) {
		t.Helper()
		if strings.Contains(text(f), want) != present {
			t.Errorf("%q present: %v, in\n%s", want, !present, text(f))
		}
	}
	plain := func(j job) outcome { return figuresOf(float64(10 + j.Setting[0])) }
	// Settings 0, 2 and 4 have the same noise, so that their difference is certain; 1 and 3 have the opposite noise.
	noisy := func(j job) outcome {
		return figuresOf(float64(10+j.Setting[0]) + []float64{0, 3, -3, 1}[j.Seed]*float64(1-2*(j.Setting[0]%2)))
	}
	run := func(c *config.Config, value func(job) outcome) *Result {
		f, _, err := searchSynthetic(t, t.Context(), c, value)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := run(newSpace(20, 4, 5), plain)
	has(f, "All 5 settings were run: no other setting is better", true)
	has(f, "Of the 2 neighbours of the best setting, 2 were run on the same frames. With the first seed, the lowest figure of a neighbour is 10.00 % higher.", true)
	has(f, "drawn at random", false)
	has(f, "cannot be distinguished", false)
	if f.Seeds != 1 || f.Tried != 5 || f.Drawn != 0 || f.Settings != 5 || len(f.Front) != 0 {
		t.Errorf("%+v", f)
	}
	f = run(newSpace(40, 4, 5), noisy)
	has(f, "All 5 settings were run with the first seed, and the best four of them with up to 4 seeds.", true)
	has(f, "With 4 seeds, 2 other settings cannot be distinguished from it.", true)
	if f.Seeds != 4 || len(f.Rivals) < 3 {
		t.Errorf("%d seeds, %d rivals", f.Seeds, len(f.Rivals))
	}
	f = run(newSpace(20, 1, 500), plain)
	has(f, "none of 8 settings drawn at random is better than the best setting. With 95 % confidence, at most 31.2 % of all settings", true) // 1-0.05^(1/8)
	has(f, "All ", false)
	f = run(newSpace(20, 1, 5), func(j job) outcome {
		return (&evaluator{spec: config.Search{Minimise: []string{"a"}}}).failedOutcome(errors.New("no"))
	})
	if f.Best != nil || text(f) != "No setting that was tried could be run and measured. With k0=0: cannot be run: no." {
		t.Errorf("%+v, %s", f.Best, text(f))
	}
	// bounded returns a search whose figure "wrong" is limited, and limits the outcomes.
	bounded := func(runs, seeds, size int, op string, limit float64) *config.Config {
		c := newSpace(runs, seeds, size)
		c.Search.Subject = []config.Assertion{{Name: "wrong", Op: op, Value: limit}}
		return c
	}
	breaks := func(v outcome, got, violation float64) outcome {
		v.Bounded, v.Violation = []float64{got}, violation
		return v
	}
	f = run(bounded(20, 1, 5, "==", 0), func(j job) outcome { return breaks(plain(j), 1, 1) })
	has(f, "No setting that was tried keeps all bounds. With the one that is closest, wrong is 1, with every seed, because the seed has no effect.", true)
	f = run(bounded(60, 4, 3, "==", 0), func(j job) outcome {
		if j.Seed == 2 {
			return breaks(noisy(j), 1, 1)
		}
		return breaks(noisy(j), 0, 0)
	})
	has(f, "No setting that was tried keeps all bounds. With the one that is closest, wrong is 1 with the worst seed, over 3 seeds.", true)
	if f.Best.Keeps() || f.Bounds != config.MeanOfSeeds {
		t.Errorf("best %+v, bounds %q", f.Best, f.Bounds)
	}
	// The cheapest setting breaks the bound on the mean, and the next one with one seed only.
	c := bounded(60, 4, 3, "<=", 2)
	value := func(j job) outcome {
		got := []float64{2.5, 1.9, 1}[j.Setting[0]] + []float64{0, 0.2, -0.1, -0.2}[j.Seed]
		return breaks(noisy(j), got, max(0, got-2)/got)
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
	c = newSpace(40, 1, 5)
	c.Search.Minimise = []string{"payload_kbps", "wire_kbps"}
	f = run(c, func(j job) outcome { return figuresOf(float64(j.Setting[0]), float64(-j.Setting[0])) })
	has(f, "5 settings were run for the whole duration, and none is better than one of the front in both figures.", true)
	if len(f.Front) != 5 || f.Front[0].Text != "k0=0" || f.Front[0].Figures["wire_kbps"].Mean != 0 || f.Front[4].Figures["wire_kbps"].Mean != -4 || f.Best.Text != "k0=0" {
		t.Errorf("front %+v", f.Front)
	}
}

// A bound is violated by the difference relative to the larger of bound and figure; the violations add up. A figure that a run does
// not have violates infinitely.
func TestViolations(t *testing.T) {
	e := &evaluator{spec: config.Search{Minimise: []string{"payload_kbps", "encode_us.p95"},
		Subject: []config.Assertion{{Name: "payload_kbps", Op: "<=", Value: 100}, {Name: "wire_kbps", Op: ">=", Value: 400}, {Name: "wrong", Op: "==", Value: 0}}}}
	r := &engine.Result{}
	r.Totals.PayloadKbps, r.Totals.WireKbps = 200, 100
	r.Timing = figures.Timing{EncodeUS: figures.Quantiles{P50: 1, P95: 2, P99: 3, N: 1}, RunsAs: "a process"}
	v := e.outcomeOf(r)
	if math.Abs(v.Violation-(0.5+0.75)) > 1e-12 || v.Reason != "payload_kbps is 200, wire_kbps is 100" || v.Figures[0] != 200 || v.Figures[1] != 2 || v.RunsAs != "a process" {
		t.Errorf("%+v", v)
	}
	r.Totals.PayloadKbps, r.Totals.WireKbps = 100, 400
	if v = e.outcomeOf(r); v.Violation != 0 || v.Reason != "" {
		t.Errorf("at its bounds: %+v", v)
	}
	r.Timing.EncodeUS.N = 0
	if v = e.outcomeOf(r); !math.IsInf(v.Violation, 1) || !math.IsInf(v.Figures[1], 1) || v.Reason != "the run has no encode_us.p95" {
		t.Errorf("without a time: %+v", v)
	}
	e.spec = config.Search{Minimise: []string{"payload_kbps"}, Subject: []config.Assertion{{Name: "bogus", Op: "<", Value: 1}}}
	if v = e.outcomeOf(r); !math.IsInf(v.Violation, 1) || v.Reason != "the run has no bogus" {
		t.Errorf("without a bounded figure: %+v", v)
	}
	for text, want := range map[string]bool{"payload_kbps": false, "decode_us.p99": true, "encode_us.p50": true} {
		if usesTimings(config.Search{Minimise: []string{text}}) != want || usesTimings(config.Search{Minimise: []string{"wrong"}, Subject: []config.Assertion{{Name: text}}}) != want {
			t.Errorf("%s is a time: want %v", text, want)
		}
	}
	at := []config.StampedChange{{T: time.Second}, {T: 2*time.Second - 1}, {T: 2 * time.Second}, {T: 3 * time.Second}}
	if got := changesBefore(at, 2*time.Second); len(got) != 2 || got[1].T != 2*time.Second-1 {
		t.Errorf("changes before 2 s: %v", got)
	}
}

// A setting sets the encoder before its parameters, and leaves out those that the encoder does not have. An encoder keeps its parameters
// if the setting does not change it.
func TestApplySetting(t *testing.T) {
	c := config.Default()
	testkit.Set(t, c, []any{"encoder.name", "kinetic", "encoder.params.damping", 0.5}...)
	c.Search.Over = []config.Range{{Key: "encoder.params.damping", Values: []any{0.1, 0.2}}, {Key: "sender.every", Values: []any{int64(1), int64(2)}}, {Key: "encoder.name", Values: []any{"kinetic", "raw"}}}
	got, err := apply(c, c.Search.Over, setting{1, 1, 0})
	if err != nil || got.Encoder.Name != "kinetic" || got.Encoder.Params["damping"] != 0.2 || got.Sender.Every != 2 || len(got.Search.Over) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = apply(c, c.Search.Over, setting{1, 0, 1}); err != nil || got.Encoder.Name != "raw" || len(got.Encoder.Params) != 0 || got.Sender.Every != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = apply(c, c.Search.Over[1:], setting{0, 0}); err != nil || got.Encoder.Params["damping"] != 0.5 {
		t.Errorf("an unchanged encoder has the parameters %v, %v", got.Encoder.Params, err)
	}
	if got, err = Apply(c, &Candidate{Set: map[string]any{"encoder.name": "raw", "sender.every": int64(2), "encoder.params.damping": 0.1}}); err != nil || got.Encoder.Name != "raw" || got.Sender.Every != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	over := []config.Range{{Key: "encoder.name", Values: []any{"bogus"}}, {Key: "encoder.params.x", Values: []any{1}}}
	if _, err := apply(c, over, setting{0, 0}); err == nil || !strings.Contains(err.Error(), "bogus") {
		t.Errorf("an unknown encoder: %v", err)
	}
}

// If the configuration itself is a setting, the result has the ratio of the best to it, paired by seed, also if it is the best; otherwise none.
func TestRatioToOwn(t *testing.T) {
	for every, want := range map[int]float64{1: 1, 3: 10.0 / 12, 4: -1} {
		c := config.Default()
		c.Sender.Every = every
		c.Search = config.Search{Minimise: []string{"payload_kbps"}, Runs: 20, Seeds: 1, Over: []config.Range{{Key: "sender.every", Values: []any{int64(1), int64(2), int64(3)}, Ordered: true}}}
		f, _, err := searchSynthetic(t, t.Context(), c, func(j job) outcome { return figuresOf(float64(10 + j.Setting[0])) })
		if err != nil || (f.RatioToOwn != nil) != (want > 0) || want > 0 && math.Abs(f.RatioToOwn.Mean-want) > 1e-9 {
			t.Errorf("every %d: %+v, %v, want %g", every, f.RatioToOwn, err, want)
		}
	}
}

// A setting that equals the leader on every seed is not dropped, and the last run may be spent on a diagonal.
func TestTiesAndLastRun(t *testing.T) {
	s, _ := newTestSearch(newSpace(100, 8, 2), func(j job) outcome { return figuresOf(10 + float64(j.Seed%3)) })
	s.walkSeeds = 3
	if list, err := s.race(t.Context(), []setting{{0}, {1}}); err != nil || len(list) != 2 {
		t.Errorf("of two equal settings %v remain, %v", list, err)
	}
	s, ran := newTestSearch(newSpace(2, 1, 3, 3), func(j job) outcome { return figuresOf(float64(j.Setting[0])) })
	s.walkSeeds = 1
	if err := s.runJobs(t.Context(), "drawn", []job{completeRun(setting{1, 1}, 0)}); err != nil {
		t.Fatal(err)
	}
	if err := s.tryDiagonals(t.Context()); err != nil && !errors.Is(err, errBudgetSpent) || len(*ran) != 2 {
		t.Errorf("%d of 2 runs, %v", len(*ran), err)
	}
}
