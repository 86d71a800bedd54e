package live

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/internal/panics"
	"wirelab/internal/wallclock"
)

// packing is a runner's state for making patches. A patch is a packed file.
type packing struct {
	packs            *delivery.PackCache
	job              *packJob  // makes the patch that the session waits for; nil if none
	deferredCommands []Command // commands to execute after the patch is made
}

// pollPatch reports whether the session must wait for a patch. If the session needs a patch and none is being
// made, it starts to make one in another goroutine. When a patch is finished, it executes the commands that were
// deferred meanwhile.
func (r *Runner) pollPatch(ctx context.Context) bool {
	if r.job != nil {
		select {
		case <-r.job.finished:
		default:
			return true // still being made
		}
		if r.job.err != nil && ctx.Err() == nil { // the end of ctx cancels the job, which is not an error
			r.fail(r.job.err)
		}
		r.job = nil
		r.handleDeferred(ctx)
	}
	s := r.session()
	if s == nil || r.err != nil || ctx.Err() != nil {
		return false
	}
	todo := s.PacksNeeded()
	if len(todo) > 0 {
		r.job = startPackJob(ctx, s, todo[0], r.opt.Clock)
	}
	return len(todo) > 0
}

// handleDeferred executes the commands that were deferred.
func (r *Runner) handleDeferred(ctx context.Context) {
	commands := r.deferredCommands
	r.deferredCommands = nil
	for _, c := range commands {
		r.handleCommand(ctx, c)
	}
}

// deferCommand defers a command that changes the session while a patch is being made, or while a seek into the past
// repeats the run. It returns true if the caller must not execute the command: it was deferred, or dropped because the queue is full.
func (r *Runner) deferCommand(c *Command) bool {
	isBusy := r.job != nil || r.past != nil && r.past.replaces
	if !isBusy || c.Change == nil && !c.Undo && !c.Redo && c.Step == 0 && c.Seek == nil {
		return false
	}
	if len(r.deferredCommands) == cap(r.commands) { // as many as the queue of commands can hold
		r.notify(true, "command dropped: too many commands are already waiting")
		return true
	}
	r.deferredCommands = append(r.deferredCommands, *c)
	r.notify(false, "waiting until the patch is made or the run is repeated")
	return true
}

// addPatchProgress adds the progress of the current patch to snap.
func (r *Runner) addPatchProgress(snap *engine.Snapshot) {
	if job := r.job; job != nil {
		snap.Patch = &delivery.PatchProgress{Encoder: job.encoder, Done: job.done.Load(), Total: job.total.Load()}
	}
}

// packJob makes a patch in its own goroutine. Meanwhile the dashboard shows the progress, and the user
// can quit.
type packJob struct {
	encoder     string        // name of the codec
	finished    chan struct{} // closed at the end
	done, total atomic.Int64  // bytes of the new file
	err         error         // valid once finished is closed
}

// startPackJob starts packing the file of session s with the codec and the parameters of encoding, in another
// goroutine. The job is cancelled when ctx ends.
func startPackJob(ctx context.Context, s *engine.Session, encoding *endpoint.Encoding, clock wallclock.Clock) *packJob {
	job := &packJob{encoder: encoding.Codec.Name, finished: make(chan struct{})}
	job.total.Store(s.NewFileSize())
	pack := s.PackJob(encoding, &delivery.Packing{Clock: clock, Progress: func(_ string, done, _ int64) error {
		job.done.Store(done)
		return ctx.Err()
	}})
	go func() {
		defer close(job.finished)
		job.err = panics.Call(pack)
		if errors.As(job.err, new(*panics.Error)) {
			job.err = fmt.Errorf("internal error: %w", job.err)
		}
	}()
	return job
}
