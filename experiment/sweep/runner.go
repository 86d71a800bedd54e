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
}

// newExecutor returns an executor that runs p's jobs under a worker's name.
func newExecutor(p *Plan, name string, clock wallclock.Clock) *executor {
	packs := delivery.NewPackCache() // shared, so that all runs use the same file patches
	return &executor{plan: p, name: name, clock: clock, run: func(ctx context.Context,
		c *config.Config) (*engine.Result, error) {
		r, err := experiment.Run(ctx, c, experiment.RunOptions{Clock: clock, Packs: packs})
		if err != nil {
			return nil, err
		}
		return r.Runs[0], nil
	}}
}

// batchTime is the wall time after which the results of a job are sent or stored although the job
// continues, so that little is lost if the process is killed.
const batchTime = 2 * time.Second

// runJob runs the runs of a job one after the other, and calls add with batches of their results until
// all have been added, add fails or ctx ends. The last batch has the runs done so far if ctx ends, and
// an error if a run fails, which ends the job.
func (x *executor) runJob(ctx context.Context, runs []int, add func(batch) error) error {
	for first := true; first || len(runs) > 0 && ctx.Err() == nil; first = false {
		b := x.runBatch(ctx, runs)
		err := add(b)
		if err != nil || b.Error != "" {
			return err
		}
		runs = runs[len(b.Runs):]
	}
	return nil
}

// runBatch runs the first of runs, until batchTime has passed, a run fails or ctx ends.
func (x *executor) runBatch(ctx context.Context, runs []int) batch {
	b := batch{Worker: x.name}
	for began := x.clock.Now(); len(b.Runs) < len(runs) && x.clock.Now()-began < int64(batchTime); {
		n := runs[len(b.Runs)]
		point := x.plan.Run(n)
		result, err := x.run(ctx, point.Config)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			b.Error = x.plan.Config.AtPoint(&point, err).Error()
			break
		}
		result.Set = point.Set
		b.Runs = append(b.Runs, Outcome{n, result})
	}
	return b
}
