package sweep

import (
	"context"
	"time"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/internal/wallclock"
)

// executor runs jobs of one plan in this process.
type executor struct {
	plan  *Plan
	name  string // of the worker
	clock wallclock.Clock
	run   func(ctx context.Context, c *config.Config) (*engine.Result, error) // runs one configuration
	done  func(Outcome)                                                       // called with each result; may be nil
}

// newExecutor returns an executor that runs p's jobs under a worker's name.
func newExecutor(p *Plan, name string, clock wallclock.Clock) *executor {
	packs := delivery.NewPackCache() // shared, so that all runs use the same file patches
	return &executor{plan: p, name: name, clock: clock, run: func(ctx context.Context, c *config.Config) (*engine.Result, error) {
		r, err := experiment.Run(ctx, c, experiment.RunOptions{Clock: clock, Packs: packs})
		if err != nil {
			return nil, err
		}
		return r.Runs[0], nil
	}}
}

// runJob runs the runs of a job one after the other. If ctx ends first, it returns the runs done so far
// and ctx's error. A run that fails ends the job; its message is in the result's Error.
func (x *executor) runJob(ctx context.Context, j job) (jobResult, error) {
	began := x.clock.Now()
	done := jobResult{Key: j.Key, Plan: j.Plan, Version: x.plan.Version, Worker: x.name}
	for _, n := range j.Runs {
		point := x.plan.Run(n)
		result, err := x.run(ctx, point.Config)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			done.Error = x.plan.Config.AtPoint(&point, err).Error()
			break
		}
		result.Set = point.Set
		done.Runs = append(done.Runs, Outcome{n, result})
		if x.done != nil {
			x.done(Outcome{n, result})
		}
	}
	done.Seconds = time.Duration(x.clock.Now() - began).Seconds()
	return done, ctx.Err()
}
