package experiment

import (
	"context"
	"fmt"
	"time"

	"wirelab/experiment/engine/packetlog"
)

// Periods of the runner's loop, in wall time.
const (
	tickInterval = 8 * time.Millisecond
	maxSlice     = 12 * time.Millisecond // maximum time of advance, between two reads of the commands
	maxSteps     = 2000                  // maximum steps of advance, which end it also if the clock has stopped
	publishEvery = 45 * time.Millisecond
	maxElapsed   = 250 * time.Millisecond // a longer tick, after a sleep or a jump of the clock, counts as this
)

// MinSpeed and MaxSpeed bound the speed of a live session, as multiples of real time.
const (
	MinSpeed = 0.1
	MaxSpeed = 64
)

// minKeepUp is the ratio of actual to requested speed from which the machine counts as fast enough to
// run trials.
const minKeepUp = 0.93

// noSeek is the value of pacing.seekTarget without a pending seek.
const noSeek time.Duration = -1

// maxSeek is the maximum distance of a forward seek.
const maxSeek = time.Hour

// pacing is the state with which a runner advances virtual time.
type pacing struct {
	paused        bool
	speed         float64       // multiple of real time; 0 means as fast as possible
	target        time.Duration // virtual time to reach in this tick
	seekTarget    time.Duration // virtual time to run to without pacing, even if paused; or noSeek
	isJump        bool          // the seek is a Command.Seek, not a Step: a notice is shown when it is reached
	lastTick      time.Duration // wall time of the last tick
	measuredSpeed speedMeter    // the speed that virtual time reached
}

// paced is an experiment that is run at a pace: a session, or a crowd.
type paced interface {
	Now() time.Duration
	Reached(t time.Duration) bool // reports whether virtual time has reached t
	Done() bool                   // reports whether the data have ended
	RunUntil(t time.Duration) error
	FrameAt(n int) time.Duration // the time at which the next n+1 frames have been sent
	Close() error                // closes the source
}

// setTarget sets the virtual time to reach in this tick. from is the present, elapsed the wall time since the last
// tick, and maxBacklog the wall time up to which the experiment catches up if it is behind.
func (p *pacing) setTarget(from, elapsed, maxBacklog time.Duration) {
	step := time.Duration(float64(elapsed) * p.speed)
	switch {
	case p.seekTarget != noSeek:
		p.target = p.seekTarget
	case p.speed == 0:
		p.target = from + time.Hour // never reached in one tick: maxSlice ends it
	case p.target-from > time.Duration(float64(maxBacklog)*p.speed):
		p.target = from + step // too far behind to catch up: virtual time slows down
	default:
		p.target = max(p.target, from) + step
	}
}

// speedMeter measures how fast virtual time advances.
type speedMeter struct {
	wall, virtual time.Duration // wall time and virtual time at the start of the current measurement
	started       bool          // a measurement is in progress
	factor        float64       // multiple of real time over the last second; 0 if unknown
}

// record records that virtual time has reached virtual at wall time wall. It completes a measurement after
// one second. It begins a new one if virtual time went back.
func (p *speedMeter) record(wall, virtual time.Duration) {
	if !p.started || virtual < p.virtual {
		p.wall, p.virtual, p.started = wall, virtual, true
		return
	}
	if d := wall - p.wall; d >= time.Second {
		p.factor = float64(virtual-p.virtual) / float64(d)
		p.wall, p.virtual = wall, virtual
	}
}

// reset discards the current measurement: virtual time does not follow the wall clock.
func (p *speedMeter) reset() { p.started = false }

// advance runs the session until virtual time has caught up with the wall clock. While a patch is being made, virtual time
// stands still. While the session is paused or has ended, it only receives datagrams from the network. It notifies the user
// of refused scripted changes.
func (r *Runner) advance(ctx context.Context) {
	if waiting := r.pollPatch(ctx); waiting { // restart the pacing when the patch is made
		r.lastTick = r.opt.Clock()
		r.measuredSpeed.reset()
		return
	}
	r.session.AllowTrials(r.measuredSpeed.factor == 0 || r.measuredSpeed.factor >= minKeepUp*r.speed) // 0: not measured yet
	r.advancePaced(r.pollNetwork)
	if refused := r.session.Refused(); r.err == nil && len(refused) > r.refusalsShown {
		newest := refused[len(refused)-1] // only one notice can be shown
		r.notify(true, "scripted change "+newest.Change.Label()+" refused: "+newest.Why)
		r.refusalsShown = len(refused)
	}
}

// seek makes the session run to virtual time t without pacing. If t is in the past, seek replaces the session by a
// new one, which runs from the start to t and repeats the changes that were made before t.
func (r *Runner) seek(ctx context.Context, t time.Duration) error {
	now := r.session.Now()
	if err := checkSeek(now, t); err != nil {
		return err
	}
	old := r.session
	if t < now {
		restarted, err := r.openSession(ctx)
		if err != nil {
			return err
		}
		restarted.ReplayChanges(old.Log(), t)
		r.session, r.refusalsShown = restarted, 0
	}
	r.seekTarget, r.isJump = t, true
	r.limitSaved(t) // the session may differ from the saved one after t
	if r.session != old {
		return old.Close()
	}
	return nil
}

// clockText formats a virtual time as the dashboard's clock does.
func clockText(d time.Duration) string {
	return fmt.Sprintf("%02d:%04.1f", int(d/time.Minute), (d % time.Minute).Seconds())
}

// pausedPackets contains all stored packets while virtual time stands still, so that the user can look
// at older packets. They are copied once per pause, and dropped when the session continues.
type pausedPackets struct {
	snapshots int // published since virtual time stopped
	packets   []packetlog.Record
}

// copyAfter is the number of snapshots after which the packets are copied. Without this delay, stepping
// frame by frame would copy all packets at each step.
const copyAfter = 4

// update is called for each published snapshot. It returns the packets to put into the snapshot; nil unless
// virtual time has stood still for more than copyAfter snapshots. It drops the copy when virtual time
// continues.
func (x *pausedPackets) update(r *Runner) []packetlog.Record {
	if r.seekTarget != noSeek || !r.paused && !r.session.Done() || r.err != nil {
		*x = pausedPackets{}
		return nil
	}
	x.snapshots++
	if x.snapshots > copyAfter && x.packets == nil {
		x.packets = r.session.Packets()
	}
	return x.packets
}
