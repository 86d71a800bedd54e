package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/figures"
	"wirelab/experiment/page"
	"wirelab/internal/panics"
	"wirelab/internal/seed"
	"wirelab/internal/wallclock"
)

// Options configure Run.
type Options struct {
	Clock    wallclock.Clock
	Jobs     int                       // maximum number of parallel runs
	Progress func(done, total float64) // if not nil, receives the progress: runs so far, and their limit
}

// Run executes the search in c. If ctx ends before it is complete, Run returns ctx's error and the result
// so far. If times are minimised or bounded, runs are not parallel, because they would slow each other
// down.
func Run(ctx context.Context, c *config.Config, opt Options) (*Result, error) {
	if len(c.Search.Minimise) == 0 {
		return nil, &config.Error{Key: "search", Problem: "no [search] in the configuration",
			Expected: `minimise = "payload_kbps" and keys with their values under [search.over]`}
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	base := c.Clone()
	base.Sweep, base.Search = nil, config.Search{}
	if base.ResolvePath == nil {
		// If ResolvePath were nil, each run would hash the data files that it reads, for its report.
		base.ResolvePath = func(name string) string { return name }
	}
	eval := &evaluator{base: base, spec: c.Search, clock: opt.Clock, jobs: max(opt.Jobs, 1), packs: delivery.NewPackCache()}
	if usesTimings(c.Search) {
		eval.jobs = 1
	}
	ownResult, err := eval.runOnce(ctx, base.Clone())
	if err != nil {
		return nil, err
	}
	eval.duration = ownResult.DurationNS
	return searchWith(ctx, c, eval.evaluate, opt.Progress, eval.outcomeOf(ownResult))
}

// searchWith runs the search of c, whose jobs eval runs. ownOutcome is the outcome of the configuration itself;
// it has no figures if the configuration was not run. For the error and an interruption see Run.
func searchWith(ctx context.Context, c *config.Config, eval evaluateFunc, progress func(done, total float64), ownOutcome outcome) (*Result, error) {
	// The tag makes the random numbers of the search independent of those of the runs, which have the same seed.
	s := &search{spec: c.Search, rand: rand.New(seed.Tagged(c.Seed, "search\n")), evaluate: eval, progress: progress,
		outcomes: map[string]outcome{}, tried: map[string]setting{}, drawnAhead: -1}
	if ownOutcome.Figures != nil {
		s.spentRuns = 1 // the configuration itself was run
	}
	if s.spec.Runs == 0 {
		s.spec.Runs = config.DefaultSearchRuns
	}
	if s.spec.Seeds == 0 {
		s.spec.Seeds = config.DefaultSearchSeeds
	}
	ownAt := ownSetting(c)
	var list []setting
	var err error
	if len(s.spec.Minimise) > 1 {
		list, err = s.searchFront(ctx, ownAt)
	} else {
		list, err = s.searchOptimum(ctx, ownAt)
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	if err != nil { // interrupted: return the best so far
		list = s.bestSettings(raceSize)
		if len(s.spec.Minimise) > 1 {
			list = thinOut(s.undominated(), maxFront)
		}
		f := s.summarize(list, ownAt, ownOutcome)
		f.Interrupted = true
		if f.Best == nil {
			f.Confidence = []string{"The search was interrupted before a setting was run for the whole duration."}
		} else {
			f.Confidence = append(f.Confidence, "The search was interrupted: this is the best so far.")
		}
		return f, ctx.Err()
	}
	s.countDrawnAhead(ctx, list)
	return s.summarize(list, ownAt, ownOutcome), nil
}

// usesTimings reports whether a search minimises or bounds measured CPU times.
func usesTimings(s config.Search) bool {
	names := slices.Clone(s.Minimise)
	for _, a := range s.Subject {
		names = append(names, a.Name)
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(config.TimingNames(), name) })
}

// ownSetting returns the setting that equals the configuration itself; nil if a value is not in its range.
func ownSetting(c *config.Config) setting {
	s := make(setting, len(c.Search.Over))
	settings := c.Settings()
	for d, r := range c.Search.Over {
		s[d] = -1 // not found yet
		for i, v := range r.Values {
			candidate := c.Clone() // a set value has one form: "1000ms" becomes "1s"
			if candidate.Set(r.Key, v) == nil && candidate.Settings()[r.Key] == settings[r.Key] {
				s[d] = i
			}
		}
		if s[d] < 0 {
			return nil
		}
	}
	return s
}

// An evaluator runs settings in this process.
type evaluator struct {
	base     *config.Config // without sweep and search
	spec     config.Search
	clock    wallclock.Clock
	jobs     int           // maximum number of parallel runs
	duration time.Duration // of a complete run
	packs    *delivery.PackCache
}

// evaluate is an evaluateFunc: it runs jobs in parallel, at most e.jobs at a time, and returns their outcomes in
// order.
func (e *evaluator) evaluate(ctx context.Context, jobs []job) ([]outcome, error) {
	values := make([]outcome, len(jobs))
	errs := panics.Each(e.jobs, len(jobs), func(i int) (err error) {
		values[i], err = e.runJob(ctx, jobs[i])
		return err
	})
	return values, errors.Join(append(errs, ctx.Err())...)
}

// runJob runs one job. A setting that is an invalid configuration is no error: its outcome violates the bounds
// infinitely, so that the search avoids it. If ctx is done, the outcome has no figures.
func (e *evaluator) runJob(ctx context.Context, j job) (outcome, error) {
	if ctx.Err() != nil {
		return outcome{}, nil
	}
	c, err := apply(e.base, e.spec.Over, j.Setting)
	if err != nil {
		return e.failedOutcome(err), nil
	}
	c.Seed += uint64(j.Seed)
	c.Duration = e.duration / time.Duration(j.Divisor)
	c.At = changesBefore(c.At, c.Duration) // later changes would be invalid in a shorter run
	r, err := e.runOnce(ctx, c)
	var wrong *config.Error
	if errors.As(err, &wrong) {
		return e.failedOutcome(err), nil
	}
	if err != nil || ctx.Err() != nil {
		return outcome{}, err
	}
	return e.outcomeOf(r), nil
}

func changesBefore(at []config.StampedChange, end time.Duration) (earlier []config.StampedChange) {
	for _, x := range at {
		if x.T < end {
			earlier = append(earlier, x)
		}
	}
	return earlier
}

// runOnce runs c and returns the result of its only run.
func (e *evaluator) runOnce(ctx context.Context, c *config.Config) (*engine.Result, error) {
	r, err := experiment.Run(ctx, c, experiment.RunOptions{Clock: e.clock, Packs: e.packs})
	if err != nil {
		return nil, err
	}
	return r.Runs[0], nil
}

// failedOutcome returns the outcome of a setting that cannot be run because of err. Its violation and its
// figures are infinite, so that every other outcome is better.
func (e *evaluator) failedOutcome(err error) outcome {
	v := outcome{Violation: math.Inf(1), Reason: "cannot be run: " + err.Error(), Figures: make([]float64, len(e.spec.Minimise))}
	for i := range v.Figures {
		v.Figures[i] = math.Inf(1)
	}
	return v
}

// outcomeOf returns the figures of a run that the search minimises and bounds, and by how much the run violates the
// bounds: the sum of their excesses. It is infinite if the run lacks a figure.
func (e *evaluator) outcomeOf(r *engine.Result) (v outcome) {
	measured := figures.Flatten(r.Totals)
	for name, x := range timingFigures(r.Timing) {
		measured[name] = x
	}
	var reasons []string
	for _, name := range e.spec.Minimise {
		x, ok := measured[name]
		if !ok {
			x, v.Violation = math.Inf(1), math.Inf(1)
			reasons = append(reasons, "the run has no "+name)
		}
		v.Figures = append(v.Figures, x)
	}
	for _, name := range page.SearchTiles() {
		x, ok := measured[name]
		if !ok {
			x = math.NaN()
		}
		v.Shown = append(v.Shown, x)
	}
	for _, a := range e.spec.Subject {
		got, ok := measured[a.Name]
		switch {
		case !ok:
			got, v.Violation = math.Inf(1), math.Inf(1)
			reasons = append(reasons, "the run has no "+a.Name)
		case !a.Holds(got):
			v.Violation += excess(a, got)
			reasons = append(reasons, fmt.Sprintf("%s is %g", a.Name, got))
		}
		v.Bounded = append(v.Bounded, got)
	}
	v.Reason, v.RunsAs = strings.Join(reasons, ", "), r.Timing.RunsAs
	return v
}

// timingFigures returns the CPU times by the names of their figures: see config.TimingNames.
func timingFigures(t figures.Timing) map[string]float64 {
	m := map[string]float64{}
	for name, q := range map[string]figures.Quantiles{"encode_us": t.EncodeUS, "decode_us": t.DecodeUS} {
		if q.N > 0 {
			m[name+".p50"], m[name+".p95"], m[name+".p99"] = q.P50, q.P95, q.P99
		}
	}
	return m
}

// Apply returns a copy of configuration c with the values of a setting that Run has found for c.
func Apply(c *config.Config, chosen *Candidate) (*config.Config, error) {
	s := make(setting, len(c.Search.Over))
	for d, r := range c.Search.Over {
		for i, v := range r.Values {
			if reflect.DeepEqual(v, chosen.Set[r.Key]) { // a value may be a table
				s[d] = i
			}
		}
	}
	return apply(c, c.Search.Over, s)
}
