package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// A job is a run that a search requests.
type job struct {
	Setting setting
	Seed    int // added to the configuration's seed
	Divisor int // the run has the duration of the configuration divided by this
}

// completeRun returns the job that runs setting x for the whole duration.
func completeRun(x setting, seed int) job { return job{Setting: x, Seed: seed, Divisor: 1} }

// An outcome is the result of a job. An outcome without figures stands for an interrupted job.
type outcome struct {
	Figures   []float64 // the figures to minimise, in the order of config.Search.Minimise; nil if interrupted
	Bounded   []float64 // the bounded figures, in the order of config.Search.Subject; +Inf for one that the run does not have
	Shown     []float64 // the figures of page.SearchTiles; NaN for one that the run does not have
	Violation float64   // how far the bounds are violated; 0 if all are met, +Inf if the setting cannot be run
	Reason    string    // describes the violation; empty if Violation is 0
	RunsAs    string    // see Candidate.RunsAs
}

// compare orders outcomes by violation, then by the first figure. The result is negative if v is better than w.
func (v outcome) compare(w outcome) int {
	return cmp.Or(cmp.Compare(v.Violation, w.Violation), cmp.Compare(v.Figures[0], w.Figures[0]))
}

// dominates reports whether v is better than w in one figure and not worse in the other. An outcome that
// violates the bounds less dominates whatever the figures are.
func (v outcome) dominates(w outcome) bool {
	if v.Violation != w.Violation {
		return v.Violation < w.Violation
	}
	better := false
	for i := range v.Figures {
		if v.Figures[i] > w.Figures[i] {
			return false
		}
		better = better || v.Figures[i] < w.Figures[i]
	}
	return better
}

// An evaluateFunc runs jobs, possibly in parallel, and returns their outcomes in order.
type evaluateFunc func(ctx context.Context, jobs []job) ([]outcome, error)

// A traceStep records a run of the search, or a decision about a setting.
type traceStep struct {
	Setting string    `json:"setting"` // as KEY=VALUE
	Phase   string    `json:"phase"`   // drawn, walk or race
	Share   float64   `json:"share"`   // fraction of the duration
	Seed    int       `json:"seed"`    // see job.Seed
	Figures []float64 `json:"figures"` // null if not finite
	Outcome string    `json:"fate"`    // a decision and its reason, violated bounds, or empty
}

// maxTrace is the maximum number of steps in the trace; later ones are left out.
const maxTrace = 10_000

// A search is a running search.
type search struct {
	spec     config.Search
	rand     *rand.Rand
	evaluate evaluateFunc
	progress func(done, total float64) // nil if not wanted

	outcomes  map[string]outcome // by jobKey
	spentRuns float64            // cost so far, in runs of the whole duration
	tried     map[string]setting // settings that were run for the whole duration, by key
	trace     []traceStep

	drawn      []setting // settings drawn at random
	nDrawn     int       // number of drawn settings; 0 if the whole grid is run
	drawnAhead int       // see countDrawnAhead; -1 if unknown
	walkSeeds  int       // number of seeds on which settings are compared in the walk; 1 if the seed has no effect
	racedSeeds int       // number of seeds that the race has run
	broken     []setting // settings that the race has dropped because they break the bounds
}

// raceSize is the number of settings that the race compares with all seeds.
const raceSize = 4

// drawFraction is the fraction of the allowed runs that is spent on drawn settings.
const drawFraction = 0.2

// divisors are the rungs of successive halving: 1/8 of the duration, 1/4 and so on.
var divisors = []int{8, 4, 2, 1}

// outcomeOf returns the outcome of a job that has been run; the zero outcome if it has not.
func (s *search) outcomeOf(j job) outcome { return s.outcomes[jobKey(j)] }

// jobKey returns a string that identifies a job.
func jobKey(j job) string { return fmt.Sprintf("%s %d %d", j.Setting.key(), j.Seed, j.Divisor) }

// errBudgetSpent ends the walk phase. The remaining runs are reserved for the race.
var errBudgetSpent = errors.New("the budget is spent")

