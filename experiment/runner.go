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

// The memory of a live session: five minutes of samples and packets, of which a snapshot
// carries as many as a screen can show.
const (
	liveSamples = 3000
	livePackets = 300 * 60
)

// RunnerOptions are what a runner gets from its caller.
type RunnerOptions struct {
	Clock   wallclock.Clock  // monotonic wall time; required: it paces the session
	Reports string           // the folder in which Save creates a folder for each report
	Stamp   func() string    // returns the beginning of the folder's name, for example the date
	Disk    *atomicfile.Disk // the disk of Reports; nil means the machine's
	Remote  *remote.Link     // the link to a remote receiver; nil means a receiver in this process
}

// Runner paces one session by the wall clock, for the dashboard. It owns the session's
// goroutine; the rest of the program reads an immutable Snapshot through an atomic pointer and
// sends commands through a bounded queue. Neither side ever waits for the other: if the engine
// cannot keep up, virtual time slows, and if the screen is slow it misses snapshots, but no
// packet is ever skipped.
type Runner struct {
	opt      RunnerOptions
	commands chan Command
	snap     atomic.Pointer[engine.Snapshot]
	done     chan struct{}
	cancel   context.CancelFunc
	once     sync.Once
	started  bool

	// The fields below belong to the goroutine until done is closed.
	session *engine.Session
	config  *config.Config // of the session, as it was set up
	pacing
	packing
	reports
	earlier  []earlierRun    // runs that Undo can return to, oldest first
	undone   []config.Change // changes that Redo repeats, the newest last
	notice   engine.Notice
	refused  int           // number of refused script changes that were shown
	opened   *packetlog.ID // the packet that is inspected; nil if none
	standing standing
	err      error // the error that stopped the session
	broken   bool  // the session panicked: its state cannot be trusted
}

// NewRunner prepares a session; Start runs it. If ctx ends, reading from a pipe fails.
func NewRunner(ctx context.Context, c *config.Config, opt RunnerOptions) (*Runner, error) {
	if opt.Clock == nil {
		panic("experiment: a Runner needs a Clock")
	}
	opt.Clock = opt.Clock.Steady()
	r := &Runner{opt: opt, commands: make(chan Command, 64), done: make(chan struct{}), config: c.Clone(),
		reports: reports{files: &report.Files{}}, packing: packing{packs: delivery.NewPackCache()},
		pacing: pacing{speed: 1, seeking: noSeek}}
	s, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	r.session = s
	r.config.Adopt(s.StartConfig())
	r.publish()
	return r, nil
}

// open opens a session of r.config.
func (r *Runner) open(ctx context.Context) (*engine.Session, error) {
	c := r.config.Clone()
	c.Data.Loop, c.Data.Again = true, true
	c.Find = r.files.Note
	opt := engine.Options{Clock: r.opt.Clock, KeepSamples: liveSamples, KeepPackets: livePackets,
		Trials: true, Endless: true, WithPicture: true, Inspect: true, Packs: r.packs}
	if r.opt.Remote != nil {
		opt.Network = r.opt.Remote
	}
	return engine.NewSession(ctx, c, opt)
}

// Start runs the session until ctx ends or Stop is called. A runner starts once.
func (r *Runner) Start(ctx context.Context) {
	if r.started {
		panic("experiment: a Runner starts once")
	}
	r.started = true
	ctx, r.cancel = context.WithCancel(ctx)
	go r.loop(ctx)
}

// Stop ends the session, waits for its goroutine and closes the source. It may be called twice;
// afterwards Save still works.
func (r *Runner) Stop() {
	r.once.Do(func() {
		if r.cancel != nil {
			r.cancel()
			return
		}
		r.started = true // Start panics from now on
		r.close()
	})
	<-r.done
}

// close finishes a save and releases the source. The measurements stay available.
func (r *Runner) close() {
	defer close(r.done)
	r.finishSave()
	if err := panics.Call(r.session.Close); err != nil && r.err == nil {
		r.err = err
	}
}

// Snapshot returns the newest snapshot of the session; it is never nil.
func (r *Runner) Snapshot() *engine.Snapshot { return r.snap.Load() }

