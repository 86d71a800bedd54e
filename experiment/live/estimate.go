package live

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/wallclock"
)

// estimateRest is how much longer than it works the estimation of encoders rests: it takes a quarter of the time of
// a processor.
const estimateRest = 3

// estimation estimates encoders on the frames that were the newest when it began.
type estimation struct {
	*job
	list   []config.Encoder
	frames *engine.RecentFrames // nil if nothing can be estimated
	done   atomic.Pointer[engine.Estimates]
	cancel context.CancelFunc
}

// estimate estimates the encoders of list instead of those of the estimation before. An estimation that follows another
// one takes the same frames; an empty list ends that.
func (r *Runner) estimate(ctx context.Context, list []config.Encoder) {
	before := r.estimation
	ctx, cancel := context.WithCancel(ctx)
	e := &estimation{list: list, cancel: cancel}
	done := &engine.Estimates{}
	switch s := r.session(); {
	case before != nil && len(before.list) > 0:
		e.frames = before.frames
		done = before.done.Load()
	case s == nil:
		done.Err = errors.New("no client of this crowd is repeated, so the encoders are not estimated")
	default:
		e.frames, done.Err = s.RecentFrames()
	}
	if e.frames != nil {
		done.From = e.frames.From
		done.Until = e.frames.Until
	}
	e.done.Store(done)
	e.job = startJob(func() error {
		if before != nil {
			before.cancel()
			<-before.finished
		}
		return e.run(ctx, r.opt.Clock)
	})
	r.estimation = e
}

// run estimates the encoders that are not estimated yet.
func (e *estimation) run(ctx context.Context, clock wallclock.Clock) error {
	for _, x := range e.list {
		done := *e.done.Load()
		if e.frames == nil || done.Of(x) != nil {
			continue
		}
		worked := clock()
		rest := func() error {
			select {
			case <-ctx.Done():
			case <-time.After(estimateRest * (clock() - worked)):
			}
			worked = clock()
			return ctx.Err()
		}
		estimate := e.frames.Estimate(x, clock, rest)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		done.List = append(slices.Clip(done.List), estimate) // snapshots share the old list
		e.done.Store(&done)
	}
	return nil
}

// endEstimation ends the estimation of encoders, and waits for its goroutine.
func (r *Runner) endEstimation() {
	if r.estimation != nil {
		r.estimation.cancel()
		<-r.estimation.finished
	}
}

// addEstimates adds the estimates that were requested to a snapshot.
func (r *Runner) addEstimates(snap *engine.Snapshot) {
	if e := r.estimation; e != nil && len(e.list) > 0 {
		snap.Estimates = e.done.Load()
	}
}
