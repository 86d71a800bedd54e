package experiment

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"wirelab/experiment/endpoint"
)

// Making is a patch that is being made; virtual time stands still meanwhile.
type Making struct {
	Encoder     string
	Done, Total int64 // bytes of the new file
}

// making is the goroutine in which a live session's patch is made, so that those who
// look can see how, and leave.
type making struct {
	encoder     string
	finished    chan struct{}
	done, total atomic.Int64
	picture     *matrixMaker
	err         error // holds once finished is closed
}

// startMaking packs the session's file, in the background, by an encoding like run.
func (s *Session) startMaking(ctx context.Context, run *endpoint.Encoding, clock Clock) *making {
	m := &making{encoder: run.Codec.Name, finished: make(chan struct{}), picture: newMatrixMaker(s.pair)}
	m.total.Store(int64(len(s.pair.new.Body)))
	w := &Packing{Clock: clock, Watch: m.picture.watch(), Progress: func(_ string, done, _ int64) error {
		m.done.Store(done)
		return ctx.Err()
	}}
	packs, pair, schema := s.packs, s.pair, s.schema
	codec, params := run.Codec, run.Params
	go func() {
		defer close(m.finished)
		defer func() {
			if p := recover(); p != nil {
				m.err = fmt.Errorf("the lab broke: %v\n%s", p, debug.Stack())
			}
		}()
		own, err := endpoint.NewEncoding(schema, codec, params) // the session's is the session's
		if err == nil {
			_, err = packs.of(&own, pair, w)
		}
		m.err = err
	}()
	return m
}

// waits reports whether the session has to wait for a patch, and sees that it is
// made.
func (r *Runner) waits(ctx context.Context) bool {
	if r.making != nil {
		select {
		case <-r.making.finished:
		default:
			return true
		}
		if r.making.err != nil && ctx.Err() == nil {
			r.fail(r.making.err)
		}
		if m := r.making.picture.view(); m.begun() {
			r.matrix = m
		}
		r.making = nil
		late := r.deferred
		r.deferred = nil
		for _, c := range late {
			r.obey(c)
		}
	}
	if r.err != nil || ctx.Err() != nil {
		return false
	}
	if todo := r.session.unpacked(); len(todo) > 0 {
		r.making = r.session.startMaking(ctx, todo[0], r.opt.Clock)
		return true
	}
	return false
}

// postpone keeps a command that the session cannot take while a patch is made, and
// reports whether it did.
func (r *Runner) postpone(c *Command) bool {
	if r.making == nil || c.Change == nil && !c.Undo && c.Step == 0 && c.Seek == nil {
		return false
	}
	if len(r.deferred) == cap(r.commands) {
		r.say(true, "too much waits for the patch already: that is dropped")
		return true
	}
	r.deferred = append(r.deferred, *c)
	r.say(false, "that waits until the patch is made")
	return true
}

// showMaking puts what is made, and what was, into snap.
func (r *Runner) showMaking(snap *Snapshot) {
	snap.Matrix = r.matrix
	if m := r.making; m != nil {
		snap.Making = &Making{Encoder: m.encoder, Done: m.done.Load(), Total: m.total.Load()}
		if picture := m.picture.view(); picture.begun() {
			snap.Matrix = picture
		}
	}
}
