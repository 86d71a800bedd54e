package experiment

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// MaxSweep bounds how many runs one configuration may ask for.
const MaxSweep = 10_000

// point is one run of a sweep: the configuration with one value of each axis.
type point struct {
	config *Config
	set    map[string]string
}

// points lists the grid in the order of a nested loop, the first axis outermost.
func (c *Config) points() ([]point, error) {
	total := 1
	for _, axis := range c.Sweep {
		if total *= len(axis.Values); total > MaxSweep {
			return nil, &ConfigError{Key: "sweep", Problem: "more runs than anyone can wait for", Expected: fmt.Sprintf("at most %d points in the grid", MaxSweep)}
		}
	}
	base := c.Clone()
	base.Sweep = nil
	grid := []point{{config: base, set: map[string]string{}}}
	for _, axis := range c.Sweep {
		var next []point
		for _, p := range grid {
			for _, v := range axis.Values {
				q := point{config: p.config.Clone(), set: map[string]string{axis.Key: fmt.Sprint(v)}}
				for k, old := range p.set {
					q.set[k] = old
				}
				if err := q.config.Set(axis.Key, v); err != nil {
					return nil, configError("sweep", err)
				}
				next = append(next, q)
			}
		}
		grid = next
	}
	for _, p := range grid {
		if err := p.config.Validate(); err != nil {
			return nil, configError("sweep", err)
		}
	}
	return grid, nil
}

// sweep runs the grid side by side. Each run is as deterministic as if it were
// alone, and the report lists them in the order of the grid.
func sweep(ctx context.Context, c *Config, opt RunOptions) (*Report, error) {
	grid, err := c.points()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	progress := newSweepProgress(len(grid), opt.Progress)
	results, errs := make([]*Result, len(grid)), make([]error, len(grid))
	work := make(chan int)
	var wg sync.WaitGroup
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range min(workers, len(grid)) {
		wg.Go(func() {
			for i := range work {
				o := opt
				o.Progress = func(done, total float64) { progress.note(i, done, total) }
				if results[i], errs[i] = runOne(ctx, grid[i].config, o, nil); errs[i] != nil {
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
		return nil, err
	}
	return gather(ctx, grid, results, opt)
}

// gather puts the runs that were made into one report and saves it.
func gather(ctx context.Context, grid []point, results []*Result, opt RunOptions) (*Report, error) {
	report := &Report{Sweep: true, Interrupted: ctx.Err() != nil}
	for i, r := range results {
		if r != nil {
			r.Set = grid[i].set
			report.Runs = append(report.Runs, r)
		}
	}
	if opt.Dir == "" {
		return report, nil
	}
	return report, writeSweep(opt.Dir, report)
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