// runJobs runs the jobs that have not been run yet, stores their outcomes and adds them to the trace. phase is
// drawn, walk or race; in the walk, runJobs returns errBudgetSpent and runs nothing if the jobs exceed the
// remaining runs. If ctx ends, the outcomes so far are stored.
func (s *search) runJobs(ctx context.Context, phase string, jobs []job) error {
	var fresh []job
	known := map[string]bool{}
	for _, j := range jobs {
		key := jobKey(j)
		if _, done := s.outcomes[key]; !done && !known[key] {
			known[key] = true
			fresh = append(fresh, j)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if phase == "walk" && s.newCost(fresh) > s.remainingRuns() {
		return errBudgetSpent
	}
	values, err := s.evaluate(ctx, fresh)
	if err != nil && ctx.Err() == nil {
		return err
	}
	for i, j := range fresh {
		if i >= len(values) || values[i].Figures == nil {
			continue // interrupted
		}
		s.outcomes[jobKey(j)] = values[i]
		s.spentRuns += 1 / float64(j.Divisor)
		if j.Divisor == 1 {
			s.tried[j.Setting.key()] = j.Setting
		}
		s.addStep(phase, j, values[i].Reason)
	}
	if s.progress != nil {
		s.progress(s.spentRuns, float64(s.spec.Runs))
	}
	return err
}

// newCost returns the cost of those jobs that have not been run yet, in runs of the whole duration.
func (s *search) newCost(jobs []job) (cost float64) {
	for _, j := range jobs {
		if _, done := s.outcomes[jobKey(j)]; !done {
			cost += 1 / float64(j.Divisor)
		}
	}
	return cost
}

// addStep adds a step about a job that was run to the trace, which has a maximum length. result is for
// traceStep.Outcome.
func (s *search) addStep(phase string, j job, result string) {
	if len(s.trace) < maxTrace {
		s.trace = append(s.trace, traceStep{settingText(s.spec.Over, j.Setting), phase, 1 / float64(j.Divisor), j.Seed,
			finiteOrNil(s.outcomeOf(j).Figures), result})
	}
}

// finiteOrNil returns list, or nil if it has a value that JSON cannot represent: an infinity or NaN.
func finiteOrNil(list []float64) []float64 {
	if slices.ContainsFunc(list, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return nil
	}
	return list
}

// remainingRuns returns how many runs the phases before the race may still use. If the seed has an effect, or
// that is not known yet, 3 runs for each seed after the first are reserved for the race, but at most 30 % of
// all runs.
func (s *search) remainingRuns() float64 {
	if s.walkSeeds == 1 {
		return float64(s.spec.Runs) - s.spentRuns
	}
	return float64(s.spec.Runs) - s.spentRuns - min(float64(3*(s.spec.Seeds-1)), 0.3*float64(s.spec.Runs))
}

// drawAndHalve draws settings at random and reduces them by successive halving: all are run for a short time,
// then the better half for a longer one, and so on. It returns those that remain, at least one, the best first. If
// the whole grid fits into the remaining runs, all settings are run for the whole duration instead. own, the setting
// of the configuration itself, takes part too; nil means that it is not in the grid.
func (s *search) drawAndHalve(ctx context.Context, own setting) ([]setting, error) {
	var list []setting
	rungs := divisors
	if countSettings(s.spec.Over) <= s.remainingRuns() {
		list, rungs = allSettings(s.spec.Over), []int{1}
	} else {
		n := max(int(2*drawFraction*float64(s.spec.Runs)), 8) // n settings cost n/2 runs: n/8 for each of four rungs
		list = drawSettings(s.spec.Over, n, s.rand)
		s.nDrawn, s.drawn = n, slices.Clone(list)
	}
	if own != nil {
		list = append(list, own)
	}
	seen := map[string]bool{} // to remove settings that were drawn twice
	list = slices.DeleteFunc(list, func(x setting) bool {
		twice := seen[x.key()]
		seen[x.key()] = true
		return twice
	})
	for _, divisor := range rungs {
		jobs := make([]job, len(list))
		for i, x := range list {
			jobs[i] = job{Setting: x, Divisor: divisor}
		}
		if err := s.runJobs(ctx, "drawn", jobs); err != nil {
			return nil, err
		}
		s.rank(list, divisor)
		if divisor > 1 {
			keep := (len(list) + 1) / 2
			for _, x := range list[keep:] {
				s.addStep("drawn", job{Setting: x, Divisor: divisor}, fmt.Sprintf("dropped: not among the better half of %d", len(list)))
			}
			list = list[:keep]
		}
	}
	return list, nil
}

// allSettings returns all settings of the grid.
func allSettings(over []config.Range) []setting {
	list := []setting{{}}
	for _, r := range over {
		var next []setting
		for _, s := range list {
			for v := range r.Values {
				next = append(next, append(append(setting{}, s...), v))
			}
		}
		list = next
	}
	return list
}

// rank sorts list by the outcomes of its settings with the first seed and the given divisor of the duration, the
// best first. In complete runs the violation is that over all seeds so far. If two figures are minimised, a setting
// is better the fewer others dominate it; compare decides among equals.
func (s *search) rank(list []setting, divisor int) {
	type placed struct {
		at          setting // position in the grid
		value       outcome
		dominatedBy int // number of settings in list that dominate this one; 0 if one figure is minimised
	}
	ranked := make([]placed, len(list))
	for i, x := range list {
		ranked[i] = placed{at: x, value: s.outcomeOf(job{Setting: x, Divisor: divisor})}
		if divisor == 1 {
			ranked[i].value.Violation = s.violation(x, s.spec.Seeds)
		}
	}
	if len(s.spec.Minimise) > 1 {
		for i := range ranked {
			for j := range ranked {
				if ranked[j].value.dominates(ranked[i].value) {
					ranked[i].dominatedBy++
				}
			}
		}
	}
	slices.SortStableFunc(ranked, func(x, y placed) int {
		return cmp.Or(cmp.Compare(x.dominatedBy, y.dominatedBy), x.value.compare(y.value))
	})
	for i := range ranked {
		list[i] = ranked[i].at
	}
}

// descend moves from setting at to better ones, changing one range at a time, in random order, until no change
// of a single range is better or the runs are spent. It returns the setting that it has reached, also with
// an error.
func (s *search) descend(ctx context.Context, at setting) (setting, error) {
	left := map[string]bool{} // settings that the walk has left: with noise, each of three settings can be better than the next
	for moved := true; moved && s.remainingRuns() > 0; {
		moved = false
		for _, d := range s.rand.Perm(len(at)) {
			next, err := s.searchRange(ctx, at, d)
			if err != nil {
				return at, err
			}
			if next.key() == at.key() {
				continue
			}
			left[at.key()] = true
			if left[next.key()] {
				return at, nil
			}
			moved, at = true, next
		}
	}
	return at, nil
}

// tryDiagonals spends the remaining runs on settings that differ from the best by one position in each of two
// ranges, and descends from those that are better. descend alone changes one range at a time, and so stops in
// valleys that are diagonal to the ranges. With bounds the optimum is often a trade: cheaper in one range and
// costlier in others, so that the bounds are still kept. tryDiagonals then goes on to settings that are farther away.
func (s *search) tryDiagonals(ctx context.Context) error {
	distance := 2 // from the best setting, in positions over all ranges
	for s.remainingRuns() >= 1 && len(s.tried) > 0 {
		at := s.bestSettings(1)[0]
		list := s.diagonals(at, distance)
		s.rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if len(s.spec.Subject) > 0 {
			list = s.promising(at, list)
		}
		// Four at a time, because the diagonals of the next best setting are tried instead after an improvement.
		next, err := s.bestOf(ctx, at, list[:min(len(list), 4, int(s.remainingRuns()))])
		improved := err == nil && next.key() != at.key()
		if improved {
			_, err = s.descend(ctx, next)
		}
		switch {
		case err != nil:
			return err
		case improved:
			distance = 2
		case len(list) == 0 && (len(s.spec.Subject) == 0 || distance == maxDiagonal):
			return nil
		case len(list) == 0:
			distance++
		}
	}
	return nil
}

// Limits of diagonals.
const (
	maxDiagonal  = 6      // positions
	maxDiagonals = 20_000 // settings; many ranges have more
)

// diagonals returns settings that were not tried and differ from at in two or three ranges, by the given number of
// positions in all.
func (s *search) diagonals(at setting, distance int) (list []setting) {
	// extend adds the settings that differ from x by rest positions more, in ranges before d. ranges counts those that
	// differ already.
	var extend func(x setting, d, rest, ranges int)
	extend = func(x setting, d, rest, ranges int) {
		if rest == 0 && ranges > 1 && s.tried[x.key()] == nil {
			list = append(list, x)
		}
		if rest == 0 || ranges == 3 {
			return
		}
		for other := range d {
			for step := 1; step <= rest && len(list) < maxDiagonals; step++ {
				for _, by := range []int{-step, step} {
					if next, ok := s.shifted(x, other, by); ok {
						extend(next, other, rest-step, ranges+1)
					}
				}
			}
		}
	}
	extend(at, len(at), distance, 0)
	return list
}

// promising returns the settings of list that may be better than at. They are sorted by predict: first those that
// violate the bounds least, and of these those with the lowest first figure.
func (s *search) promising(at setting, list []setting) []setting {
	// A prediction may be wrong, so a setting stays in the list up to these limits.
	const (
		maxViolation   = 0.3
		maxFigureRatio = 1.02 // of its first figure to that of at
	)
	now, predicted := s.outcomeOf(completeRun(at, 0)), map[string]outcome{}
	if math.IsInf(now.Violation, 1) {
		return list // at could not be run or lacks a figure, so nothing can be predicted
	}
	list = slices.DeleteFunc(list, func(x setting) bool {
		v := s.predict(at, x)
		predicted[x.key()] = v
		return v.Violation > max(maxViolation, now.Violation) || now.Violation == 0 && v.Figures[0] > now.Figures[0]*maxFigureRatio
	})
	slices.SortStableFunc(list, func(x, y setting) int { return predicted[x.key()].compare(predicted[y.key()]) })
	return list
}

// predict predicts the outcome of setting x from those of at and its neighbours. It assumes that each step along a
// range multiplies the figures by a constant: that of the neighbour in this direction, 1 if the neighbour was not run.
func (s *search) predict(at, x setting) outcome {
	now := s.outcomeOf(completeRun(at, 0))
	v := outcome{Figures: slices.Clone(now.Figures), Bounded: slices.Clone(now.Bounded)}
	for d := range x {
		steps := max(x[d]-at[d], at[d]-x[d])
		if steps == 0 {
			continue
		}
		towardsX, _ := s.shifted(at, d, (x[d]-at[d])/steps) // exists, because x does
		neighbour, ok := s.outcomes[jobKey(completeRun(towardsX, 0))]
		if !ok || math.IsInf(neighbour.Violation, 1) {
			continue
		}
		scale := func(list, to, from []float64) {
			for i := range list {
				if factor := to[i] / from[i]; factor > 0 && !math.IsInf(factor, 1) {
					list[i] *= math.Pow(factor, float64(steps))
				}
			}
		}
		scale(v.Figures, neighbour.Figures, now.Figures)
		scale(v.Bounded, neighbour.Bounded, now.Bounded)
	}
	for b, a := range s.spec.Subject {
		v.Violation += excess(a, v.Bounded[b])
	}
	return v
}

// searchRange looks for a better setting than at that differs only in range d, an index of spec.Over, and returns
// the best; at if none is better. In an ordered range it steps in both directions, then on in the better one
// with steps that double as long as the setting improves. In another range it tries all values.
func (s *search) searchRange(ctx context.Context, at setting, d int) (setting, error) {
	if !s.spec.Over[d].Ordered {
		var list []setting
		for _, n := range neighbours(s.spec.Over, at) {
			if n[d] != at[d] {
				list = append(list, n)
			}
		}
		return s.bestOf(ctx, at, list)
	}
	for _, step := range []int{1, 2} { // step 2 skips one bad value
		var list []setting
		for _, by := range []int{-step, step} {
			if n, ok := s.shifted(at, d, by); ok {
				list = append(list, n)
			}
		}
		next, err := s.bestOf(ctx, at, list)
		if err != nil || next.key() == at.key() {
			if err != nil {
				return at, err
			}
			continue
		}
		by := next[d] - at[d]
		for at = next; s.remainingRuns() > 0; at = next {
			by *= 2
			n, ok := s.shifted(at, d, by)
			if !ok {
				break
			}
			if next, err = s.bestOf(ctx, at, []setting{n}); err != nil || next.key() == at.key() {
				break
			}
		}
		return at, err
	}
	return at, nil
}

// shifted returns the setting whose index in range d differs from at by the given number; false if it is
// outside of the range.
func (s *search) shifted(at setting, d, by int) (setting, bool) {
	v := at[d] + by
	if v < 0 || v >= len(s.spec.Over[d].Values) {
		return nil, false
	}
	n := append(setting{}, at...)
	n[d] = v
	return n, true
}

// bestOf runs best, the best setting so far, and others. It returns the best of them, compared on the same seeds.
// A setting that is clearly worse with the first seed is not run with the other seeds.
func (s *search) bestOf(ctx context.Context, best setting, others []setting) (setting, error) {
	var jobs []job
	for _, x := range append([]setting{best}, others...) {
		jobs = append(jobs, completeRun(x, 0))
	}
	if err := s.runJobs(ctx, "walk", jobs); err != nil {
		return best, err
	}
	for _, x := range others {
		better, err := s.isBetter(ctx, x, best)
		if err != nil {
			return best, err
		}
		if better {
			s.addStep("walk", completeRun(x, 0), "better: the walk continues from here")
			best = x
		}
	}
	return best, nil
}

// isBetter reports whether x is better than y: if it violates the bounds less or, with equal violations, if its
// first figure is lower on average over the seeds of the walk. It runs both with seeds that are missing, unless
// the first seed decides: x is more than 5 % worse, or one of the two violates the bounds clearly more.
func (s *search) isBetter(ctx context.Context, x, y setting) (bool, error) {
	a, b := s.outcomeOf(completeRun(x, 0)), s.outcomeOf(completeRun(y, 0))
	switch {
	case s.walkSeeds == 1 || s.firstSeedDecides(a, b):
		return a.compare(b) < 0, nil
	case a.Violation == b.Violation && a.Figures[0] > b.Figures[0]*1.05:
		return false, nil
	}
	var diff float64
	for seed := range s.walkSeeds {
		if err := s.runJobs(ctx, "walk", []job{completeRun(x, seed), completeRun(y, seed)}); err != nil {
			return false, err
		}
		diff += s.outcomeOf(completeRun(x, seed)).Figures[0] - s.outcomeOf(completeRun(y, seed)).Figures[0]
		if s.spec.Bounds == config.EachSeed && s.violation(x, seed+1) != s.violation(y, seed+1) {
			break // no later seed repairs a violation
		}
	}
	return cmp.Or(cmp.Compare(s.violation(x, s.walkSeeds), s.violation(y, s.walkSeeds)), cmp.Compare(diff, 0)) < 0, nil
}

// firstSeedDecides reports whether the outcomes a and b of two settings with the first seed show that one of them
// violates the bounds more than the other. If the bounds apply to means over the seeds, it must also have the
// higher figure, or violate the bounds by more than the other seeds are likely to compensate.
func (s *search) firstSeedDecides(a, b outcome) bool {
	if a.Violation == b.Violation || s.spec.Bounds == config.EachSeed {
		return a.Violation != b.Violation
	}
	if a.Violation > b.Violation {
		a, b = b, a
	}
	const unlikely = 0.5 // the figure is twice its bound
	return b.Violation > unlikely || b.Figures[0] >= a.Figures[0]
}

// chooseWalkSeeds sets walkSeeds: 1 if the seed has no effect on the figures, otherwise 3, or spec.Seeds if that
// is less. It runs the first and, if necessary, the last setting of list with a second seed; two, because the
// figures of one may be 0 with every seed.
func (s *search) chooseWalkSeeds(ctx context.Context, list []setting) error {
	s.walkSeeds = 1
	if s.spec.Seeds < 2 {
		return nil
	}
	for _, x := range []setting{list[0], list[len(list)-1]} {
		if s.walkSeeds > 1 || s.newCost([]job{completeRun(x, 1)})+s.spentRuns > float64(s.spec.Runs) {
			break
		}
		if err := s.runJobs(ctx, "race", []job{completeRun(x, 1)}); err != nil {
			return err
		}
		first, second := s.outcomeOf(completeRun(x, 0)), s.outcomeOf(completeRun(x, 1))
		if !slices.Equal(first.Figures, second.Figures) || !slices.Equal(first.Bounded, second.Bounded) {
			s.walkSeeds = min(3, s.spec.Seeds)
		}
	}
	return nil
}

// race runs settings with all seeds, one seed after the other, as far as the limit of runs allows. It drops settings
// that break the bounds, which it adds to s.broken, and from the third seed on those that are significantly worse
// than a leader that keeps the bounds: the 95 % interval of the difference is above 0. It returns the others, the
// best first.
func (s *search) race(ctx context.Context, list []setting) ([]setting, error) {
	if s.walkSeeds == 1 {
		return list, nil // the figures do not depend on the seed
	}
	for seed := range s.spec.Seeds {
		if affordable, err := s.raceRound(ctx, list, seed); err != nil {
			return nil, err
		} else if !affordable {
			break
		}
		slices.SortStableFunc(list, func(x, y setting) int {
			return cmp.Or(cmp.Compare(s.violation(x, seed+1), s.violation(y, seed+1)),
				cmp.Compare(s.meanFigure(x, seed+1), s.meanFigure(y, seed+1)))
		})
		list = slices.DeleteFunc(list, func(x setting) bool {
			if !s.isBroken(x, seed+1) {
				return false
			}
			s.addStep("race", completeRun(x, seed), fmt.Sprintf("dropped: %s, over %d seeds", s.violationText(x), seed+1))
			s.broken = append(s.broken, x)
			return true
		})
		if len(list) == 0 || seed < 2 || s.violation(list[0], seed+1) > 0 {
			continue // no leader, or too few seeds for an interval
		}
		remaining := list[:1]
		for _, x := range list[1:] {
			if difference := s.pairedDifference(x, list[0], seed+1); difference.Lo != nil && *difference.Lo > 0 {
				s.addStep("race", completeRun(x, seed), fmt.Sprintf("dropped: %s above the leader, at least %s, over %d seeds",
					units.Significant(difference.Mean, 4), units.Significant(*difference.Lo, 4), seed+1))
				continue
			}
			remaining = append(remaining, x)
		}
		list = remaining
	}
	return list, nil
}

// finals races the best settings. Each setting that breaks the bounds makes room for the next one that was tried.
// Then it races settings that are cheaper than the leader but broke the bounds so far: with more seeds they may
// keep them. It returns the best setting, followed by those that may be as good; if no setting keeps the bounds,
// those that violate them least.
func (s *search) finals(ctx context.Context) ([]setting, error) {
	if s.walkSeeds == 1 {
		return s.bestSettings(raceSize), nil
	}
	list := s.waiting(nil)
	list = list[:min(len(list), raceSize)]
	for { // race, until no setting of a race breaks the bounds
		brokenBefore := len(s.broken)
		var err error
		if list, err = s.race(ctx, list); err != nil {
			return nil, err
		}
		waiting := s.waiting(list)
		next := waiting[:min(len(s.broken)-brokenBefore, len(waiting))]
		if len(next) == 0 {
			break
		}
		list = append(list, next...)
	}
	for improved := true; improved && len(list) > 0 && s.violation(list[0], s.spec.Seeds) == 0; {
		leader := list[0]
		challengers := slices.DeleteFunc(s.waiting(list), func(x setting) bool {
			return s.violation(x, s.spec.Seeds) == 0 || s.pairedDifference(x, leader, s.spec.Seeds).Mean >= 0
		})
		affordable := int((float64(s.spec.Runs) - s.spentRuns) / float64(s.spec.Seeds-1)) // each was run with the first seed
		challengers = challengers[:min(len(challengers), raceSize, affordable)]
		var err error
		if list, err = s.race(ctx, slices.Concat(list, challengers)); err != nil {
			return nil, err
		}
		improved = len(list) > 0 && list[0].key() != leader.key()
	}
	if len(list) > 0 && s.violation(list[0], s.spec.Seeds) == 0 {
		return list, nil
	}
	return s.bestSettings(raceSize), nil // the limit of runs is spent, or no setting keeps the bounds
}

// waiting returns the settings that were run for the whole duration and are neither in list nor broken, the best first.
func (s *search) waiting(list []setting) []setting {
	done := map[string]bool{}
	for _, x := range slices.Concat(list, s.broken) {
		done[x.key()] = true
	}
	return slices.DeleteFunc(s.bestSettings(len(s.tried)), func(x setting) bool { return done[x.key()] || s.isBroken(x, s.spec.Seeds) })
}

// raceRound runs settings with one more seed and sets racedSeeds. affordable is false if that would exceed the
// limit of runs; nothing is run then.
func (s *search) raceRound(ctx context.Context, list []setting, seed int) (affordable bool, err error) {
	var jobs []job
	for _, x := range list {
		jobs = append(jobs, completeRun(x, seed))
	}
	if s.newCost(jobs)+s.spentRuns > float64(s.spec.Runs) {
		return false, nil
	}
	s.racedSeeds = seed + 1
	return true, s.runJobs(ctx, "race", jobs)
}

// figureBySeed returns figure f, an index of spec.Minimise, of setting x for each of the first seeds with which
// the setting was run for the whole duration.
func (s *search) figureBySeed(x setting, f, seeds int) (list []float64) {
	for seed := range seeds {
		if v, ok := s.outcomes[jobKey(completeRun(x, seed))]; ok {
			list = append(list, v.Figures[f])
		}
	}
	return list
}

// meanFigure returns the mean of the first figure of setting x over the first seeds.
func (s *search) meanFigure(x setting, seeds int) float64 {
	return figures.EstimateMean(s.figureBySeed(x, 0, seeds)).Mean
}

// pairedRatio returns the ratio of the first figure of setting x to that of y, paired by the first seeds.
func (s *search) pairedRatio(x, y setting, seeds int) figures.Mean {
	a, b := s.figureBySeed(x, 0, seeds), s.figureBySeed(y, 0, seeds)
	n := min(len(a), len(b))
	return figures.RatioOf(s.spec.Minimise[0], a[:n], b[:n])
}

// pairedDifference returns the first figure of x minus that of y, paired by seed. Unlike a ratio it exists
// if a figure is 0.
func (s *search) pairedDifference(x, y setting, seeds int) figures.Mean {
	a, b := s.figureBySeed(x, 0, seeds), s.figureBySeed(y, 0, seeds)
	diff := make([]float64, min(len(a), len(b)))
	for i := range diff {
		diff[i] = a[i] - b[i]
	}
	return figures.EstimateMean(diff)
}

// bestSettings returns the best n settings of those that were run for the whole duration, the best first.
func (s *search) bestSettings(n int) []setting {
	list := make([]setting, 0, len(s.tried))
	for _, x := range s.tried {
		if _, ok := s.outcomes[jobKey(completeRun(x, 0))]; ok {
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(x, y setting) int { return slices.Compare(x, y) })
	s.rank(list, 1)
	return list[:min(n, len(list))]
}

// searchOptimum searches for the setting with the smallest figure. It runs settings drawn at random, walks from
// the best three to better neighbours, and finally compares the best four with more seeds. It returns the best
// setting, followed by those that may be as good. When the budget of runs is spent, it continues with the settings
// run so far. own is the configuration's own setting, nil if none.
func (s *search) searchOptimum(ctx context.Context, own setting) ([]setting, error) {
	list, err := s.drawAndHalve(ctx, own)
	if err == nil {
		err = s.chooseWalkSeeds(ctx, list)
	}
	if err != nil {
		return nil, err
	}
	for _, start := range list[:min(3, len(list))] {
		if _, err := s.descend(ctx, start); err != nil && !errors.Is(err, errBudgetSpent) {
			return nil, err
		}
	}
	for {
		tried := len(s.tried)
		if err := s.tryDiagonals(ctx); err != nil && !errors.Is(err, errBudgetSpent) {
			return nil, err
		}
		if list, err = s.finals(ctx); err != nil || len(s.spec.Subject) == 0 || len(s.tried) == tried {
			return list, err
		}
		// The setting from which the diagonals were tried may have broken the bounds in the race.
	}
}

// maxFront is the maximum number of settings of a front.
const maxFront = 16

// searchFront returns the Pareto front of two figures, at most maxFront settings. It runs the neighbours of the
// settings of the front, which may change the front. It stops when the neighbours of all settings of the front
// have been run, or when the runs are spent. own is the configuration's own setting, nil if none.
func (s *search) searchFront(ctx context.Context, own setting) ([]setting, error) {
	list, err := s.drawAndHalve(ctx, own)
	if err == nil {
		err = s.chooseWalkSeeds(ctx, list)
	}
	if err != nil {
		return nil, err
	}
	expanded := map[string]bool{}
	for s.remainingRuns() > 0 {
		front := s.undominated()
		i := slices.IndexFunc(front, func(x setting) bool { return !expanded[x.key()] })
		if i < 0 {
			break
		}
		expanded[front[i].key()] = true
		var jobs []job
		for _, n := range neighbours(s.spec.Over, front[i]) {
			jobs = append(jobs, completeRun(n, 0))
		}
		s.rand.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
		if err := s.runJobs(ctx, "walk", jobs[:min(len(jobs), max(int(s.remainingRuns()), 1))]); err != nil {
			if errors.Is(err, errBudgetSpent) {
				break
			}
			return nil, err
		}
	}
	for {
		front, before := thinOut(s.undominated(), maxFront), s.spentRuns
		for seed := range s.spec.Seeds { // run the other seeds for the means of the figures
			if s.walkSeeds == 1 {
				break
			}
			if affordable, err := s.raceRound(ctx, front, seed); err != nil {
				return nil, err
			} else if !affordable {
				break
			}
		}
		if s.spentRuns == before || len(s.spec.Subject) == 0 {
			return front, nil // no further run, or no bounds: further seeds cannot have changed the front
		}
	}
}

// undominated returns the settings that no other dominates, of those run for the whole duration, sorted by
// the first figure.
func (s *search) undominated() (front []setting) {
	type placed struct {
		at    setting
		value outcome
	}
	var list []placed
	for _, x := range s.tried {
		if v, ok := s.outcomes[jobKey(completeRun(x, 0))]; ok {
			v.Violation = s.violation(x, s.spec.Seeds)
			list = append(list, placed{x, v})
		}
	}
	slices.SortFunc(list, func(x, y placed) int { // a setting comes after those that dominate it
		return cmp.Or(cmp.Compare(x.value.Violation, y.value.Violation),
			slices.Compare(x.value.Figures, y.value.Figures), slices.Compare(x.at, y.at))
	})
	var last outcome // of the newest setting of the front
	for _, x := range list {
		if x.value.Violation > list[0].value.Violation {
			break
		}
		if len(front) == 0 || !last.dominates(x.value) {
			front, last = append(front, x.at), x.value
		}
	}
	return front
}

// thinOut returns at most n settings of a front: the first, the last, and evenly spaced ones between them.
func thinOut(front []setting, n int) []setting {
	if len(front) <= n {
		return front
	}
	out := make([]setting, n)
	for i := range out {
		out[i] = front[i*(len(front)-1)/(n-1)]
	}
	return out
}
