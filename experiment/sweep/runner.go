package sweep

import (
	"context"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/internal/wallclock"
)

// executor runs jobs of one plan in this process.
type executor struct {
	plan *Plan
	name string                                                              // of the worker
	run  func(ctx context.Context, c *config.Config) (*engine.Result, error) // runs one configuration
	done func(Outcome)                                                       // called with each result; may be nil
}

// newExecutor returns an executor that runs p's jobs under a worker's name.
func newExecutor(p *Plan, name string, clock wallclock.Clock) *executor {
	packs := delivery.NewPackCache() // shared, so that all runs use the same file patches
	return &executor{plan: p, name: name, run: func(ctx context.Context, c *config.Config) (*engine.Result, error) {
		r, err := experiment.Run(ctx, c, experiment.RunOptions{Clock: clock, Packs: packs})
		if err != nil {
			return nil, err
		}
		return r.Runs[0], nil
	}}
}

// runJob runs the runs of a job one after the other. If ctx ends, it returns the runs done so far. A run that fails ends
// the job; its message is in the batch's Error.
func (x *executor) runJob(ctx context.Context, runs []int) batch {
	b := batch{Worker: x.name}
	for _, n := range runs {
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
		if x.done != nil {
			x.done(Outcome{n, result})
		}
	}
	return b
}
