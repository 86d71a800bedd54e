package search

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/figures"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
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
	if c.Search.Minimise == "" {
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
	eval := &evaluator{base: base, spec: c.Search, clock: opt.Clock, jobs: opt.Jobs,
		packs: delivery.NewPackCache()}
	if usesTimings(c.Search) {
		eval.jobs = 1
	}
	if err := experiment.Check(ctx, base.Clone()); err != nil { // such as missing data, with which every setting would fail
		return nil, err
	}
	return searchWith(ctx, c, eval.evaluate, opt.Progress)
}

// searchWith runs the search of c, whose jobs eval runs. For the error and an interruption see Run.
func searchWith(ctx context.Context, c *config.Config, eval evaluateFunc, progress func(done,
	total float64)) (*Result, error) {
	// The tag makes the random numbers of the search independent of those of the runs, which have the same seed.
	s := &search{spec: c.Search, rand: rand.New(seed.Tagged(c.Seed, "search\n")), evaluate: eval,
		progress: progress, byKey: map[string]*trial{}}
	s.spec.Runs = cmp.Or(s.spec.Runs, config.DefaultSearchRuns)
	s.spec.Seeds = cmp.Or(s.spec.Seeds, config.DefaultSearchSeeds)
	s.seeds = s.spec.Seeds
	own := ownSetting(c)
	err := s.find(ctx, own)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	result := s.summarize(own)
	if err != nil { // ctx ended
		result.Interrupted = true
		result.Confidence = append(result.Confidence, interruptedText)
	}
	return result, err
}

// requiredFigures returns the names of the figures that every run needs: the one to minimise and the bounded
// ones, in the order of the bounds.
func requiredFigures(s config.Search) []string {
	names := []string{s.Minimise}
	for _, a := range s.Subject {
		names = append(names, a.Name)
	}
	return names
}

// figureNames returns the names of the figures in an outcome: the required ones and those of the report.
func figureNames(s config.Search) []string { return append(requiredFigures(s), page.SearchTiles()...) }

// usesTimings reports whether a search minimises or bounds measured CPU times.
func usesTimings(s config.Search) bool {
	return slices.ContainsFunc(requiredFigures(s),
		func(name string) bool { return slices.Contains(config.TimingNames(), name) })
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
	base  *config.Config // without sweep and search
	spec  config.Search
	clock wallclock.Clock
	jobs  int // maximum number of parallel runs
	packs *delivery.PackCache
}

// evaluate is an evaluateFunc.
func (e *evaluator) evaluate(ctx context.Context, jobs []job) ([]outcome, error) {
	list := make([]*outcome, len(jobs)) // nil for interrupted jobs
	err := experiment.Many(ctx, e.jobs, len(jobs), func(ctx context.Context, i int) (err error) {
		list[i], err = e.runJob(ctx, jobs[i])
		return err
	})
	var complete []outcome
	for _, r := range list {
		if r == nil {
			break
		}
		complete = append(complete, *r)
	}
	return complete, errors.Join(err, ctx.Err())
}

// runJob runs one job; the outcome is nil if ctx ends. A setting that is an invalid configuration is no
// error: the search avoids it because of its outcome.
func (e *evaluator) runJob(ctx context.Context, j job) (*outcome, error) {
	c, err := apply(e.base, e.spec.Over, j.at)
	var r *report.Report
	if err == nil {
		c.Seed += uint64(j.seed)
		r, err = experiment.Run(ctx, c, experiment.RunOptions{Clock: e.clock, Packs: e.packs})
	}
	if wrong := (*config.Error)(nil); errors.As(err, &wrong) {
		return failedOutcome("cannot be run: " + err.Error()), nil
	}
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	return e.outcomeOf(r.Runs[0]), nil
}

// failedOutcome returns the outcome of a setting that cannot be run or measured.
func failedOutcome(problem string) *outcome {
	return &outcome{Figures: []float64{math.Inf(1)}, Problem: problem}
}

// outcomeOf returns the figures of a run.
func (e *evaluator) outcomeOf(r *engine.Result) *outcome {
	measured := figures.Flatten(r.Totals)
	maps.Copy(measured, timingFigures(r.Timing))
	for _, name := range requiredFigures(e.spec) {
		if _, ok := measured[name]; !ok {
			return failedOutcome("the run has no " + name)
		}
	}
	out := &outcome{RunsAs: r.Timing.RunsAs}
	for _, name := range figureNames(e.spec) {
		x, ok := measured[name]
		if !ok {
			x = math.NaN()
		}
		out.Figures = append(out.Figures, x)
	}
	return out
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
