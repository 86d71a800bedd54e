package playout

import "time"

// clock is the playout clock of the receiver's display. Snapshots arrive at uneven intervals, and
// some are lost. The display delays them, so that it can move steadily from one to the next
// (Fiedler, "Snapshot Interpolation", 2014).
//
// The receiver cannot measure the link's latency. Like a jitter buffer, it estimates the offset of
// its clock as the minimum of (arrival time - source time) over the last five to ten seconds. The
// display shows the source time now - offset - delay. When offset or delay changes, the displayed
// time does not jump: it runs a quarter faster or slower until it is right, so a longer delay appears
// as slow motion for a while. The displayed time always advances. It jumps forward only if it is more
// than maxLag behind.
type clock struct {
	delay              time.Duration // playout delay
	started            bool          // a snapshot has arrived
	firstSource        time.Duration // source time of the first snapshot
	offset, lastOffset time.Duration // minimum offset in the current window and in the one before
	windowEnd          time.Duration // when the current window ends

	running  bool          // the display has begun
	moment   time.Duration // displayed source time at the last tick
	tickedAt time.Duration // time of the last tick
}

const (
	offsetWindow   = 5 * time.Second
	maxPaceDivisor = 4           // the displayed time runs faster or slower by at most 1/maxPaceDivisor
	maxLag         = time.Second // if the displayed time is further behind, it jumps forward
)

// arrive records a snapshot with source time source that was decoded at now. It returns how long
// after its display time the snapshot arrived; 0 if it arrived in time.
func (c *clock) arrive(now, source time.Duration) (late time.Duration) {
	offset := now - source // of the receiver's clock, plus the latency of this snapshot
	if !c.started {
		c.started, c.firstSource = true, source
		c.offset, c.lastOffset, c.windowEnd = offset, offset, now+offsetWindow
		return 0
	}
	if now >= c.windowEnd { // begin a window: the smallest offset of the last one is kept in lastOffset
		c.lastOffset, c.offset, c.windowEnd = c.offset, offset, now+offsetWindow
	}
	c.offset = min(c.offset, offset)
	if !c.running {
		return 0
	}
	displayed := c.moment + (now - c.tickedAt) // the display has advanced since its last tick
	return max(0, displayed-source)
}

// target returns the source time that the display should show at now.
func (c *clock) target(now time.Duration) time.Duration {
	return now - min(c.offset, c.lastOffset) - c.delay
}

// tick advances the displayed time by the time since the last tick, corrected towards the target, and
// returns it; false if there is nothing to display yet: the display begins with the first snapshot.
func (c *clock) tick(now time.Duration) (moment time.Duration, ok bool) {
	goal := c.target(now)
	if !c.running {
		if !c.started || goal < c.firstSource { // nothing arrived, or the playout delay has not passed
			return 0, false
		}
		c.running, c.moment, c.tickedAt = true, goal, now
		return goal, true
	}
	step := now - c.tickedAt
	c.moment += step
	c.tickedAt = now
	lag := goal - c.moment // negative if the displayed time is ahead
	if lag > maxLag {
		c.moment = goal
	} else {
		c.moment += max(-step/maxPaceDivisor, min(lag, step/maxPaceDivisor))
	}
	return c.moment, true
}
