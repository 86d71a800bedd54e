package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/remote"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/panics"
	"wirelab/internal/wallclock"
)

// Options configure a Runner.
type Options struct {
	Clock   wallclock.Clock  // monotonic wall clock that paces the experiment; required
	Reports string           // folder in which saving creates a folder for each report; empty if none
	Stamp   func() string    // returns the first part of that folder's name, such as the date; nil means none
	Disk    *atomicfile.Disk // file system of Reports; nil means the operating system's
	Remote  *remote.Link     // link to a remote receiver; nil means receivers in this process
}

// Runner runs one session or one crowd at the pace of the wall clock. It owns the goroutine of the
// experiment. Other goroutines read immutable snapshots through an atomic pointer, and send commands
// through a bounded queue, so neither side waits for the other. If the engine cannot keep up, virtual
// time slows down. If the screen is slow, it misses snapshots, but the experiment still handles every
// packet.
type Runner struct {
	opt      Options
	commands chan Command
	snapshot atomic.Pointer[engine.Snapshot]
	done     chan struct{}
	cancel   context.CancelFunc
	stopOnce sync.Once
	started  bool // Start or Stop was called

	// The fields below belong to the goroutine of the experiment until done is closed.
	current run
	pacing
	reports
	packing
	viewing
	past          *past           // the look back that the user requested; nil if none
	pasts         int             // looks back so far
	estimation    *estimation     // of encoders; nil before the first
	undone        []config.Change // changes that Redo repeats, the newest last
	refusalsShown int             // number of refused scripted changes for which a notice was shown
	notice        engine.Notice
	err           error // the error that stopped the experiment; nil if none
	panicked      bool  // the experiment panicked, so its state is not used any more
}

// run is what a Runner runs: a session or a crowd.
type run interface {
	Now() time.Duration
	Reached(t time.Duration) bool // reports whether virtual time has reached t
	Done() bool                   // reports whether the data have ended
	RunUntil(t time.Duration) error
	FrameAt(n int) time.Duration // the time at which the next n+1 frames have been sent
	Close() error                // closes the source

	Config() *config.Config          // with every change so far; it must not be modified
	Undo() (label string, err error) // reverts the newest change, and returns its description

	// change makes a change, or returns the configuration of the new run that ch needs; nil if it needs none.
	change(ch config.Change) (*config.Config, error)
	// repeat returns a function that opens the run again. In the new run the changes of this run are
	// pending, and the first new change discards those later than t, if the experiment supports that.
	repeat(r *Runner, t time.Duration) (opener, error)
	// view returns a snapshot without the state of the Runner.
	view(r *Runner) *engine.Snapshot
	// prepareReport returns a function that writes a report of the run so far. why is the reason in the
	// report if the run has not ended. After engine.Interrupted the run ends.
	prepareReport(ctx context.Context, r *Runner, why engine.Ending) (reportWriter, error)
}

// opener opens a run. It may be called in any goroutine.
type opener func(ctx context.Context) (run, error)

// reportWriter writes the files of a report. It may be called in any goroutine.
type reportWriter func(folder *atomicfile.Folder) error

// New opens a session of c, or a crowd if c has one; Start runs it. When ctx ends, reading from a pipe fails.
func New(ctx context.Context, c *config.Config, opt Options) (*Runner, error) {
	r := newRunner(opt)
	x, err := r.open(ctx, c.Clone())
	if err != nil {
		return nil, err
	}
	r.current = x
	r.publish()
	return r, nil
}

// newRunner returns a runner at normal speed, without an experiment.
func newRunner(opt Options) *Runner {
	if opt.Clock == nil {
		panic("live: a Runner needs a Clock")
	}
	opt.Clock = opt.Clock.Steady()
	return &Runner{
		opt: opt, commands: make(chan Command, 64), done: make(chan struct{}),
		reports: reports{files: &report.Files{}},
		pacing:  pacing{speed: 1, seekTarget: noSeek},
		packing: packing{packs: delivery.NewPackCache()},
	}
}

// open opens an experiment of c. r.files records the data files that it reads.
func (r *Runner) open(ctx context.Context, c *config.Config) (run, error) {
	c.ResolvePath = r.files.Note
	if c.Crowd.Clients > 0 {
		return openCrowd(ctx, c, r)
	}
	return openSession(ctx, c, r, nil)
}