// Do queues a command and returns immediately; false if the queue is full or the session is over.
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

// loop runs the session until ctx ends, and publishes a panic.
func (r *Runner) loop(ctx context.Context) {
	defer r.close()
	err := panics.Call(func() error { r.run(ctx); return nil })
	if err != nil {
		r.broken = true
		r.err = fmt.Errorf("the lab broke: %w", err)
		// On top of the last good snapshot: the session's own state cannot be trusted.
		snap := *r.snap.Load()
		snap.State, snap.Err = engine.Broken, r.err
		r.snap.Store(&snap)
	}
}

// run advances the session with the wall clock and carries out commands until ctx ends. It publishes a
// snapshot every publishEvery, and at once after a command or a finished save.
func (r *Runner) run(ctx context.Context) {
	interval := tickInterval
	if r.opt.Remote != nil {
		interval = remoteTickInterval
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	r.last = r.opt.Clock()
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
		if r.pollPatch(ctx) {
			r.last = r.opt.Clock()
			r.measured.stop()
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

// notify shows a message to the user; bad: something went wrong.
func (r *Runner) notify(bad bool, text string) {
	r.notice = engine.Notice{ID: r.notice.ID + 1, Text: text, Bad: bad}
}

// notifyResult shows err, or else ok unless it is empty.
func (r *Runner) notifyResult(ok string, err error) {
	if err != nil {
		r.notify(true, err.Error())
	} else if ok != "" {
		r.notify(false, ok)
	}
}

// handleCommand carries out one command. Changes of the session wait while a patch is made.
func (r *Runner) handleCommand(ctx context.Context, c Command) {
	if r.postpone(&c) {
		return
	}
	if r.opt.Remote != nil && (c.Seek != nil || c.Speed != nil && *c.Speed != 1) {
		r.notifyResult("", errOnePace)
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
		r.opened = c.Open
	}
	if r.err == nil {
		r.handleSessionCommand(ctx, c)
	}
	if c.Save != nil {
		r.startSave(*c.Save)
	}
	if r.opt.Remote == nil || r.paused {
		r.target = r.session.Now()
	}
}

// handleSessionCommand carries out the parts of a command that need a session without an error.
func (r *Runner) handleSessionCommand(ctx context.Context, c Command) {
	if c.Change != nil {
		if c.Change.Input == nil && c.Change.Mark == "" {
			r.undone = nil // nothing can be redone after a new change
		}
		r.notifyResult("", r.change(ctx, *c.Change))
	}
	if c.Undo {
		label, err := r.undo(ctx)
		r.notifyResult("undone: "+label, err)
	}
	if c.Redo {
		label, err := r.redo(ctx)
		r.notifyResult("again: "+label, err)
	}
	if c.Step > 0 {
		r.paused = true
		r.seeking = r.session.FrameAt(min(c.Step, maxStep) - 1)
	}
	if c.Seek != nil {
		r.notifyResult("", r.seek(ctx, *c.Seek))
	}
	if err := r.session.Err(); err != nil {
		r.fail(err)
	}
}

// maxStep bounds how many frames one command advances.
const maxStep = 10_000

// publish makes a snapshot and publishes it.
func (r *Runner) publish() {
	snap := r.session.View(engine.ShownPackets)
	if packets := r.standing.packets(r); packets != nil {
		snap.Lanes[0].Packets = packets
	}
	r.showMaking(snap)
	if r.opt.Remote != nil {
		snap.To = r.opt.Remote.To()
	}
	if r.opened != nil {
		snap.Opened = r.session.Opened(*r.opened)
	}
	snap.Speed, snap.Actual, snap.Notice, snap.Err = r.speed, r.measured.factor, r.notice, r.err
	snap.Saved, snap.Saving = r.saved, r.pendingSave != nil
	switch {
	case r.err != nil:
		snap.State = engine.Broken
	case r.jump:
		snap.State, snap.Seek = engine.Seeking, r.seeking
	case r.session.Done():
		snap.State = engine.Ended
	case r.paused:
		snap.State = engine.Paused
	}
	r.snap.Store(snap)
}
