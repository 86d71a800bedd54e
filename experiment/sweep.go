package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/panics"
)

// Grid contains the runs of a sweep: each point with each seed. Runs are numbered from 0; the seeds of
// a point have consecutive numbers.
type Grid struct {
	Points []config.Point
	Repeat int // number of seeds for each point
}

// NewGrid returns the grid of the sweep of c. Without a sweep, the grid has one point.
func NewGrid(c *config.Config) (Grid, error) {
	points, err := c.Points()
	return Grid{points, c.Repeat()}, err
}

// Runs returns the number of runs.
func (g *Grid) Runs() int { return len(g.Points) * g.Repeat }

// Run returns the point of run n with the run's seed.
func (g *Grid) Run(n int) config.Point {
	point := &g.Points[n/g.Repeat]
	if g.Repeat == 1 {
		return *point
	}
	return point.Seeded(n % g.Repeat)
}

// sweep runs the points of the sweep of c in parallel, and writes the report to folder, which is nil if none
// is wanted. The results do not depend on the number of workers, and the report contains them in the order of
// the grid. If a run fails, the others are interrupted, and sweep returns the results so far with the error.
func sweep(ctx context.Context, c *config.Config, opt RunOptions,
	folder *atomicfile.Folder) (*report.Report, error) {
	grid, err := NewGrid(c)
	if err != nil {
		return nil, err
	}
	if err := checkPoints(ctx, c, grid.Points, opt.Force); err != nil && ctx.Err() == nil {
		return nil, err
	}
	runs := grid.Runs()
	if grid.Repeat > 1 && runs > config.MaxSweep {
		return nil, &config.Error{Key: "sweep", Problem: fmt.Sprintf("%d points with %d seeds each are %d runs, each with its own report",
			len(grid.Points), grid.Repeat, runs), Expected: fmt.Sprintf("at most %d, or tui sweep, which stores only the figures", config.MaxSweep)}
	}
	opt.Packs = cmp.Or(opt.Packs, delivery.NewPackCache())
	out := &sweepWriter{config: c, results: make([]*engine.Result, runs), opt: opt, folder: folder,
		pace: NewPace(opt.Clock, opt.Clock.Now(), time.Second), first: true}
	if err := out.save(out.report(engine.Unfinished)); err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	progress := &sweepProgress{done: make([]float64, runs), total: make([]float64, runs),
		report: opt.Progress}
	err = Many(running, cmp.Or(max(opt.Workers, 0), runtime.GOMAXPROCS(0)), runs, func(ctx context.Context,
		i int) error {
		runOpt := opt
		runOpt.Progress = func(done, total float64) {
			progress.set(i, done, total)
			if out.saveIfDue() != nil {
				cancel()
			}
		}
		point := grid.Run(i)
		r, err := runOne(ctx, point.Config, runOpt, report.NewExporter(out.runFolder(i), point.Set,
			opt.files, page.Pages()))
		out.add(i, r)
		return err
	})
	err = cmp.Or(err, out.failed)
	r := out.report("") // SetReason sets the reason
	r.Interrupted = err == nil && ctx.Err() != nil
	r.SetReason(err)
	if saveErr := out.save(r); saveErr != nil && !errors.Is(err,
		report.ErrWrite) { // do not report the full disk twice
		err = errors.Join(err, saveErr)
		r.SetReason(err)
	}
	return r, err
}

// Many calls run with the numbers 0 to n-1, in ascending order and on at most jobs goroutines at a time.
// An error, also of a panic, cancels the other calls; when ctx ends, no further call begins. Many
// returns the errors of all calls.
func Many(ctx context.Context, jobs, n int, run func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return joinDistinct(panics.Each(jobs, n, func(i int) error {
		if ctx.Err() != nil {
			return nil
		}
		err := panics.Call(func() error { return run(ctx, i) })
		if err != nil {
			cancel()
		}
		return err
	}))
}

// joinDistinct joins errors, but only the first of those with the same text, because all runs may have
// failed for the same reason.
func joinDistinct(errs []error) error {
	seen := map[string]bool{}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		repeated := err == nil || seen[err.Error()]
		if !repeated {
			seen[err.Error()] = true
		}
		return repeated
	})...)
}

// sweepWriter collects the results of a sweep's runs, and writes the sweep's report while the sweep
// continues, so that an interruption loses no finished run.
type sweepWriter struct {
	config *config.Config
	opt    RunOptions
	folder *atomicfile.Folder // of the report; nil if none
	first  bool               // nothing was written yet

	mu      sync.Mutex
	results []*engine.Result // in the order of the grid; nil until the run has ended
	unsaved bool             // there are results that are not saved
	pace    Pace
	failed  error // error of writing the folder
}

// runFolder returns the folder of run i; nil if the sweep has no folder.
func (s *sweepWriter) runFolder(i int) *atomicfile.Folder {
	if s.folder == nil {
		return nil
	}
	return s.folder.Sub(fmt.Sprintf("run-%03d", i+1))
}

// add stores the result of a run, unless the run never began.
func (s *sweepWriter) add(i int, r *engine.Result) {
	if r == nil || r.Frames == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[i], s.unsaved = r, true
}

// saveIfDue saves the results so far, if there are new ones and the interval of s.pace has passed. It
// returns the error of the first failed save.
func (s *sweepWriter) saveIfDue() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsaved && s.failed == nil {
		s.failed = s.pace.Do(func() error {
			s.unsaved = false
			return s.save(s.report(engine.Unfinished))
		})
	}
	return s.failed
}

// report returns the report of the results so far; why is its reason. The caller must hold s.mu while
// runs continue.
func (s *sweepWriter) report(why engine.Ending) *report.Report {
	results := slices.DeleteFunc(slices.Clone(s.results), func(r *engine.Result) bool { return r == nil })
	return &report.Report{Runs: results, Sweep: true, Planned: len(s.results), Reason: why}
}

// save writes the files of the sweep's report, but not those of the runs, which runOne writes. It must
// not be called concurrently.
func (s *sweepWriter) save(r *report.Report) error {
	if s.folder == nil {
		return nil
	}
	err := report.WriteSweep(s.folder, s.first, s.config, r, s.opt.files, page.Pages())
	s.first = s.first && err != nil
	return err
}

// sweepProgress sums the progress of the runs. A run of unknown length counts as the longest run of
// known length.
type sweepProgress struct {
	mu     sync.Mutex
	done   []float64                 // by run
	total  []float64                 // by run; 0 or less if unknown
	report func(done, total float64) // nil if none
}

// set sets the progress of run i, in seconds of virtual time, and reports the sums over all runs. total is 0
// or less if the length of the run is unknown.
func (p *sweepProgress) set(i int, done, total float64) {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[i], p.total[i] = done, total
	longest := max(slices.Max(p.total), 0) // stands for unknown lengths
	sumDone, sum := 0.0, 0.0
	for j, t := range p.total {
		sumDone += p.done[j]
		if t <= 0 {
			t = longest
		}
		sum += t
	}
	p.report(sumDone, sum)
}