// session returns the current session; see sessionOf.
func (r *Runner) session() *engine.Session { return sessionOf(r.current) }

// sessionOf returns the session that x is, or that repeats the selected client of a crowd; nil if none does.
func sessionOf(x run) *engine.Session {
	s, isSession := x.(*session)
	if !isSession {
		s = x.(*receivers).client.session
	}
	if s == nil {
		return nil
	}
	return s.Session
}

// Start runs the experiment in its own goroutine until ctx ends or Stop is called, and returns
// immediately. It panics if it is called twice or after Stop.
func (r *Runner) Start(ctx context.Context) {
	if r.started {
		panic("live: a Runner starts once")
	}
	r.started = true
	ctx, r.cancel = context.WithCancel(ctx)
	go r.loop(ctx)
}

// Stop ends the experiment, waits for its goroutine and closes the source. Save may be called after Stop.
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

// close waits for a report that is being written, closes the source, and closes done. The measurements
// stay available.
func (r *Runner) close() {
	defer close(r.done)
	r.finishSave()
	r.leavePast()
	r.endEstimation()
	if err := panics.Call(r.current.Close); err != nil && r.err == nil {
		r.err = err
	}
}

// Snapshot returns the newest snapshot of the experiment; it is never nil.
func (r *Runner) Snapshot() *engine.Snapshot { return r.snapshot.Load() }

// Do queues a command and returns immediately. It returns false if the queue is full or the experiment has
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

// loop runs the experiment until ctx ends. If the experiment panics, it publishes the panic as an error.
func (r *Runner) loop(ctx context.Context) {
	defer r.close()
	err := panics.Call(func() error { r.serve(ctx); return nil })
	if err != nil {
		r.panicked = true
		r.err = fmt.Errorf("internal error: %w", err)
		// The last published snapshot is used, because the state of the experiment may be inconsistent.
		snap := *r.snapshot.Load()
		snap.State = engine.Broken
		snap.Err = r.err
		r.snapshot.Store(&snap)
	}
}

