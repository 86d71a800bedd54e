package experiment

import (
	"context"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/remote"
	"wirelab/internal/atomicfile"
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
	liveLoop

	// The fields below belong to the session's goroutine until done is closed. packing is the state of making patches.
	session *engine.Session
	config  *config.Config // with which the session was opened
	packing
	undone          []config.Change // changes that Redo repeats, the newest last
	refusalsShown   int             // number of refused scripted changes for which a notice was shown
	inspectedPacket *packetlog.ID   // the packet of the last Command.Open; nil if none
	tracing
	standing pausedPackets // packets to show while virtual time stands still
}

// NewRunner opens a session; Start runs it. When ctx ends, reading from a pipe fails.
func NewRunner(ctx context.Context, c *config.Config, opt RunnerOptions) (*Runner, error) {
	r := &Runner{liveLoop: newLiveLoop(opt), config: c.Clone(), packing: packing{packs: delivery.NewPackCache()}}
	r.driver = r
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
	c.Data.Loop = true
	c.Data.Again = c.HasFileData()
	c.ResolvePath = r.files.Note
	opt := engine.Options{Clock: r.opt.Clock, KeepSamples: liveSamples, KeepPackets: livePackets,
		Trials: true, Endless: true, WithPicture: true, Inspect: true, KeepSent: true, Packs: r.packs}
	if r.opt.Remote != nil {
		opt.Network = r.opt.Remote
	}
	return engine.NewSession(ctx, c, opt)
}

// experiment returns the session.
func (r *Runner) experiment() paced { return r.session }

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
	r.handlePacing(&c)
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
		if len(c.Change.Inputs()) == 0 && c.Change.Mark() == "" {
			r.undone = nil // nothing can be redone after a new change
		}
		r.notifyResult("", r.applyChange(ctx, *c.Change))
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
		r.step(r.session, c.Step)
	}
	if c.Seek != nil {
		r.notifyResult("", r.seek(ctx, *c.Seek))
	}
	if err := r.session.Err(); err != nil {
		r.fail(err)
	}
}

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
	r.store(snap, r.session.Done())
}
