package live

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/panics"
)

// past is a look back: a second run that repeats the current one up to an earlier time, in a goroutine of its own,
// beside the current run. Once it has reached the time, it stands still there.
type past struct {
	id int
	moment
	replaces bool          // the second run becomes the current one, as a seek into the past requires
	begun    time.Duration // wall time
	known    time.Duration // the second run has the changes of the current one up to this virtual time
	cancel   context.CancelFunc
	reached  atomic.Int64  // virtual time
	done     chan struct{} // closed at the end of the goroutine, to which the fields below belong until then
	run      run           // nil after an error
	err      error
	view     *engine.Snapshot // the run at the requested time; nil until the end was handled
}

// moment is what a look back shows.
type moment struct {
	at  time.Duration // this virtual time
	seq uint64        // and a time at which this packet was sent, if it is not 0
}

// Times of a look back.
const (
	pictureTime   = time.Second            // virtual time before the end from which displayed poses are computed
	progressAfter = 100 * time.Millisecond // wall time after which the progress is shown
	pastSlice     = 20 * time.Millisecond  // virtual time between two checks of whether the look back was cancelled
)

// packetsAfter is the number of packets after an old packet that was opened up to which the run is repeated, so that the
// packets on both sides are at hand.
const packetsAfter = frame.MaxHistory / 2

// lookAt begins a look back at m. Another one ends. If the second run of that stands before m, it continues.
func (r *Runner) lookAt(ctx context.Context, m moment, replaces bool) error {
	m.at = min(m.at, r.current.Now())
	p := &past{moment: m, replaces: replaces, begun: r.opt.Clock(), known: r.current.Now(), done: make(chan struct{})}
	begin, err := r.current.repeat(r, m.at)
	if err != nil {
		return err
	}
	if old := r.past; old != nil && old.view != nil && !replaces && m.at <= old.known && old.run.Now() <= m.at {
		x := old.run
		begin = func(context.Context) (run, error) { return x, nil }
		p.known, old.run = old.known, nil
	}
	r.leavePast()
	r.pasts++
	p.id, r.past = r.pasts, p
	ctx, p.cancel = context.WithCancel(ctx)
	go func() {
		defer close(p.done)
		p.err = panics.Call(func() error { return p.repeat(ctx, begin) })
		if p.err != nil && p.run != nil {
			p.err = errors.Join(p.err, p.run.Close())
			p.run = nil
		}
	}()
	return nil
}

// repeat opens the second run, and runs it to the moment. It returns the error of ctx when that ends.
func (p *past) repeat(ctx context.Context, begin func(context.Context) (run, error)) (err error) {
	if p.run, err = begin(ctx); err != nil {
		p.run = nil // an interface that contains a nil pointer is not nil
		return err
	}
	s, isSession := p.run.(*session)
	isReached := func() bool {
		return p.run.Reached(p.at) && (!isSession || p.seq == 0 || s.HasSent(p.seq)) || p.run.Reached(p.known)
	}
	for !isReached() && !p.run.Done() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if isSession && p.run.Now() >= p.at-pictureTime {
			s.ShowPicture()
		}
		to := p.run.Now() + pastSlice
		if p.at > p.run.Now() {
			to = min(to, p.at)
		}
		if err := p.run.RunUntil(to); err != nil {
			return err
		}
		p.reached.Store(int64(p.run.Now()))
	}
	return ctx.Err()
}

// handleLook executes the parts of a command that look back. They are impossible after an error of the experiment.
func (r *Runner) handleLook(ctx context.Context, c *Command) {
	if c.Return {
		r.leavePast()
		r.handleDeferred(ctx)
	}
	if r.err != nil {
		return
	}
	if c.At != nil {
		r.notifyResult("", r.lookAt(ctx, moment{at: max(*c.At, 0)}, false))
	}
	if c.Open != nil {
		r.notifyResult("", r.showPacket(ctx, *c.Open, c.Trace != nil))
	}
	if p := r.past; c.Client > 0 && p != nil && p.view != nil {
		p.view = p.run.view(r)
	}
}

// pastDone returns a channel that is closed when the second run stands at the requested time; nil if none runs.
func (r *Runner) pastDone() <-chan struct{} {
	if r.past == nil || r.past.view != nil {
		return nil
	}
	return r.past.done
}

// finishPast waits for the second run, and shows it or makes it the current one.
func (r *Runner) finishPast(ctx context.Context) {
	p := r.past
	<-p.done
	if p.err != nil {
		r.past = nil
		r.notifyResult("", p.err)
		r.handleDeferred(ctx)
		return
	}
	if !p.replaces {
		p.view = p.run.view(r)
		p.view.State = engine.Paused
		return
	}
	r.past = nil
	at := p.run.Now()
	r.limitSaved(at) // the run may differ from the saved one after that
	r.seekTarget, r.isJump, r.target = noSeek, false, at
	r.notifyResult("at "+clockText(at), r.replace(p.run))
	r.handleDeferred(ctx)
}

// leavePast ends the look back, and waits for its goroutine.
func (r *Runner) leavePast() {
	p := r.past
	if p == nil {
		return
	}
	r.past = nil
	p.cancel()
	<-p.done
	if p.run != nil {
		_ = p.run.Close() // nothing of the second run is kept
	}
}

// shown returns the session whose packets the user sees: the second one if it stands at the requested time, otherwise
// the current one; nil for a crowd.
func (r *Runner) shown() *engine.Session {
	x := r.current
	if r.past != nil && r.past.view != nil {
		x = r.past.run
	}
	if s, ok := x.(*session); ok {
		return s.Session
	}
	return nil
}

// showPacket begins a look back at a packet, unless the session that is shown still stores it, with its bits if they
// are requested.
func (r *Runner) showPacket(ctx context.Context, id packetlog.ID, bits bool) error {
	s, current := r.shown(), r.session()
	if s == nil || !current.HasSent(id.Seq) || !s.Opened(id).Gone && (!bits || s.Trace(id.Seq).Packet != nil) {
		return nil
	}
	last := id.Seq + packetsAfter
	if r.past != nil && r.past.seq == last {
		return nil // the second run is at this packet, or on its way
	}
	return r.lookAt(ctx, moment{min(current.TimeOf(last), current.Now()), last}, false)
}

// addPast adds the look back, and what the user requested to see of packets, to a snapshot of the current run.
func (r *Runner) addPast(snap *engine.Snapshot) {
	p, wall := r.past, r.opt.Clock()
	if p == nil {
		r.viewing.add(snap, r.session(), wall)
		return
	}
	snap.Past = &engine.Past{ID: p.id, Packet: p.seq > 0, To: p.at}
	if p.view == nil {
		r.viewing.add(snap, r.session(), wall)
		if wall-p.begun >= progressAfter {
			snap.Past.Reached = time.Duration(p.reached.Load())
		}
		return
	}
	view := *p.view
	view.Speed, view.Actual, view.Notice, view.Saved, view.Saving = snap.Speed, snap.Actual, snap.Notice, snap.Saved, snap.Saving
	r.viewing.add(&view, r.shown(), wall)
	snap.Past.Snap = &view
}
