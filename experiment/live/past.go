package live

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
)

// past is a look back: a job with a second run that repeats the current one up to an earlier time. Once
// that has reached the time, it stands still there.
type past struct {
	*job
	id int
	moment
	replaces bool          // the second run becomes the current one, as a seek into the past requires
	begun    time.Duration // wall time
	known    time.Duration // the second run has the changes of the current one up to this virtual time
	cancel   context.CancelFunc
	reached  atomic.Int64     // virtual time
	run      run              // belongs to the job until that is finished; nil after an error
	view     *engine.Snapshot // the run at the requested time; nil until the end was handled
}

// moment is what a look back shows.
type moment struct {
	at     time.Duration // this virtual time
	sent   uint64        // and a time at which this number of packets was sent; 0 for any
	client int           // of a crowd, which is repeated; 0 if none
}

// Times of a look back.
const (
	progressAfter = 100 * time.Millisecond // wall time after which the progress is shown
	pastSlice     = 20 * time.Millisecond  // between two checks of whether the look back was cancelled
)

// packetsAfter is the number of packets after an old packet that was opened that the second run sends after
// the moment that is shown, so that the outcome of the packet and the packets on both sides are at hand.
const packetsAfter = frame.MaxHistory / 2

// lookAt begins a look back at m. Another one ends. If the second run of that stands before m, it continues.
func (r *Runner) lookAt(ctx context.Context, m moment, replaces bool) error {
	m.at = min(m.at, r.current.Now())
	if x, isCrowd := r.current.(*receivers); isCrowd {
		m.client = cmp.Or(r.client, x.client.number)
	}
	p := &past{moment: m, replaces: replaces, begun: r.opt.Clock(), known: r.current.Now()}
	begin, err := r.current.repeat(r, m.at)
	if err != nil {
		return err
	}
	canContinue := func(old *past) bool {
		s := sessionOf(old.run)
		isAhead := old.run.Now() > m.at || s != nil && s.Now() > m.at
		return !isAhead && m.at <= old.known
	}
	if old := r.past; old != nil && old.view != nil && !replaces && canContinue(old) {
		x := old.run
		begin = func(context.Context) (run, error) { return x, nil }
		p.known = old.known
		old.run = nil
	}
	r.leavePast()
	r.pasts++
	p.id = r.pasts
	r.past = p
	ctx, p.cancel = context.WithCancel(ctx)
	p.job = startJob(func() error {
		x, err := begin(ctx)
		if err != nil {
			return err
		}
		if err := p.repeat(ctx, x); err != nil {
			return errors.Join(err, x.Close())
		}
		p.run = x
		return nil
	})
	return nil
}

// repeat runs the second run to the moment. It returns the error of ctx if that ends before.
func (p *past) repeat(ctx context.Context, x run) error {
	if crowd, isCrowd := x.(*receivers); isCrowd {
		if err := crowd.followNow(ctx, p.client); err != nil {
			return err
		}
	}
	s := sessionOf(x)
	isReached := func() bool {
		return x.Reached(p.at) && (p.sent == 0 || s.HasSent(p.sent-1)) || x.Reached(p.known)
	}
	for !isReached() && !x.Done() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		to := x.Now() + pastSlice
		if p.at > x.Now() {
			to = min(to, p.at)
		}
		if err := x.RunUntil(to); err != nil {
			return err
		}
		p.reached.Store(int64(x.Now()))
	}
	return nil
}

// handleLook executes the parts of a command that look back. They are impossible after an error of the
// experiment.
func (r *Runner) handleLook(ctx context.Context, c *Command) {
	if c.Return {
		r.leavePast()
		r.handleDeferred(ctx)
	}
	if c.At != nil {
		r.notifyResult("", r.lookAt(ctx, moment{at: max(*c.At, 0)}, false))
	}
	if c.Open != nil {
		r.notifyResult("", r.showPacket(ctx, *c.Open, c.Trace != nil))
	}
	if p := r.past; c.Client > 0 && p != nil && !p.replaces {
		r.notifyResult("", r.lookAt(ctx, p.moment, false))
	}
}

// pastDone returns a channel that is closed when the second run stands at the requested time; nil if
// none runs.
func (r *Runner) pastDone() <-chan struct{} {
	if r.past == nil || r.past.view != nil {
		return nil
	}
	return r.past.finished
}

