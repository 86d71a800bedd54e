package experiment

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/remote"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/panics"
	"wirelab/internal/wallclock"
)

// Number of stored samples and packets per lane of a live session: five minutes at 60 packets a
// second. A snapshot contains fewer packets, as many as a screen can show.
const (
	liveSamples = 3000
	livePackets = 300 * 60
)

// RunnerOptions configure a Runner.
type RunnerOptions struct {
	Clock   wallclock.Clock  // monotonic wall clock that paces the session; required
	Reports string           // folder in which saving creates a folder for each report; empty if none
	Stamp   func() string    // returns the first part of that folder's name, for example the date; nil means none
	Disk    *atomicfile.Disk // file system of Reports; nil means the operating system's
	Remote  *remote.Link     // link to a remote receiver; nil means a receiver in this process
}

// Runner runs one session at the pace of the wall clock, for the dashboard. It owns the session's
// goroutine. Other goroutines read immutable snapshots through an atomic pointer, and send commands
// through a bounded queue, so neither side waits for the other. If the engine cannot keep up, virtual
// time slows down. If the screen is slow, it misses snapshots, but the session still handles every
// packet.
type Runner struct {
	opt      RunnerOptions
	commands chan Command
	snapshot atomic.Pointer[engine.Snapshot]
	done     chan struct{}
	cancel   context.CancelFunc
	stopOnce sync.Once
	started  bool // Start or Stop was called

	// The fields below belong to the session's goroutine until done is closed. The embedded structs hold the
	// state of pacing, of making patches and of saving reports.
	session *engine.Session
	config  *config.Config // with which the session was opened
	pacing
	packing
	reports
	earlierRuns     []earlierRun    // runs to which Undo can return, oldest first
	undone          []config.Change // changes that Redo repeats, the newest last
	notice          engine.Notice
	refusalsShown   int           // number of refused scripted changes for which a notice was shown
	inspectedPacket *packetlog.ID // the packet of the last Command.Open; nil if none
	tracing
	standing pausedPackets // packets to show while virtual time stands still
	err      error         // the error that stopped the session; nil if none
	panicked bool          // the session panicked, so its state is not used any more
}

// NewRunner opens a session; Start runs it. When ctx ends, reading from a pipe fails.
func NewRunner(ctx context.Context, c *config.Config, opt RunnerOptions) (*Runner, error) {
	if opt.Clock == nil {
		panic("experiment: a Runner needs a Clock")
	}
	opt.Clock = opt.Clock.Steady()
	r := &Runner{opt: opt, commands: make(chan Command, 64), done: make(chan struct{}), config: c.Clone(),
		reports: reports{files: &report.Files{}}, packing: packing{packs: delivery.NewPackCache()},
		pacing: pacing{speed: 1, seekTarget: noSeek}}
	s, err := r.openSession(ctx)
	if err != nil {
		return nil, err
	}
	r.session = s
	r.config.AdoptFit(s.StartConfig()) // opening the session fitted settings, such as the encoder, to the data
	r.publish()
	return r, nil
}

// openSession opens a session of r.config that runs until it is stopped: recordings play in a loop, and
// files are delivered repeatedly. It measures and stores everything that the dashboard can show. r.files
// records the data files that the session reads.
func (r *Runner) openSession(ctx context.Context) (*engine.Session, error) {
	c := r.config.Clone()
	c.Data.Loop, c.Data.Again = true, true
	c.ResolvePath = r.files.Note
	opt := engine.Options{Clock: r.opt.Clock, KeepSamples: liveSamples, KeepPackets: livePackets,
		Trials: true, Endless: true, WithPicture: true, Inspect: true, KeepSent: true, Packs: r.packs}
	if r.opt.Remote != nil {
		opt.Network = r.opt.Remote
	}
	return engine.NewSession(ctx, c, opt)
}

// Start runs the session in its own goroutine until ctx ends or Stop is called, and returns immediately. It
// panics if it is called twice or after Stop.
func (r *Runner) Start(ctx context.Context) {
	if r.started {
		panic("experiment: a Runner starts once")
	}
	r.started = true
	ctx, r.cancel = context.WithCancel(ctx)
	go r.loop(ctx)
}

// Stop ends the session, waits for its goroutine and closes the source. Save may be called after Stop.
// Further calls of Stop have no effect.
func (r *Runner) Stop() {
	r.stopOnce.Do(func() {
		if r.cancel != nil {
			r.cancel() // the goroutine calls close
			return
		}
		r.started = true // Start was never called and panics from now on
		r.close()
	})
	<-r.done
}

// close waits for a report that is being written and closes the source. The measurements stay
// available.
func (r *Runner) close() {
	defer close(r.done)
	r.finishSave()
	if err := panics.Call(r.session.Close); err != nil && r.err == nil {
		r.err = err
	}
}

// Snapshot returns the newest snapshot of the session; it is never nil.
func (r *Runner) Snapshot() *engine.Snapshot { return r.snapshot.Load() }

// Do queues a command and returns immediately. It returns false if the queue is full or the session has
// been stopped.
func (r *Runner) Do(c Command) bool {
	select {
	case <-r.done:
		return false
	default:
	}
	select {
	case r.commands <- c:
		return true
	default:
		return false
	}
}

