package experiment

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

// packing is the state of the patches that a runner makes.
type packing struct {
	packs    *delivery.PackCache
	making   *making          // the patch that the session waits for; nil if none
	matrix   *delivery.Matrix // of the newest patch
	deferred []Command        // commands that change the session and arrived while a patch was made
}

// pollPatch reports whether the session must wait for a patch. It starts making the next patch that the
// session needs. When a patch is finished, it carries out the commands that were deferred meanwhile.
func (r *Runner) pollPatch(ctx context.Context) bool {
	if r.making != nil {
		select {
		case <-r.making.finished:
		default:
			return true
		}
		if r.making.err != nil && ctx.Err() == nil {
			r.fail(r.making.err)
		}
		if m := r.making.picture.View(); m.HasContent() {
			r.matrix = m
		}
		r.making = nil
		late := r.deferred
		r.deferred = nil
		for _, c := range late {
			r.handleCommand(ctx, c)
		}
	}
	if r.err != nil || ctx.Err() != nil {
		return false
	}
	if todo := r.session.PacksNeeded(); len(todo) > 0 {
		r.making = startMaking(ctx, r.session, todo[0], r.opt.Clock)
		return true
	}
	return false
}

// postpone defers a command that changes the session while a patch is made. It reports whether the
// command was deferred, or dropped because too many are.
func (r *Runner) postpone(c *Command) bool {
	if r.making == nil || c.Change == nil && !c.Undo && !c.Redo && c.Step == 0 && c.Seek == nil {
		return false
	}
	if len(r.deferred) == cap(r.commands) {
		r.notify(true, "too much waits for the patch already: that is dropped")
		return true
	}
	r.deferred = append(r.deferred, *c)
	r.notify(false, "that waits until the patch is made")
	return true
}

// showMaking adds the patch in the making to snap, and the newest matrix.
func (r *Runner) showMaking(snap *engine.Snapshot) {
	snap.Matrix = r.matrix
	if m := r.making; m != nil {
		snap.Making = &delivery.Making{Encoder: m.encoder, Done: m.done.Load(), Total: m.total.Load()}
		if picture := m.picture.View(); picture.HasContent() {
			snap.Matrix = picture
		}
	}
}

// making is the goroutine in which a live session's patch is made. Meanwhile the dashboard shows
// its progress, and can be left.
type making struct {
	encoder     string
	finished    chan struct{}
	done, total atomic.Int64
	picture     *delivery.MatrixMaker
	err         error // valid once finished is closed
}

// startMaking packs the session's file in the background, by an encoding like run.
func startMaking(ctx context.Context, s *engine.Session, run *endpoint.Encoding, clock wallclock.Clock) *making {
	oldSize, newSize := s.FileSizes()
	m := &making{encoder: run.Codec.Name, finished: make(chan struct{}), picture: delivery.NewMatrixMaker(oldSize, newSize)}
	m.total.Store(newSize)
	pack := s.PackJob(run, &delivery.Packing{Clock: clock, Watch: m.picture.Watch(), Progress: func(_ string, done, _ int64) error {
		m.done.Store(done)
		return ctx.Err()
	}})
	go func() {
		defer close(m.finished)
		m.err = panics.Call(pack)
		if errors.As(m.err, new(*panics.Error)) {
			m.err = fmt.Errorf("the lab broke: %w", m.err)
		}
	}()
	return m
}
