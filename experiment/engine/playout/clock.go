package playout

import "time"

// clock is the clock of the receiver's display. Snapshots arrive unevenly. The display
// delays them, so that it can move steadily from one to the next although some arrive late
// and some are lost (Fiedler, "Snapshot Interpolation", 2014).
//
// The receiver does not know the link's latency. Like jitter buffers, it estimates the
// offset of its clock as the minimum of (arrival - time of the snapshot) over the last five
// to ten seconds. The display shows what was sent offset + delay ago. When either changes,
// display time does not jump: it runs a quarter faster or slower until it is right. A longer
// delay thus shows as slow motion for a while. Display time never runs backwards, and no
// moment is shown twice. It leaps forward only if it is more than a second behind.
type clock struct {
	delay              time.Duration
	started            bool
	firstSource        time.Duration // source time of the first snapshot
	offset, lastOffset time.Duration // minimum offset in this window and in the one before
	windowEnd          time.Duration // when the current window ends

	running  bool          // something is on display
	moment   time.Duration // source time on display at the last tick
	tickedAt time.Duration // time of the last tick
}

const (
	offsetWindow   = 5 * time.Second
	maxPaceDivisor = 4           // display time runs faster or slower by at most 1/paceShare
	maxLag         = time.Second // if it is further behind than this, it leaps
)

// arrive records a decoded snapshot, and returns by how much it missed its display time; 0 if
// it is in time.
func (c *clock) arrive(now, source time.Duration) (late time.Duration) {
	offset := now - source
	if !c.started {
		c.started, c.firstSource = true, source
		c.offset, c.lastOffset, c.windowEnd = offset, offset, now+offsetWindow
		return 0
	}
	if now >= c.windowEnd {
		c.lastOffset, c.offset, c.windowEnd = c.offset, offset, now+offsetWindow
	}
	c.offset = min(c.offset, offset)
	if !c.running {
		return 0
	}
	return max(0, c.moment+(now-c.tickedAt)-source)
}

// target returns the source time that should be displayed at now.
func (c *clock) target(now time.Duration) time.Duration {
	return now - min(c.offset, c.lastOffset) - c.delay
}

// tick advances the display to now and returns the source time to show; false if there is
// nothing to show yet.
func (c *clock) tick(now time.Duration) (moment time.Duration, ok bool) {
	goal := c.target(now)
	if !c.running {
		if !c.started || goal < c.firstSource {
			return 0, false
		}
		c.running, c.moment, c.tickedAt = true, goal, now
		return goal, true
	}
	step := now - c.tickedAt
	c.moment += step
	c.tickedAt = now
	miss := goal - c.moment
	if miss > maxLag {
		c.moment = goal
	} else {
		c.moment += max(-step/maxPaceDivisor, min(miss, step/maxPaceDivisor))
	}
	return c.moment, true
}
