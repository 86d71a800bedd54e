package live

import (
	"context"
	"fmt"
	"time"
)

// Periods of the runner's loop, in wall time.
const (
	tickInterval = 8 * time.Millisecond
	maxSlice     = 12 * time.Millisecond // maximum time of advance, between two reads of the commands
	maxSteps     = 2000                  // of advance, which ends also if the clock has stopped
	publishEvery = 45 * time.Millisecond
	maxElapsed   = 250 * time.Millisecond // a longer tick, such as after a sleep, counts as this
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
	isJump        bool          // the seek is a Command.Seek, not a Step; its end has a notice
	lastTick      time.Duration // wall time of the last tick
	measuredSpeed speedMeter    // the speed that virtual time reached
}

// setTarget sets the virtual time to reach in this tick. from is the present, elapsed the wall time
// since the last tick, and maxBacklog the wall time up to which the experiment catches up if it is
// behind.
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
		p.wall = wall
		p.virtual = virtual
		p.started = true
		return
	}
	if d := wall - p.wall; d >= time.Second {
		p.factor = float64(virtual-p.virtual) / float64(d)
		p.wall = wall
		p.virtual = virtual
	}
}

// reset discards the current measurement: virtual time does not follow the wall clock.
func (p *speedMeter) reset() { p.started = false }

// remoteTickInterval replaces tickInterval over a network. Packets are sent and acks are read up to
// this much late.
const remoteTickInterval = 2 * time.Millisecond

// maxBacklog returns how far virtual time may fall behind the wall clock and still catch up. It is
// longer over a network: the remote display follows its own clock, and starves if this one slows down.
func (r *Runner) maxBacklog() time.Duration {
	if r.opt.Remote != nil {
		return 2 * maxElapsed
	}
	return 4 * tickInterval
}

// advance runs the experiment until virtual time has caught up with the wall clock, for at most maxSlice
// of wall time. During a seek, and at speed 0, it runs for maxSlice without pacing. While a patch is
// being made, virtual time stands still. While the experiment is paused or has ended, it only receives
// datagrams from the network.
func (r *Runner) advance(ctx context.Context) {
	if waiting := r.pollPatch(ctx); waiting { // restart the pacing when the patch is made
		r.lastTick = r.opt.Clock()
		r.measuredSpeed.reset()
		return
	}
	if s := r.session(); s != nil {
		factor := r.measuredSpeed.factor
		s.AllowTrials(factor == 0 || factor >= minKeepUp*r.speed) // 0: not measured yet
	}
	wall := r.opt.Clock()
	elapsed := min(wall-r.lastTick, maxElapsed)
	r.lastTick = wall
	r.endSeek()
	if r.standsStill() {
		r.pollNetwork(r.current.Now())
		r.measuredSpeed.reset()
		return
	}
	r.setTarget(r.current.Now(), elapsed, r.maxBacklog())
	r.pollNetwork(r.target)
	if err := r.runToTarget(wall); err != nil {
		r.fail(err)
		return
	}
	r.measuredSpeed.record(wall, r.current.Now())
	if r.seekTarget != noSeek {
		r.measuredSpeed.reset() // a seek is not paced
	}
	r.notifyRefusals()
}

// standsStill reports whether virtual time does not advance.
func (r *Runner) standsStill() bool {
	return r.err != nil || r.current.Done() || r.paused && r.seekTarget == noSeek
}

// runToTarget runs the experiment to r.target, for at most maxSlice after wall.
func (r *Runner) runToTarget(wall time.Duration) error {
	x := r.current
	for step := 0; step < maxSteps && !x.Reached(r.target) && !x.Done() && r.opt.Clock()-wall < maxSlice; step++ {
		to := min(r.target, x.Now()+20*time.Millisecond) // short steps, so that maxSlice is respected
		if err := x.RunUntil(to); err != nil {
			return err
		}
	}
	return nil
}

// notifyRefusals shows a notice for the newest scripted change that was refused since the last call.
func (r *Runner) notifyRefusals() {
	s := r.session()
	if s == nil || r.err != nil || len(s.Refused()) == r.refusalsShown {
		return
	}
	r.refusalsShown = len(s.Refused())
	newest := s.Refused()[r.refusalsShown-1]
	r.notify(true, "scripted change "+newest.Change.Label()+" refused: "+newest.Why)
}

// handlePacing executes the parts of a command that pause, continue or set the speed.
func (r *Runner) handlePacing(c *Command) {
	if c.Pause != nil {
		r.paused = *c.Pause
	}
	if c.Toggle {
		r.paused = !r.paused
	}
	if c.Speed == nil {
		return
	}
	v := *c.Speed
	if v != 0 && !(v >= MinSpeed && v <= MaxSpeed) { // also true if v is not a number
		r.notify(true, fmt.Sprintf("speed %g is out of range; expected %g to %g, or max", v, MinSpeed,
			float64(MaxSpeed)))
		return
	}
	r.speed = v
}

// maxStep is the maximum number of frames that one command advances.
const maxStep = 10_000

// step pauses the experiment, and makes it advance by the given number of frames, at least 1.
func (r *Runner) step(frames int) {
	r.paused = true
	// FrameAt counts from 0, so the last of n frames has the index n-1.
	r.seekTarget = r.current.FrameAt(min(frames, maxStep) - 1)
}

// seek makes the experiment run to virtual time t without pacing. If t is in the past, a second run
// repeats it up to there, and then replaces it.
func (r *Runner) seek(ctx context.Context, t time.Duration) error {
	now := r.current.Now()
	if t < 0 || t > now+maxSeek {
		return fmt.Errorf("seek to %v is out of range; expected 0 to %v ahead", t, maxSeek)
	}
	if t < now {
		const replaces = true
		return r.lookAt(ctx, moment{at: t}, replaces)
	}
	r.seekTarget = t
	r.isJump = true
	r.limitSaved(t) // the experiment may differ from the saved one after t
	return nil
}

// endSeek ends the pending seek if its target is reached. A Command.Seek then shows a notice.
func (r *Runner) endSeek() {
	if r.seekTarget == noSeek || !r.current.Reached(r.seekTarget) {
		return
	}
	if r.isJump {
		r.notify(false, "at "+clockText(r.current.Now()))
	}
	r.seekTarget = noSeek
	r.isJump = false
}

// clockText formats a virtual time as the dashboard's clock does.
func clockText(d time.Duration) string {
	return fmt.Sprintf("%02d:%04.1f", int(d/time.Minute), (d % time.Minute).Seconds())
}
