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
	"wirelab/internal/panics"
	"wirelab/internal/seed"
	"wirelab/internal/wallclock"
)

// Options are how a search is run.
type Options struct {
	Clock wallclock.Clock
	Jobs  int                       // runs side by side
	Tell  func(done, total float64) // hears of runs spent, of those allowed; nil: nobody asks
}

// Run looks for what the search of c asks for. When ctx ends, so does the search, with
// ctx's error; what was found until then it returns all the same.
func Run(ctx context.Context, c *config.Config, opt Options) (*Found, error) {
	if len(c.Search.Minimise) == 0 {
		return nil, &config.Error{Key: "search", Problem: "there is no [search]", Expected: `minimise = "payload_kbps" and keys with their values under [search.over]`}
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	base := c.Clone()
	base.Sweep, base.Search = nil, config.Search{}
	if base.Find == nil {
		base.Find = func(name string) string { return name } // else each run would hash the files that it reads
	}
	e := &evaluator{base: base, spec: c.Search, clock: opt.Clock, jobs: max(opt.Jobs, 1), packs: delivery.NewPackCache()}
	if aboutTimes(c.Search) {
		e.jobs = 1 // runs beside each other would slow each other down
	}
	r, err := e.one(ctx, base.Clone())
	if err != nil {
		return nil, err
	}
	e.whole = r.DurationNS
	return look(ctx, c, e.evaluate, opt.Tell, e.value(r))
}

// look runs a search over whatever evaluates: own is what the configuration itself came to.
func look(ctx context.Context, c *config.Config, eval evaluate, tell func(done, total float64), own outcome) (*Found, error) {
	s := &search{spec: c.Search, rand: rand.New(seed.Tagged(c.Seed, "search\n")), eval: eval, tell: tell,
		memo: map[string]outcome{}, tried: map[string]setting{}, ahead: -1}
	if own.Figures != nil {
		s.spent = 1 // the configuration itself was run
	}
	if s.spec.Runs == 0 {
		s.spec.Runs = config.DefaultSearchRuns
	}
	if s.spec.Seeds == 0 {
		s.spec.Seeds = config.DefaultSearchSeeds
	}
	at := place(c)
	var list []setting
	var err error
	if len(s.spec.Minimise) > 1 {
		list, err = s.front(ctx, at)
	} else {
		list, err = s.optimum(ctx, at)
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	if err != nil {
		list = s.leaders(4)
		if len(s.spec.Minimise) > 1 {
			list = thin(s.undominated(), maxFront)
		}
		f := s.found(list, at, own)
		f.Interrupted = true
		if f.Best == nil {
			f.Sure = []string{"The search was interrupted before a setting was run for the whole duration."}
		} else {
			f.Sure = append(f.Sure, "The search was interrupted: this is the best until then.")
		}
		return f, ctx.Err()
	}
	s.standing(ctx, list)
	return s.found(list, at, own), nil
}

// aboutTimes reports whether a search asks for figures of the machine's time.
func aboutTimes(s config.Search) bool {
	names := slices.Clone(s.Minimise)
	for _, a := range s.Subject {
		names = append(names, a.Name)
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(config.TimingNames(), name) })
}

// place returns where the configuration itself stands among the ranges; nil if it does not.
func place(c *config.Config) setting {
	s := make(setting, len(c.Search.Over))
	settings := c.Settings()
	for d, r := range c.Search.Over {
		s[d] = -1
		for i, v := range r.Values {
			same := c.Clone() // which writes "1000ms" as it writes "1s"
			if same.Set(r.Key, v) == nil && same.Settings()[r.Key] == settings[r.Key] {
				s[d] = i
			}
		}
		if s[d] < 0 {
			return nil
		}
	}
	return s
}

// evaluator runs settings in this process.
type evaluator struct {
	base  *config.Config
	spec  config.Search
	clock wallclock.Clock
	jobs  int
	whole time.Duration // of a run
	packs *delivery.PackCache
}

// evaluate implements Evaluate.
func (e *evaluator) evaluate(ctx context.Context, jobs []job) ([]outcome, error) {
	values := make([]outcome, len(jobs))
	errs := panics.Each(e.jobs, len(jobs), func(i int) (err error) {
		values[i], err = e.run(ctx, jobs[i])
		return err
	})
	return values, errors.Join(append(errs, ctx.Err())...)
}

// run is one of them. What cannot be run breaks the bounds by as much as can be.
func (e *evaluator) run(ctx context.Context, j job) (outcome, error) {
	if ctx.Err() != nil {
		return outcome{}, nil
	}
	c, err := apply(e.base, e.spec.Over, j.Setting)
	if err != nil {
		return e.refused(err), nil
	}
	c.Seed += uint64(j.Seed)
	c.Duration = e.whole / time.Duration(j.Share)
	c.At = before(c.At, c.Duration)
	r, err := e.one(ctx, c)
	var wrong *config.Error
	if errors.As(err, &wrong) {
		return e.refused(err), nil
	}
	if err != nil || ctx.Err() != nil {
		return outcome{}, err
	}
	return e.value(r), nil
}

// before keeps the changes before the end.
func before(at []config.StampedChange, end time.Duration) (kept []config.StampedChange) {
	for _, x := range at {
		if x.T < end {
			kept = append(kept, x)
		}
	}
	return kept
}

func (e *evaluator) one(ctx context.Context, c *config.Config) (*engine.Result, error) {
	r, err := experiment.Run(ctx, c, experiment.RunOptions{Clock: e.clock, Packs: e.packs})
	if err != nil {
		return nil, err
	}
	return r.Runs[0], nil
}

func (e *evaluator) refused(err error) outcome {
	v := outcome{Violation: math.Inf(1), Why: "cannot be run: " + err.Error(), Figures: make([]float64, len(e.spec.Minimise))}
	for i := range v.Figures {
		v.Figures[i] = math.Inf(1)
	}
	return v
}

// value reads the figures of a run, and how far it is from the bounds.
func (e *evaluator) value(r *engine.Result) (v outcome) {
	have := figures.Of(r.Totals)
	for name, x := range timings(r.Timing) {
		have[name] = x
	}
	var why []string
	for _, name := range e.spec.Minimise {
		x, ok := have[name]
		if !ok {
			x, v.Violation = math.Inf(1), math.Inf(1)
			why = append(why, "it has no "+name)
		}
		v.Figures = append(v.Figures, x)
	}
	for _, a := range e.spec.Subject {
		got, ok := have[a.Name]
		switch {
		case !ok:
			v.Violation = math.Inf(1)
			why = append(why, "it has no "+a.Name)
		case !a.Holds(got):
			v.Violation += math.Abs(got-a.Value) / max(math.Abs(a.Value), math.Abs(got), 1e-9)
			why = append(why, fmt.Sprintf("%s is %g", a.Name, got))
		}
	}
	v.Why, v.RunsAs = strings.Join(why, ", "), r.Timing.RunsAs
	return v
}

// timings are the figures of what the work cost.
func timings(t figures.Timing) map[string]float64 {
	m := map[string]float64{}
	for name, q := range map[string]figures.Quantiles{"encode_us": t.EncodeUS, "decode_us": t.DecodeUS} {
		if q.N > 0 {
			m[name+".p50"], m[name+".p95"], m[name+".p99"] = q.P50, q.P95, q.P99
		}
	}
	return m
}

// Apply returns the configuration with a setting that was found.
func Apply(c *config.Config, chosen *Chosen) (*config.Config, error) {
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