// finishPast waits until the second run has reached the requested time. If the run replaces the current
// one, it becomes the current run, the look back ends and deferred commands are executed; otherwise it
// is shown, paused. After an error the look back ends too.
func (r *Runner) finishPast(ctx context.Context) {
	p := r.past
	<-p.finished
	if p.err != nil {
		r.past = nil
		r.notifyJob("", p.err)
		r.handleDeferred(ctx)
		return
	}
	if !p.replaces {
		p.view = p.run.view(r)
		p.view.State = engine.Paused
		if p.sent > 0 {
			r.notifyResult("", p.runOn())
		}
		return
	}
	r.past = nil
	now := p.run.Now()
	r.limitSaved(now)
	r.seekTarget = noSeek
	r.isJump = false
	r.target = now // pacing continues from here
	err := r.replace(p.run)
	r.notifyResult("at "+clockText(now), err)
	r.handleDeferred(ctx)
}

// runOn runs the session of an opened packet until it has sent packetsAfter more packets. They are not shown.
func (p *past) runOn() error {
	s := sessionOf(p.run)
	if s != nil {
		p.view.Priorities = s.Priorities()
	}
	for s != nil && !s.HasSent(p.sent-1+packetsAfter) && !s.Reached(p.known) && !s.Done() {
		if err := s.RunUntil(min(s.Now()+pastSlice, p.known)); err != nil {
			return err
		}
	}
	return nil
}

// leavePast ends the look back, and waits for its goroutine.
func (r *Runner) leavePast() {
	p := r.past
	if p == nil {
		return
	}
	r.past = nil
	p.cancel()
	<-p.finished
	if p.run != nil {
		_ = p.run.Close() // nothing of the second run is kept
	}
}

// shown returns the session whose packets the user sees: the second one if it stands at the requested
// time, otherwise the current one; nil for a crowd.
func (r *Runner) shown() *engine.Session {
	x := r.current
	if r.past != nil && r.past.view != nil {
		x = r.past.run
	}
	return sessionOf(x)
}

// showPacket begins a look back at a packet, unless the session that is shown still stores it, with its
// bits if they are requested. In a look back at another packet it must also be near that one.
func (r *Runner) showPacket(ctx context.Context, id packetlog.ID, bits bool) error {
	s := r.shown()
	current := r.session()
	isStored := func() bool { return !s.Opened(id).Gone && (!bits || s.Trace(id.Seq).Packet != nil) }
	sent := id.Seq + 1
	isNear := func() bool {
		p := r.past
		return p == nil || p.sent == 0 || max(sent, p.sent)-min(sent, p.sent) <= packetsAfter
	}
	if s == nil || current == nil || !current.HasSent(id.Seq) || isNear() && isStored() {
		return nil
	}
	if r.past != nil && r.past.sent == sent {
		return nil // the second run is at this packet, or on its way
	}
	return r.lookAt(ctx, moment{at: current.TimeOf(id.Seq), sent: sent}, false)
}

// addPast adds the look back, and what the user requested to see of packets, to a snapshot of the
// current run.
func (r *Runner) addPast(snap *engine.Snapshot) {
	p := r.past
	wall := r.opt.Clock()
	shown := snap
	if p != nil {
		snap.Past = &engine.Past{ID: p.id, Packet: p.sent > 0, To: p.at}
	}
	switch {
	case p == nil:
	case p.view != nil:
		view := *p.view
		view.Speed = snap.Speed
		view.Actual = snap.Actual
		view.Notice = snap.Notice
		view.Saved = snap.Saved
		view.Saving = snap.Saving
		shown = &view
		snap.Past.Snap = &view
		if view.Crowd != nil { // its client gets details of packets below
			crowd := *view.Crowd
			view.Crowd = &crowd
		}
	case wall-p.begun >= progressAfter:
		snap.Past.Reached = time.Duration(p.reached.Load())
	}
	if crowd := shown.Crowd; crowd != nil && crowd.Client != nil {
		client := *crowd.Client
		crowd.Client = &client
		shown = &client
	}
	r.viewing.add(shown, r.shown(), wall)
}
