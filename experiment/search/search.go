package search

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
)

// A job is a run that a search requests: a setting, and the number to add to the configuration's seed.
type job struct {
	at   setting
	seed int
}

// An outcome is the result of a job.
type outcome struct {
	Figures []float64 // in the order of figureNames; NaN for one that the run does not have
	RunsAs  string    // see Candidate.RunsAs
	Problem string    // why the setting cannot be run or measured, and has no figures; "" if it has
}

// An evaluateFunc runs jobs, possibly in parallel, and returns their outcomes in order. If ctx ends, it
// returns an error and the outcomes of the first jobs.
type evaluateFunc func(ctx context.Context, jobs []job) ([]outcome, error)

// A trial is a setting with its outcomes so far. Seeds are run in ascending order, so that two trials
// have all seeds of the shorter one in common.
type trial struct {
	at   setting
	runs []outcome // by seed
}

// values returns a figure, an index in figureNames, for each seed so far.
func (t *trial) values(figure int) []float64 {
	list := make([]float64, len(t.runs))
	for seed := range list {
		list[seed] = t.runs[seed].Figures[figure]
	}
	return list
}

// problem returns the first problem of a run; "" if there is none.
func (t *trial) problem() string {
	for i := range t.runs {
		if t.runs[i].Problem != "" {
			return t.runs[i].Problem
		}
	}
	return ""
}

// A search is a running search.
type search struct {
	spec     config.Search
	seeds    int // number of seeds of a complete trial; 1 if the seed has no effect
	rand     *rand.Rand
	evaluate evaluateFunc
	progress func(done, total float64) // nil if not wanted

	trials []*trial          // in the order of their first runs
	byKey  map[string]*trial // the same trials by setting.key
	drawn  int               // number of settings drawn at random; 0 if the whole grid is run
	spent  int               // number of runs so far
}

// toMinimise is the index of the figure to minimise in figureNames. The bounded figures follow it.
const toMinimise = 0

// Constants of the search.
const (
	drawShare = 0.2 // part of the runs that is spent on settings drawn at random
	minDrawn  = 8   // smallest number of these
	raceSize  = 8   // trials with which a race begins

	// Distances, see around, up to which settings around the best one are tried. With bounds the best
	// setting is often a trade: cheaper in one range and costlier in others, so that the bounds are still
	// kept.
	maxDistance        = 2
	maxDistanceBounded = 4
)

// errNoRuns means that the limit of runs does not allow another one.
var errNoRuns = errors.New("the limit of runs is reached")

// find searches for the best setting. From settings drawn at random it moves to better ones around the
// best, until it finds none or the runs are spent. own is the configuration's own setting, nil if it is
// not in the grid. find returns the error of a run or of ctx; the trials so far remain valid.
func (s *search) find(ctx context.Context, own setting) error {
	err := s.try(ctx, s.firstSettings(own))
	if err == nil {
		err = s.race(ctx)
	}
	limit := maxDistance
	if len(s.spec.Subject) > 0 {
		limit = maxDistanceBounded
	}
	for distance := 1; err == nil && distance <= limit; {
		before := s.leader()
		next := around(s.spec.Over, before.at, distance)
		s.rand.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
		err = s.try(ctx, next)
		if err == nil {
			err = s.race(ctx)
		}
		distance++
		if s.leader() != before {
			distance = 1
		}
	}
	if errors.Is(err, errNoRuns) {
		return nil
	}
	return err
}

// firstSettings returns all settings of the grid, if they are few; otherwise settings drawn at random
// and own, if any.
func (s *search) firstSettings(own setting) []setting {
	n := max(int(drawShare*float64(s.spec.Runs)), minDrawn)
	if countSettings(s.spec.Over) <= float64(n) {
		return allSettings(s.spec.Over)
	}
	s.drawn = n
	list := drawSettings(s.spec.Over, n, s.rand)
	if own != nil {
		list = append(list, own)
	}
	return list
}

