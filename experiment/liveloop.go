package experiment

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/report"
	"wirelab/internal/panics"
)

// liveLoop is what Runner and CrowdRunner share: the goroutine of the experiment with its queue of commands, its
// snapshots and its pacing.
type liveLoop struct {
	opt      RunnerOptions
	commands chan Command
	snapshot atomic.Pointer[engine.Snapshot]
	done     chan struct{}
	cancel   context.CancelFunc
	stopOnce sync.Once
	started  bool // Start or Stop was called

	driver driver

	// The fields below belong to the goroutine of the experiment until done is closed.
	pacing
	reports
	notice   engine.Notice
	err      error // the error that stopped the experiment; nil if none
	panicked bool  // the experiment panicked, so its state is not used any more
}

// driver is what differs between the loops of a session and a crowd. Its methods are called in the goroutine of the
// experiment.
type driver interface {
	experiment() paced                            // the session or crowd that is run at present
	handleCommand(ctx context.Context, c Command) // executes a command
	advance(ctx context.Context)                  // advances virtual time to that of the wall clock, for about maxSlice
	publish()                                     // publishes a snapshot
}

// newLiveLoop returns a loop at normal speed, without a driver.
func newLiveLoop(opt RunnerOptions) liveLoop {
	if opt.Clock == nil {
		panic("experiment: a Runner needs a Clock")
	}
	opt.Clock = opt.Clock.Steady()
	return liveLoop{opt: opt, commands: make(chan Command, 64), done: make(chan struct{}), reports: reports{files: &report.Files{}},
		pacing: pacing{speed: 1, seekTarget: noSeek}}
}

// Start runs the experiment in its own goroutine until ctx ends or Stop is called, and returns immediately. It
// panics if it is called twice or after Stop.
func (l *liveLoop) Start(ctx context.Context) {
	if l.started {
		panic("experiment: a Runner starts once")
	}
	l.started = true
	ctx, l.cancel = context.WithCancel(ctx)
	go l.loop(ctx)
}

// Stop ends the experiment, waits for its goroutine and closes the source. Save may be called after Stop.
// Further calls of Stop have no effect.
func (l *liveLoop) Stop() {
	l.stopOnce.Do(func() {
		if l.cancel != nil {
			l.cancel() // the goroutine calls close
			return
		}
		l.started = true // Start was never called and panics from now on
		l.close()
	})
	<-l.done
}

// close waits for a report that is being written, closes the source, and closes done. The measurements stay available.
func (l *liveLoop) close() {
	defer close(l.done)
	l.finishSave()
	if err := panics.Call(l.driver.experiment().Close); err != nil && l.err == nil {
		l.err = err
	}
}

// Snapshot returns the newest snapshot of the experiment; it is never nil.
func (l *liveLoop) Snapshot() *engine.Snapshot { return l.snapshot.Load() }

// Do queues a command and returns immediately. It returns false if the queue is full or the experiment has
// been stopped.
func (l *liveLoop) Do(c Command) bool {
	select {
	case <-l.done:
		return false
	default:
	}
	select {
	case l.commands <- c:
		return true
	default:
		return false
	}
}

// loop runs the experiment until ctx ends. If the experiment panics, it publishes the panic as an error.
func (l *liveLoop) loop(ctx context.Context) {
	defer l.close()
	err := panics.Call(func() error { l.run(ctx); return nil })
	if err != nil {
		l.panicked = true
		l.err = fmt.Errorf("internal error: %w", err)
		// The last published snapshot is used, because the state of the experiment may be inconsistent.
		snap := *l.snapshot.Load()
		snap.State, snap.Err = engine.Broken, l.err
		l.snapshot.Store(&snap)
	}
}

