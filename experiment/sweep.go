package experiment

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/page"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/panics"
)

// sweep runs the grid side by side. Each run is as deterministic as if it were
// alone, and the report lists them in the order of the grid.
func sweep(ctx context.Context, c *config.Config, opt RunOptions, folder *atomicfile.Folder) (*report.Report, error) {
	grid, err := c.Points()
	if err != nil {
		return nil, err
	}
	if err := checkPoints(ctx, c, grid, opt.Force); err != nil && ctx.Err() == nil {
		return nil, err
	}
	if grid, err = seeded(c, grid); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if opt.Packs == nil {
		opt.Packs = delivery.NewPackCache()
	}
	out := &sweepOut{config: c, grid: grid, results: make([]*engine.Result, len(grid)), opt: opt, folder: folder,
		pace: saving{clock: opt.Clock, last: opt.Clock.Now()}, first: true}
	if err := out.save(out.report(engine.Unfinished)); err != nil {
		return nil, err
	}
	progress := newSweepProgress(len(grid), opt.Progress)
	errs := make([]error, len(grid))
	work := make(chan int)
	var wg sync.WaitGroup
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range min(workers, len(grid)) {
		wg.Go(func() {
			for i := range work {
				if ctx.Err() != nil {
					continue // never begun, so nothing to tell
				}
				o := opt
				o.Progress = func(done, total float64) {
					progress.note(i, done, total)
					if out.tick() != nil {
						cancel()
					}
				}
				errs[i] = panics.Call(func() error {
					r, err := runOne(ctx, grid[i].Config, o, report.NewExporter(out.folderOf(i), grid[i].Set, opt.files, page.Pages()))
					out.add(i, r)
					return err
				})
				if errs[i] != nil {
					cancel()
				}
			}
		})
	}
	for i := range grid {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	wg.Wait()
	err = joinOnce(append(errs, out.failed))
	r := out.report("")
	r.Interrupted = err == nil && ctx.Err() != nil
	r.End(err)
	if saved := out.save(r); saved != nil && !errors.Is(err, report.ErrWrite) {
		err = errors.Join(err, saved)
		r.End(err)
	}
	return r, err
}

// seeded lists every point with each of its seeds, if the sweep repeats its points.
func seeded(c *config.Config, grid []config.Point) ([]config.Point, error) {
	n := c.Repeat()
	if n == 1 {
		return grid, nil
	}
	if runs := n * len(grid); runs > config.MaxSweep {
		return nil, &config.Error{Key: "sweep", Problem: fmt.Sprintf("%d points with %d seeds each are %d runs, each with a report of its own",
			len(grid), n, runs), Expected: fmt.Sprintf("at most %d, or tui sweep, which keeps the figures", config.MaxSweep)}
	}
	var out []config.Point
	for i := range grid {
		for r := range n {
			out = append(out, grid[i].Seeded(r))
		}
	}
	return out, nil
}

// joinOnce joins errors, those that say the same only once: all runs may have failed for
// one reason.
func joinOnce(errs []error) error {
	said := map[string]bool{}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		again := err == nil || said[err.Error()]
		if !again {
			said[err.Error()] = true
		}
		return again
	})...)
}

// sweepOut gathers the runs of a sweep, in the order of the grid, and keeps the
// folder current, so that an interruption loses no finished run.
type sweepOut struct {
	config *config.Config
	grid   []config.Point
	opt    RunOptions
	folder *atomicfile.Folder // nil: none
	first  bool               // nothing was written yet

	mu      sync.Mutex
	results []*engine.Result
	news    bool // some of them are not saved yet
	pace    saving
	failed  error // the folder could not be written
}

// folderOf returns the folder of one run, nil if there is none.
func (s *sweepOut) folderOf(i int) *atomicfile.Folder {
	if s.folder == nil {
		return nil
	}
	return s.folder.Sub(fmt.Sprintf("run-%03d", i+1))
}

// add takes what a run came to, unless it came to nothing.
func (s *sweepOut) add(i int, r *engine.Result) {
	if r == nil || r.Frames == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[i], s.news = r, true
}

// tick saves what there is, if there is news and it is time.
func (s *sweepOut) tick() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.news && s.failed == nil {
		s.failed = s.pace.due(func() error {
			s.news = false
			return s.save(s.reportLocked(engine.Unfinished))
		})
	}
	return s.failed
}

func (s *sweepOut) report(why engine.Ending) *report.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reportLocked(why)
}

// reportLocked is report for who holds the lock.
func (s *sweepOut) reportLocked(why engine.Ending) *report.Report {
	r := &report.Report{Runs: []*engine.Result{}, Sweep: true, Planned: len(s.grid), Reason: why}
	for _, x := range s.results {
		if x != nil {
			r.Runs = append(r.Runs, x)
		}
	}
	return r
}

// save writes the top of the folder; one caller at a time.
func (s *sweepOut) save(r *report.Report) error {
	if s.folder == nil {
		return nil
	}
	err := report.WriteSweep(s.folder, s.first, s.config, r, s.opt.files, page.Pages())
	s.first = s.first && err != nil
	return err
}

// sweepProgress adds the runs' progress up. Runs whose length is not known yet
// are taken to be as long as the longest known.
type sweepProgress struct {
	mu    sync.Mutex
	done  []float64
	total []float64
	tell  func(done, total float64)
}

func newSweepProgress(n int, tell func(done, total float64)) *sweepProgress {
	return &sweepProgress{done: make([]float64, n), total: make([]float64, n), tell: tell}
}

func (p *sweepProgress) note(i int, done, total float64) {
	if p.tell == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[i], p.total[i] = done, total
	longest := 0.0
	for _, t := range p.total {
		longest = max(longest, t)
	}
	sumDone, sum := 0.0, 0.0
	for j := range p.done {
		sumDone += p.done[j]
		if p.total[j] > 0 {
			sum += p.total[j]
		} else {
			sum += longest
		}
	}
	p.tell(sumDone, sum)
}