// try runs the settings of list that were not run before, with the first seed.
func (s *search) try(ctx context.Context, list []setting) error {
	var jobs []job
	listed := map[string]bool{}
	for _, x := range list {
		if key := x.key(); s.byKey[key] == nil && !listed[key] {
			listed[key] = true
			jobs = append(jobs, job{at: x})
		}
	}
	return s.run(ctx, jobs)
}

// race compares the settings by successive halving: the best of those that may be better than the leader
// get twice as many seeds, then the better half of them again, until they have all seeds or are no
// longer better.
func (s *search) race(ctx context.Context) error {
	for size := raceSize; ; size = max(size/2, 1) {
		list := s.contenders()
		if len(list) == 0 {
			return nil
		}
		var jobs []job
		for _, t := range list[:min(len(list), size)] {
			for seed := len(t.runs); seed < min(2*len(t.runs), s.seeds); seed++ {
				jobs = append(jobs, job{t.at, seed})
			}
		}
		if err := s.run(ctx, jobs); err != nil {
			return err
		}
		s.checkSeeds()
	}
}

// run runs jobs, as many as the limit of runs allows, and adds their outcomes to the trials. It returns
// errNoRuns if there are more.
func (s *search) run(ctx context.Context, jobs []job) error {
	allowed := jobs[:min(len(jobs), s.spec.Runs-s.spent)]
	results, err := s.evaluate(ctx, allowed)
	for i, r := range results {
		key := allowed[i].at.key()
		t := s.byKey[key]
		if t == nil {
			t = &trial{at: allowed[i].at}
			s.byKey[key] = t
			s.trials = append(s.trials, t)
		}
		t.runs = append(t.runs, r)
		s.spent++
	}
	if s.progress != nil {
		s.progress(float64(s.spent), float64(s.spec.Runs))
	}
	if err == nil && len(allowed) < len(jobs) {
		err = errNoRuns
	}
	return err
}

// checkSeeds sets s.seeds to 1 if the seed has no effect: every trial with two seeds has equal outcomes.
func (s *search) checkSeeds() {
	for _, t := range s.trials {
		if len(t.runs) < 2 || t.problem() != "" {
			continue
		}
		for figure := range requiredFigures(s.spec) {
			if values := t.values(figure); values[0] != values[1] {
				return
			}
		}
	}
	s.seeds = 1
}

// isSeedless reports whether checkSeeds found that the seed has no effect.
func (s *search) isSeedless() bool { return s.seeds < s.spec.Seeds }

// best returns the leader or, without one, the best of the trials with the most seeds; nil without trials.
func (s *search) best() *trial {
	if best := s.leader(); best != nil || len(s.trials) == 0 {
		return best
	}
	return slices.MinFunc(s.trials, func(a, b *trial) int {
		return cmp.Or(cmp.Compare(len(b.runs), len(a.runs)), s.compare(a, b))
	})
}

// isComplete reports whether a trial needs no further seed: it has all, or the setting cannot be run and
// measured.
func (s *search) isComplete(t *trial) bool { return len(t.runs) >= s.seeds || t.problem() != "" }

// leader returns the best trial with all seeds; nil without one.
func (s *search) leader() (best *trial) {
	for _, t := range s.trials {
		if s.isComplete(t) && (best == nil || s.compare(t, best) < 0) {
			best = t
		}
	}
	return best
}

// contenders returns the trials without all seeds that are better than the leader on the seeds that they
// have, or all if there is no leader, the best first.
func (s *search) contenders() (list []*trial) {
	leader := s.leader()
	for _, t := range s.trials {
		if !s.isComplete(t) && (leader == nil || s.compare(t, leader) < 0) {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, s.compare)
	return list
}

// compare compares two trials by their violation of the bounds, then by the means of the figure over the
// seeds that both have. The result is negative if a is better than b.
func (s *search) compare(a, b *trial) int {
	n := min(len(a.runs), len(b.runs))
	byFigure := cmp.Compare(mean(a.values(toMinimise)[:n]), mean(b.values(toMinimise)[:n]))
	return cmp.Or(cmp.Compare(s.violation(a), s.violation(b)), byFigure)
}

// mean returns the mean of list.
func mean(list []float64) float64 { return figures.EstimateMean(list).Mean }