// run advances the experiment with the wall clock and executes commands until ctx ends. It publishes a snapshot every
// publishEvery, and immediately after a command or a finished save.
func (l *liveLoop) run(ctx context.Context) {
	interval := tickInterval
	if l.opt.Remote != nil {
		interval = remoteTickInterval
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	l.lastTick = l.opt.Clock()
	published := time.Duration(0)
	for {
		publishNow := true
		select {
		case <-ctx.Done():
			l.finishSave()
			l.driver.publish()
			return
		case c := <-l.commands:
			l.driver.handleCommand(ctx, c)
		case <-l.saveDone():
			l.finishSave()
		case <-tick.C:
			publishNow = false
		}
		l.driver.advance(ctx)
		if now := l.opt.Clock(); publishNow || now-published >= publishEvery {
			published = now
			l.driver.publish()
		}
	}
}

// advancePaced runs the experiment until virtual time has caught up with the wall clock, for at most maxSlice of wall
// time. During a seek, and at speed 0, it runs for maxSlice without pacing. It first calls receive with the virtual time to
// reach, the present if virtual time stands still. It notifies the user of a reached seek.
func (l *liveLoop) advancePaced(receive func(to time.Duration)) {
	x, wall := l.driver.experiment(), l.opt.Clock()
	elapsed := min(wall-l.lastTick, maxElapsed)
	l.lastTick = wall
	l.endSeek(x)
	if l.standsStill(x) {
		receive(x.Now())
		l.measuredSpeed.reset()
		return
	}
	l.setTarget(x.Now(), elapsed, l.maxBacklog())
	receive(l.target)
	if err := l.runToTarget(x, wall); err != nil {
		l.fail(err)
		return
	}
	l.recordSpeed(x, wall)
}

// checkSeek returns an error if a seek from virtual time now to t is out of range.
func checkSeek(now, t time.Duration) error {
	if t < 0 || t > now+maxSeek {
		return fmt.Errorf("seek to %v is out of range; expected 0 to %v ahead", t, maxSeek)
	}
	return nil
}

// fail stops the experiment with an error.
func (l *liveLoop) fail(err error) {
	l.err, l.paused = err, true
	l.notify(true, err.Error())
}

// notify shows a message to the user. bad means that it reports a problem.
func (l *liveLoop) notify(bad bool, text string) {
	l.notice = engine.Notice{ID: l.notice.ID + 1, Text: text, Bad: bad}
}

// notifyResult shows err or, if err is nil, the message ok unless it is empty.
func (l *liveLoop) notifyResult(ok string, err error) {
	if err != nil {
		l.notify(true, err.Error())
	} else if ok != "" {
		l.notify(false, ok)
	}
}

// handlePacing executes the parts of a command that pause, continue or set the speed.
func (l *liveLoop) handlePacing(c *Command) {
	if c.Pause != nil {
		l.paused = *c.Pause
	}
	if c.Toggle {
		l.paused = !l.paused
	}
	if c.Speed != nil {
		l.setSpeed(*c.Speed)
	}
}

// maxStep is the maximum number of frames that one command advances.
const maxStep = 10_000

// step pauses x, and makes it advance by the given number of frames, at least 1.
func (l *liveLoop) step(x paced, frames int) {
	l.paused = true
	// FrameAt counts from 0, so the last of n frames has the index n-1.
	l.seekTarget = x.FrameAt(min(frames, maxStep) - 1)
}

// setSpeed sets the speed as a multiple of real time; 0 means as fast as possible.
func (l *liveLoop) setSpeed(v float64) {
	if v != 0 && !(v >= MinSpeed && v <= MaxSpeed) { // also true if v is not a number
		l.notify(true, fmt.Sprintf("speed %g is out of range; expected %g to %g, or max", v, MinSpeed, float64(MaxSpeed)))
		return
	}
	l.speed = v
}

// endSeek ends the pending seek of x if its target is reached. A Command.Seek then shows a notice.
func (l *liveLoop) endSeek(x paced) {
	if l.seekTarget == noSeek || !x.Reached(l.seekTarget) {
		return
	}
	if l.isJump {
		l.notify(false, "at "+clockText(x.Now()))
	}
	l.seekTarget, l.isJump = noSeek, false
}

// standsStill reports whether virtual time does not advance.
func (l *liveLoop) standsStill(x paced) bool {
	return l.err != nil || x.Done() || l.paused && l.seekTarget == noSeek
}

// runToTarget runs x to l.target, for at most maxSlice after wall. The error is that of x.
func (l *liveLoop) runToTarget(x paced, wall time.Duration) error {
	for step := 0; step < maxSteps && !x.Reached(l.target) && !x.Done() && l.opt.Clock()-wall < maxSlice; step++ {
		to := min(l.target, x.Now()+20*time.Millisecond) // short steps, so that maxSlice is respected
		if err := x.RunUntil(to); err != nil {
			return err
		}
	}
	return nil
}

// recordSpeed measures the speed of x at wall. A seek is not paced, so its speed is not measured.
func (l *liveLoop) recordSpeed(x paced, wall time.Duration) {
	l.measuredSpeed.record(wall, x.Now())
	if l.seekTarget != noSeek {
		l.measuredSpeed.reset()
	}
}

// store publishes snap with the state of the loop. done means that the data have ended. snap.State is engine.Running
// unless one of the cases below applies.
func (l *liveLoop) store(snap *engine.Snapshot, done bool) {
	snap.Speed, snap.Actual, snap.Notice, snap.Err = l.speed, l.measuredSpeed.factor, l.notice, l.err
	snap.Saved, snap.Saving = l.saved, l.pendingSave != nil
	switch {
	case l.err != nil:
		snap.State = engine.Broken
	case l.isJump:
		snap.State, snap.Seek = engine.Seeking, l.seekTarget
	case done:
		snap.State = engine.Ended
	case l.paused:
		snap.State = engine.Paused
	}
	l.snapshot.Store(snap)
}
