package playout

import "time"

// clock is the playout clock of the receiver's display. Snapshots arrive at uneven intervals, and
// some are lost. The display delays them, so that it can move steadily from one to the next
// (Fiedler, "Snapshot Interpolation", 2014). An estimator chooses the delay.
//
// When the estimator's target changes, the displayed time does not jump: it runs faster or slower, with
// a fixed delay by a quarter, until it is right, so a longer delay appears as slow motion for a while.
// The displayed time never goes back. It jumps forward only if it is more than maxLag behind.
type clock struct {
	timing      Timing
	rhythm      Rhythm
	estimator   estimator
	pace        pace
	started     bool          // a snapshot has arrived
	fresh       bool          // the estimator has not seen an arrival yet
	firstSource time.Duration // source time of the first snapshot
	follower
}

// follower is a displayed time that follows a target.
type follower struct {
	running  bool          // the display has begun
	moment   time.Duration // displayed source time at the last tick
	tickedAt time.Duration // time of the last tick
}

// maxLag is the lag from which on the displayed time jumps forward.
const maxLag = time.Second

// newClock returns a clock that has seen no arrivals.
func newClock(t Timing, r Rhythm) clock {
	c := clock{timing: t, rhythm: r, fresh: true}
	c.estimator, c.pace = newEstimator(t, r)
	return c
}

// set changes the timing, or the intervals r for which the policy is configured. If the old and the new
// timing are fixed delays, the estimate of the clock offset is kept. Otherwise a new estimator begins
// with the next arrival, and until then the display runs at normal speed.
func (c *clock) set(t Timing, r Rhythm) {
	usesRhythm := !t.IsFixed()
	if t == c.timing && (r == c.rhythm || !usesRhythm) {
		return
	}
	fixed, wasFixed := c.estimator.(*fixedDelay)
	c.timing = t
	c.rhythm = r
	if wasFixed && t.IsFixed() {
		fixed.delay = t.Delay
		return
	}
	c.estimator, c.pace = newEstimator(t, r)
	c.fresh = true
}

// arrive records a snapshot with source time source that was decoded at now. It returns how long
// after its display time the snapshot arrived; 0 if it arrived in time.
func (c *clock) arrive(now, source time.Duration) (late time.Duration) {
	if !c.started {
		c.started, c.firstSource = true, source
	}
	c.fresh = false
	c.estimator.arrive(now, source)
	return c.lateness(now, source)
}

// tick advances the displayed time by the time since the last tick, corrected towards the target, and
// returns it; false if there is nothing to display yet: the display begins with the first snapshot.
func (c *clock) tick(now time.Duration) (moment time.Duration, ok bool) {
	if !c.started {
		return 0, false
	}
	goal := c.moment + (now - c.tickedAt)
	if !c.fresh {
		goal = c.estimator.target(now)
	}
	return c.follow(now, goal, c.firstSource, c.pace)
}

// lateness returns how long after its display time a snapshot with source time source arrived at now; 0
// if it arrived in time.
func (f *follower) lateness(now, source time.Duration) time.Duration {
	if !f.running {
		return 0
	}
	displayed := f.moment + (now - f.tickedAt) // the display has advanced since its last tick
	return max(0, displayed-source)
}

// follow advances the displayed time to now, towards goal. The display begins when goal reaches first;
// before, follow returns false.
func (f *follower) follow(now, goal, first time.Duration, p pace) (moment time.Duration, ok bool) {
	if !f.running {
		if goal < first { // the playout delay has not passed
			return 0, false
		}
		f.running, f.moment, f.tickedAt = true, goal, now
		return goal, true
	}
	step := now - f.tickedAt
	before := f.moment
	f.moment += step
	f.tickedAt = now
	switch lag := goal - f.moment; { // negative if the displayed time is ahead
	case p.direct:
		f.moment = max(goal, before)
	case lag > maxLag:
		f.moment = goal
	case lag > p.deadband || lag < -p.deadband:
		change := step * p.ppm / 1e6
		f.moment += max(-change, min(lag, change))
	}
	return f.moment, true
}

// FixedClock is the playout clock of a display with a fixed playout delay. It has 80 bytes, without the
// state that policies need. The zero FixedClock has seen no arrivals.
type FixedClock struct {
	offsets     fixedDelay // its delay is not used
	firstSource time.Duration
	follower
}

// Arrive records a snapshot with source time source that was decoded at now. It returns how long after
// its display time the snapshot arrived; 0 if it arrived in time.
func (c *FixedClock) Arrive(now, source time.Duration) (late time.Duration) {
	if !c.offsets.offset.Any {
		c.firstSource = source
	}
	c.offsets.arrive(now, source)
	return c.lateness(now, source)
}

// Tick advances the displayed time to now and returns it, for a display with the given playout delay;
// false if there is nothing to display yet.
func (c *FixedClock) Tick(now, delay time.Duration) (moment time.Duration, ok bool) {
	if !c.offsets.offset.Any {
		return 0, false
	}
	return c.follow(now, c.offsets.target(now)-delay, c.firstSource, fixedPace)
}
