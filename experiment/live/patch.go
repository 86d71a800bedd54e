package live

import (
	"context"
	"sync/atomic"

	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/internal/wallclock"
)

// packing is a runner's state for making patches. A patch is a packed file.
type packing struct {
	packs            *delivery.PackCache
	patch            *packJob  // makes the patch that the session waits for; nil if none
	deferredCommands []Command // commands to execute after the patch is made
}

// pollPatch reports whether the session must wait for a patch. If the session needs a patch and none is
// being made, it starts to make one in another goroutine. When a patch is finished, it executes the
// commands that were deferred meanwhile.
func (r *Runner) pollPatch(ctx context.Context) bool {
	if r.patch != nil {
		select {
		case <-r.patch.finished:
		default:
			return true // still being made
		}
		if r.patch.err != nil && ctx.Err() == nil { // the end of ctx cancels the job, which is not an error
			r.fail(r.patch.err)
		}
		r.patch = nil
		r.handleDeferred(ctx)
	}
	s := r.session()
	if s == nil || r.err != nil || ctx.Err() != nil {
		return false
	}
	todo := s.PacksNeeded()
	if len(todo) > 0 {
		r.patch = startPackJob(ctx, s, todo[0], r.opt.Clock)
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

// deferCommand defers a command that changes the session while a patch is being made, or while a seek
// into the past repeats the run. It returns true if the caller must not execute the command: it was
// deferred, or dropped because the queue is full.
func (r *Runner) deferCommand(c *Command) bool {
	isBusy := r.patch != nil || r.past != nil && r.past.replaces
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
	if p := r.patch; p != nil {
		snap.Patch = &delivery.PatchProgress{Encoder: p.encoder, Done: p.done.Load(), Total: p.total.Load()}
	}
}

// packJob makes a patch. Meanwhile the dashboard shows the progress, and the user can quit.
type packJob struct {
	*job
	encoder     string       // name of the codec
	done, total atomic.Int64 // bytes of the new file
}

// startPackJob starts packing the file of session s with the codec and the parameters of encoding. The
// job is cancelled when ctx ends.
func startPackJob(ctx context.Context, s *engine.Session, encoding *endpoint.Encoding, clock wallclock.Clock) *packJob {
	p := &packJob{encoder: encoding.Codec.Name}
	p.total.Store(s.NewFileSize())
	p.job = startJob(s.PackJob(encoding, &delivery.Packing{Clock: clock, Progress: func(_ string, done, _ int64) error {
		p.done.Store(done)
		return ctx.Err()
	}}))
	return p
}
