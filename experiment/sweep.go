package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
)

// sweep runs the grid side by side. Each run is as deterministic as if it were
// alone, and the report lists them in the order of the grid.
func sweep(ctx context.Context, c *config.Config, opt RunOptions) (*report.Report, error) {
	grid, err := c.Points()
	if err != nil {
		return nil, err
	}
	if err := checkPoints(ctx, c, grid); err != nil && ctx.Err() == nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if opt.packs == nil {
		opt.packs = engine.NewPackCache()
	}
	out := &sweepOut{config: c, grid: grid, results: make([]*engine.Result, len(grid)), opt: opt}
	if err := out.save(); err != nil {
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
				o.Progress = func(done, total float64) { progress.note(i, done, total) }
				r, err := runOne(ctx, grid[i].Config, o, &report.Exporter{Dir: out.dirOf(i), Set: grid[i].Set})
				if errs[i] = errors.Join(err, out.add(i, r)); errs[i] != nil {
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
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(err, out.save())
	}
	return out.report(ctx.Err() != nil), out.save()
}

// sweepOut gathers the runs of a sweep, in the order of the grid, and keeps the
// folder current, so that an interruption loses no finished run.
type sweepOut struct {
	config *config.Config
	grid   []config.Point
	opt    RunOptions

	mu      sync.Mutex
	results []*engine.Result
	saved   int64
}

// dirOf returns the folder of one run, "" if there is none.
func (s *sweepOut) dirOf(i int) string {
	if s.opt.Dir == "" {
		return ""
	}
	return filepath.Join(s.opt.Dir, fmt.Sprintf("run-%03d", i+1))
}

func (s *sweepOut) add(i int, r *engine.Result) error {
	if r == nil || r.Frames == 0 {
		return nil
	}
	s.mu.Lock()
	s.results[i] = r
	now := s.opt.Clock.Now()
	due := now-s.saved >= int64(time.Second)
	if due {
		s.saved = now
	}
	s.mu.Unlock()
	if due {
		return s.save()
	}
	return nil
}

func (s *sweepOut) report(interrupted bool) *report.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &report.Report{Runs: []*engine.Result{}, Sweep: true, Interrupted: interrupted}
	for _, x := range s.results {
		if x != nil {
			r.Runs = append(r.Runs, x)
		}
	}
	return r
}

func (s *sweepOut) save() error {
	if s.opt.Dir == "" {
		return nil
	}
	return report.WriteSweep(s.opt.Dir, s.config, s.report(false))
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
