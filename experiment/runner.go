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

// The runner's beat, in wall time, and how long it works at most between two
// looks at its commands.
const (
	beat         = 8 * time.Millisecond
	maxSlice     = 12 * time.Millisecond
	publishEvery = 45 * time.Millisecond
	longestBeat  = 250 * time.Millisecond // a longer one is a clock that leapt, or a machine that slept: it is not made up for
)

// The memory of a live session: five minutes of samples and packets, of which a
// snapshot carries as many as a screen can show.
const (
	liveSamples = 3000
	livePackets = 300 * 60
)

// MinSpeed and MaxSpeed bound the pace of a live session; 0 means no pacing.
const (
	MinSpeed = 0.1
	MaxSpeed = 64
)

// RunnerOptions are what a runner is given by its caller.
type RunnerOptions struct {
	Clock   wallclock.Clock  // monotonic wall time; required: it paces the session
	Reports string           // the folder under which Save makes new ones
	Disk    *atomicfile.Disk // on which they are made; nil: the machine's
	Remote  *remote.Link     // where the receiver is; nil: here
	Stamp   func() string
	// Stamp names a new report's folder, say by the date.

	Context context.Context // ends the wait for whoever writes into a pipe; nil: nothing does
}

// keepsUp is the share of the speed asked for that counts as reached.
const keepsUp = 0.93

// nowhere is the place a runner seeks when it seeks none: before the first frame.
const nowhere time.Duration = -1

// Runner paces one session by the wall clock, for the dashboard. It owns the
// session's goroutine; the rest of the program sees an immutable Snapshot through
// an atomic pointer and speaks through a bounded queue of commands. Neither side
// ever waits for the other: if the engine cannot keep up, virtual time slows,
// and if the screen is slow it misses snapshots, but no packet is ever skipped.
type Runner struct {
	opt      RunnerOptions
	commands chan Command
	snap     atomic.Pointer[engine.Snapshot]
	done     chan struct{}
	cancel   context.CancelFunc
	once     sync.Once
	started  bool

	session *engine.Session // from here on: the goroutine's own, free again once done is closed
	config  *config.Config
	paused  bool
	speed   float64 // 0: no pacing
	target  time.Duration
	seeking time.Duration // run here without pacing, even if paused; nowhere if there is no such place
	last    time.Duration // wall time of the last beat
	pace    pace
	notice  engine.Notice
	jump    bool // the seeking is a jump, worth a word on arrival
	refused int  // refusals already told of
	befores []before
	undone  []config.Change // what redo makes again, the last taken back at the end
	opened  *packetlog.ID   // the packet that somebody looks into
	err     error
	rest    rest
	packs   *delivery.PackCache
	making  *making          // a patch that the session waits for; nil: none
	matrix  *delivery.Matrix // of the patch that was made last
	// commands that came meanwhile and that change the session
	deferred []Command
	files    *report.Files // that the session reads
	filing   *filing       // a report that is being written; nil: none
	saved    time.Duration // the run is in a report up to here
	broken   bool          // the session panicked: nothing of it can be trusted
}

// NewRunner prepares a session; Start sets it going.
func NewRunner(c *config.Config, opt RunnerOptions) (*Runner, error) {
	if opt.Clock == nil {
		panic("experiment: a Runner needs a Clock")
	}
	opt.Clock = opt.Clock.Steady()
	r := &Runner{opt: opt, files: &report.Files{}, commands: make(chan Command, 64), packs: delivery.NewPackCache(),
		done:   make(chan struct{}),
		config: c.Clone(), speed: 1, seeking: nowhere}
	s, err := r.open()
	if err != nil {
		return nil, err
	}
	r.session = s
	r.config.Adopt(s.StartConfig())
	r.publish()
	return r, nil
}

func (r *Runner) open() (*engine.Session, error) {
	c := r.config.Clone()
	c.Data.Loop, c.Data.Again = true, true
	c.Find = r.files.Note
	return engine.NewSession(r.opt.Context, c, engine.Options{Clock: r.opt.Clock, KeepSamples: liveSamples,
		KeepPackets: livePackets,
		Network:     r.opt.network(), Trials: true, Endless: true, WithPicture: true, Inspect: true, Packs: r.packs})
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

// Stop ends the session, waits for its goroutine and closes the source. It may
// be called twice; afterwards Save still works.
func (r *Runner) Stop() {
	r.once.Do(func() {
		if r.cancel != nil {
			r.cancel()
			return
		}
		r.started = true // too late to start
		r.close()
	})
	<-r.done
}

// close releases the source; what was measured stays.
func (r *Runner) close() {
	defer close(r.done)
	r.settleFiling()
	if err := panics.Call(r.session.Close); err != nil && r.err == nil {
		r.err = err
	}
}

// Snapshot returns the newest picture of the session; it is never nil.
func (r *Runner) Snapshot() *engine.Snapshot { return r.snap.Load() }

// Do queues a command and returns at once; false if the queue is full or the
// session is over.
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
		r.publishBroken()
	}
}