// serve advances the experiment with the wall clock and executes commands until ctx ends. It publishes a
// snapshot every publishEvery, and immediately after a command or a finished save.
func (r *Runner) serve(ctx context.Context) {
	interval := tickInterval
	if r.opt.Remote != nil {
		interval = remoteTickInterval
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	r.lastTick = r.opt.Clock()
	published := time.Duration(0)
	for {
		publishNow := true
		select {
		case <-ctx.Done():
			r.finishSave()
			r.publish()
			return
		case c := <-r.commands:
			r.handleCommand(ctx, c)
		case <-r.saveDone():
			r.finishSave()
		case <-r.pastDone():
			r.finishPast(ctx)
		case <-tick.C:
			publishNow = false
		}
		r.advance(ctx)
		if now := r.opt.Clock(); publishNow || now-published >= publishEvery {
			published = now
			r.publish()
		}
	}
}

// handleCommand executes one command. Commands that change the experiment are deferred while a patch is
// being made.
func (r *Runner) handleCommand(ctx context.Context, c Command) {
	if r.deferCommand(&c) {
		return
	}
	if r.opt.Remote != nil && (c.Seek != nil || c.Speed != nil && *c.Speed != 1) {
		r.notifyResult("", errRealTimeOnly)
		c.Seek = nil
		c.Speed = nil
	}
	r.handlePacing(&c)
	r.viewing.handle(&c)
	if c.Estimate != nil {
		r.estimate(ctx, *c.Estimate)
	}
	r.handleLook(ctx, &c)
	if r.err == nil {
		r.handleChange(ctx, &c)
	} else if c.Change != nil {
		r.notify(true, r.err.Error())
	}
	if c.Save != nil {
		r.startSave(ctx, *c.Save)
	}
	// Drop the backlog of virtual time from before the command. Over a network the session must catch up,
	// because the remote display has continued.
	if r.opt.Remote == nil || r.paused {
		r.target = r.current.Now()
	}
}

// handleChange executes the parts of a command that change or move the experiment. They are impossible
// after an error of the experiment.
func (r *Runner) handleChange(ctx context.Context, c *Command) {
	if c.Change != nil {
		r.notifyResult("", r.change(ctx, *c.Change))
	}
	if c.Undo {
		label, err := r.undo()
		r.notifyResult("undone: "+label, err)
	}
	if c.Redo {
		label, err := r.redo()
		r.notifyResult("redone: "+label, err)
	}
	if c.Step > 0 {
		r.step(c.Step)
	}
	if c.Seek != nil {
		r.notifyResult("", r.seek(ctx, *c.Seek))
	}
	if s := r.session(); s != nil && s.Err() != nil {
		r.fail(s.Err())
	}
}

// change makes a change, in a new run if the experiment cannot make it while it runs. Over a network it
// leaves out the changes of shadows.
func (r *Runner) change(ctx context.Context, ch config.Change) error {
	if len(ch.Inputs()) == 0 && ch.Mark() == "" {
		r.undone = nil // nothing can be redone after a new change
	}
	if r.opt.Remote != nil {
		ch = withoutShadows(ch)
	}
	next, err := r.current.change(ch)
	if err != nil || next == nil {
		return err
	}
	x, err := r.open(ctx, next)
	if err != nil {
		return err
	}
	r.leavePast()
	r.viewing.inspected = nil
	r.seekTarget = noSeek
	r.isJump = false
	r.limitSaved(0)
	r.notify(false, "run restarted: "+ch.Label())
	return r.replace(x)
}

// replace makes x the current experiment, and closes the one before.
func (r *Runner) replace(x run) error {
	old := r.current
	r.current = x
	r.refusalsShown = 0
	r.measuredSpeed = speedMeter{}
	r.viewing.opened = nil
	r.viewing.traced = nil
	return old.Close()
}

// undo reverts the last change of this run, and returns its description.
func (r *Runner) undo() (label string, err error) {
	before := r.current.Config().Clone()
	label, err = r.current.Undo()
	if err == nil { // redo repeats the change that leads from the new configuration back to before
		r.undone = append(r.undone, before.Undo(r.current.Config()))
	}
	return label, err
}

// errNothingToRedo is returned if no change was undone, or another change was made since.
var errNothingToRedo = errors.New("nothing to redo")

// redo repeats the change that was undone last, and returns its description.
func (r *Runner) redo() (label string, err error) {
	n := len(r.undone)
	if n == 0 {
		return "", errNothingToRedo
	}
	ch := r.undone[n-1]
	_, err = r.current.change(ch) // needs no new run: it was made in this one before
	if err == nil {
		r.undone = r.undone[:n-1]
	}
	return ch.Label(), err
}

// fail stops the experiment with an error.
func (r *Runner) fail(err error) {
	r.err = err
	r.paused = true
	r.notify(true, err.Error())
}

// notify shows a message to the user. bad means that it reports a problem.
func (r *Runner) notify(bad bool, text string) {
	r.notice = engine.Notice{ID: r.notice.ID + 1, Text: text, Bad: bad}
}

// notifyResult shows err or, if err is nil, the message ok unless it is empty. That nothing can be undone or redone is
// no problem.
func (r *Runner) notifyResult(ok string, err error) {
	if err != nil {
		isProblem := !errors.Is(err, engine.ErrNothingToUndo) && !errors.Is(err, errNothingToRedo)
		r.notify(isProblem, err.Error())
	} else if ok != "" {
		r.notify(false, ok)
	}
}

// publish publishes a snapshot of the experiment with the runner's own state: pacing, saving, and the
// newest notice. snap.State is engine.Running unless one of the cases below applies.
func (r *Runner) publish() {
	snap := r.current.view(r)
	r.addPast(snap)
	r.addEstimates(snap)
	snap.Speed = r.speed
	snap.Actual = r.measuredSpeed.factor
	snap.Notice = r.notice
	snap.Err = r.err
	snap.Saved = r.saved
	snap.Saving = r.pendingSave != nil
	switch {
	case r.err != nil:
		snap.State = engine.Broken
	case r.isJump:
		snap.State = engine.Seeking
		snap.Seek = r.seekTarget
	case r.current.Done():
		snap.State = engine.Ended
	case r.paused:
		snap.State = engine.Paused
	}
	r.snapshot.Store(snap)
}