// loop runs the session until ctx ends. If the session panics, it publishes the panic as an error.
func (r *Runner) loop(ctx context.Context) {
	defer r.close()
	err := panics.Call(func() error { r.run(ctx); return nil })
	if err != nil {
		r.panicked = true
		r.err = fmt.Errorf("internal error: %w", err)
		// The last published snapshot is used, because the state of the session may be inconsistent.
		snap := *r.snapshot.Load()
		snap.State, snap.Err = engine.Broken, r.err
		r.snapshot.Store(&snap)
	}
}

// run advances the session with the wall clock and executes commands until ctx ends. It publishes a
// snapshot every publishEvery, and immediately after a command or a finished save. While a patch is being
// made, virtual time stands still.
func (r *Runner) run(ctx context.Context) {
	interval := tickInterval
	if r.opt.Remote != nil {
		interval = remoteTickInterval
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	r.lastTick = r.opt.Clock()
	published := time.Duration(0)
	for {
		publishNow := false
		select {
		case <-ctx.Done():
			r.finishSave()
			r.publish()
			return
		case c := <-r.commands:
			r.handleCommand(ctx, c)
			publishNow = true
		case <-r.saveDone():
			r.finishSave()
			publishNow = true
		case <-tick.C:
		}
		if waiting := r.pollPatch(ctx); waiting { // restart the pacing when the patch is made
			r.lastTick = r.opt.Clock()
			r.measuredSpeed.reset()
		} else {
			r.advance()
		}
		if now := r.opt.Clock(); publishNow || now-published >= publishEvery {
			published = now
			r.publish()
		}
	}
}

// fail stops the session with an error.
func (r *Runner) fail(err error) {
	r.err, r.paused = err, true
	r.notify(true, err.Error())
}

// notify shows a message to the user. bad means that it reports a problem.
func (r *Runner) notify(bad bool, text string) {
	r.notice = engine.Notice{ID: r.notice.ID + 1, Text: text, Bad: bad}
}

// notifyResult shows err or, if err is nil, the message ok unless it is empty.
func (r *Runner) notifyResult(ok string, err error) {
	if err != nil {
		r.notify(true, err.Error())
	} else if ok != "" {
		r.notify(false, ok)
	}
}

// handleCommand executes one command. Commands that change the session are deferred while a patch is
// being made.
func (r *Runner) handleCommand(ctx context.Context, c Command) {
	if r.deferCommand(&c) {
		return
	}
	if r.opt.Remote != nil && (c.Seek != nil || c.Speed != nil && *c.Speed != 1) {
		r.notifyResult("", errRealTimeOnly)
		c.Seek, c.Speed = nil, nil
	}
	if c.Pause != nil {
		r.paused = *c.Pause
	}
	if c.Toggle {
		r.paused = !r.paused
	}
	if c.Speed != nil {
		r.setSpeed(*c.Speed)
	}
	if c.Open != nil {
		r.inspectedPacket = c.Open
	}
	r.tracing.handle(&c)
	if r.err == nil {
		r.handleSessionCommand(ctx, c)
	}
	if c.Save != nil {
		r.startSave(*c.Save)
	}
	// Drop the backlog of virtual time from before the command. Over a network the session must catch up, because
	// the remote display has continued.
	if r.opt.Remote == nil || r.paused {
		r.target = r.session.Now()
	}
}

// handleSessionCommand executes the parts of a command that change or move the session. They are impossible
// after an error of the session.
func (r *Runner) handleSessionCommand(ctx context.Context, c Command) {
	if c.Change != nil {
		if c.Change.Input == nil && c.Change.Mark == "" {
			r.undone = nil // nothing can be redone after a new change
		}
		r.notifyResult("", r.applyChange(ctx, *c.Change))
	}
	if c.Undo {
		label, err := r.undo(ctx)
		r.notifyResult("undone: "+label, err)
	}
	if c.Redo {
		label, err := r.redo(ctx)
		r.notifyResult("redone: "+label, err)
	}
	if c.Step > 0 { // a pause, and a short seek without a notice
		r.paused = true
		// FrameAt counts from 0, so the last of n frames has the index n-1.
		r.seekTarget = r.session.FrameAt(min(c.Step, maxStep) - 1)
	}
	if c.Seek != nil {
		r.notifyResult("", r.seek(ctx, *c.Seek))
	}
	if err := r.session.Err(); err != nil {
		r.fail(err)
	}
}

// maxStep is the maximum number of frames that one command advances.
const maxStep = 10_000

// publish publishes a snapshot of the session with the runner's own state: pacing, saving, the progress of
// a patch and the newest notice. snap.State is engine.Running unless one of the cases below applies.
func (r *Runner) publish() {
	snap := r.session.View(engine.ShownPackets)
	if packets := r.standing.update(r); packets != nil {
		snap.Lanes[0].Packets = packets
	}
	r.addPatchProgress(snap)
	if r.opt.Remote != nil {
		snap.To = r.opt.Remote.PeerName()
	}
	if r.inspectedPacket != nil {
		snap.Opened = r.session.Opened(*r.inspectedPacket)
	}
	r.addTraces(snap)
	snap.Speed, snap.Actual, snap.Notice, snap.Err = r.speed, r.measuredSpeed.factor, r.notice, r.err
	snap.Saved, snap.Saving = r.saved, r.pendingSave != nil
	switch {
	case r.err != nil:
		snap.State = engine.Broken
	case r.isJump:
		snap.State, snap.Seek = engine.Seeking, r.seekTarget
	case r.session.Done():
		snap.State = engine.Ended
	case r.paused:
		snap.State = engine.Paused
	}
	r.snapshot.Store(snap)
}
