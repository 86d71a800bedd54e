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

// executor runs jobs in this process.
type executor struct {
	plan  *Plan
	name  string // of the worker
	clock wallclock.Clock
	run   func(ctx context.Context, c *config.Config) (*engine.Result, error)
}

func newExecutor(p *Plan, name string, clock wallclock.Clock) *executor {
	packs := delivery.NewPackCache() // patches are made once, for all runs
	return &executor{p, name, clock, func(ctx context.Context, c *config.Config) (*engine.Result, error) {
		r, err := experiment.Run(ctx, c, experiment.RunOptions{Clock: clock, Packs: packs})
		if err != nil {
			return nil, err
		}
		return r.Runs[0], nil
	}}
}

// do runs a job. When ctx ends it returns the runs that were finished, and ctx's error. A
// run that fails ends the job; what it says is in Error.
func (x *executor) do(ctx context.Context, j job) (jobResult, error) {
	began := x.clock.Now()
	d := jobResult{Key: j.Key, Plan: j.Plan, Version: x.plan.Version, Worker: x.name}
	for _, n := range j.Runs {
		point := x.plan.Run(n)
		result, err := x.run(ctx, point.Config)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			d.Error = x.plan.Config.AtPoint(&point, err).Error()
			break
		}
		result.Set = point.Set
		d.Runs = append(d.Runs, Outcome{n, result})
	}
	d.Seconds = time.Duration(x.clock.Now() - began).Seconds()
	return d, ctx.Err()
}