func (r *Runner) run(ctx context.Context) {
	every := beat
	if r.opt.Remote != nil {
		every = remoteBeat
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	r.last = r.opt.Clock()
	published := time.Duration(0)
	for {
		fresh := false
		select {
		case <-ctx.Done():
			r.settleFiling()
			r.publish()
			return
		case c := <-r.commands:
			r.obey(c)
			fresh = true
		case <-r.filed():
			r.settleFiling()
			fresh = true
		case <-tick.C:
		}
		if r.waits(ctx) {
			r.last = r.opt.Clock()
			r.pace.rest()
		} else {
			r.advance()
		}
		if now := r.opt.Clock(); fresh || now-published >= publishEvery {
			published = now
			r.publish()
		}
	}
}

// advance lets virtual time catch up with the wall, for at most maxSlice.
func (r *Runner) advance() {
	wall := r.opt.Clock()
	r.session.SetSpare(r.pace.factor == 0 || r.pace.factor >= keepsUp*r.speed)
	elapsed := min(wall-r.last, longestBeat)
	r.last = wall
	from := r.session.Now()
	if r.seeking != nowhere && r.session.Reached(r.seeking) {
		if r.jump {
			r.say(false, "at "+clockText(r.session.Now()))
		}
		r.seeking, r.jump = nowhere, false
	}
	if r.err != nil || r.session.Done() || (r.paused && r.seeking == nowhere) {
		r.listen(from)
		r.pace.rest()
		return
	}
	switch {
	case r.seeking != nowhere:
		r.target = r.seeking
	case r.speed == 0:
		r.target = from + time.Hour
	case r.target-from > time.Duration(float64(r.behind())*r.speed):
		// It fell behind: virtual time slows down rather than hurry after.
		r.target = from + time.Duration(float64(elapsed)*r.speed)
	default:
		r.target = max(r.target, from) + time.Duration(float64(elapsed)*r.speed)
	}
	r.listen(r.target)
	for !r.session.Reached(r.target) && !r.session.Done() && r.opt.Clock()-wall < maxSlice {
		to := min(r.target, r.session.Now()+20*time.Millisecond)
		if err := r.session.RunUntil(to); err != nil {
			r.fail(err)
			return
		}
	}
	if refused := r.session.Refused(); len(refused) > r.refused {
		x := refused[len(refused)-1]
		r.say(true, "the script's "+x.Change.Label()+" did not fit: "+x.Why)
		r.refused = len(refused)
	}
	r.pace.note(wall, r.session.Now())
	if r.seeking != nowhere {
		r.pace.rest()
	}
}

func (r *Runner) fail(err error) {
	r.err, r.paused = err, true
	r.say(true, err.Error())
}

func (r *Runner) say(bad bool, text string) {
	r.notice = engine.Notice{ID: r.notice.ID + 1, Text: text, Bad: bad}
}

// obey carries one command out.
func (r *Runner) obey(c Command) {
	if r.postpone(&c) {
		return
	}
	if err := forwardOnly(r.opt.Remote, &c); err != nil {
		r.report("", err)
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
		r.obeySession(c)
	}
	if c.Save != nil {
		r.file(*c.Save)
	}
	if r.opt.Remote == nil || r.paused {
		r.target = r.session.Now()
	}
}

// obeySession carries out what needs a session that works.
func (r *Runner) obeySession(c Command) {
	if c.Change != nil {
		if c.Change.Input() == nil && c.Change.Mark() == "" {
			r.undone = nil // it was taken back from another past
		}
		r.report("", r.change(*c.Change))
	}
	if c.Undo {
		label, err := r.undo()
		r.report("undone: "+label, err)
	}
	if c.Redo {
		label, err := r.redo()
		r.report("again: "+label, err)
	}
	if c.Step > 0 {
		r.paused = true
		r.seeking = r.session.FrameAt(min(c.Step, maxStep) - 1)
	}
	if c.Seek != nil {
		r.report("", r.seek(*c.Seek))
	}
	if err := r.session.Err(); err != nil {
		r.fail(err)
	}
}

// maxStep bounds how many frames one command advances.
const maxStep = 10_000

func (r *Runner) report(ok string, err error) {
	if err != nil {
		r.say(true, err.Error())
	} else if ok != "" {
		r.say(false, ok)
	}
}

func (r *Runner) setSpeed(v float64) {
	switch {
	case v == 0:
		r.speed = 0
	case v >= MinSpeed && v <= MaxSpeed:
		r.speed = v
	default:
		r.say(true, fmt.Sprintf("speed %g makes no sense; expected %g to %g, or max", v, MinSpeed, float64(MaxSpeed)))
	}
}

// publish makes a snapshot and hands it over.
func (r *Runner) publish() {
	snap := r.session.View(engine.ShownPackets)
	r.rest.show(r, snap)
	r.showMaking(snap)
	if r.opt.Remote != nil {
		snap.To = r.opt.Remote.To()
	}
	if r.opened != nil {
		snap.Opened = r.session.Opened(*r.opened)
	}
	snap.Speed, snap.Actual, snap.Notice, snap.Err = r.speed, r.pace.factor, r.notice, r.err
	snap.Saved, snap.Saving = r.saved, r.filing != nil
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

// publishBroken reports a panic on top of the last good snapshot: the session's
// own state can no longer be trusted.
func (r *Runner) publishBroken() {
	snap := *r.snap.Load()
	snap.State, snap.Err = engine.Broken, r.err
	r.snap.Store(&snap)
}
