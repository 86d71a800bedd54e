package engine

import (
	"time"

	"wirelab/experiment/figures"
)

// playout is the clock of the receiver's display. Snapshots arrive unevenly. The
// display delays them, so that it can move steadily from one to the next although
// some arrive late and some are lost (Fiedler, "Snapshot Interpolation", 2014).
//
// The receiver does not know the link's latency. Like jitter buffers, it estimates
// the offset of its clock as the minimum of (arrival - time of the snapshot) over the
// last five to ten seconds. The display shows what was sent offset + delay ago. When
// either changes, display time does not jump: it runs a quarter faster or slower
// until it is right. A longer delay thus shows as slow motion for a while. Display
// time never runs backwards, and nothing is shown twice. It leaps forward only if it
// is more than a second behind.
type playout struct {
	delay              time.Duration
	started            bool
	first              time.Duration // source time of the first snapshot
	offset, lastOffset time.Duration // minimum offset in this window and in the one before
	windowEnd          time.Duration // when the current window ends

	running bool          // something is on display
	moment  time.Duration // source time on display at the last tick
	ticked  time.Duration // time of the last tick
}

const (
	offsetWindow = 5 * time.Second
	paceShare    = 4           // display time runs faster or slower by at most 1/paceShare
	leapAfter    = time.Second // if it is further behind than this, it leaps
)

// arrive records a decoded snapshot, and returns by how much it missed its display
// time; 0 if it is in time.
func (p *playout) arrive(now, source time.Duration) (late time.Duration) {
	offset := now - source
	if !p.started {
		p.started, p.first, p.offset, p.lastOffset, p.windowEnd = true, source, offset, offset, now+offsetWindow
		return 0
	}
	if now >= p.windowEnd {
		p.lastOffset, p.offset, p.windowEnd = p.offset, offset, now+offsetWindow
	}
	p.offset = min(p.offset, offset)
	if !p.running {
		return 0
	}
	return max(0, p.moment+(now-p.ticked)-source)
}

// goal returns the source time that should be displayed at now.
func (p *playout) goal(now time.Duration) time.Duration {
	return now - min(p.offset, p.lastOffset) - p.delay
}

// tick advances the display to now and returns the source time to show; false if
// there is nothing to show yet.
func (p *playout) tick(now time.Duration) (moment time.Duration, shown bool) {
	goal := p.goal(now)
	if !p.running {
		if !p.started || goal < p.first {
			return 0, false
		}
		p.running, p.moment, p.ticked = true, goal, now
		return goal, true
	}
	step := now - p.ticked
	p.moment += step
	p.ticked = now
	switch miss := goal - p.moment; {
	case miss > leapAfter:
		p.moment = goal
	default:
		p.moment += max(-step/paceShare, min(miss, step/paceShare))
	}
	return p.moment, true
}

// playoutMeter measures how smooth and how accurate a display is.
type playoutMeter struct {
	hz             float64 // rate of the display
	shown, starved int64
	freezes        int64         // runs of starved ticks
	frozen         int64         // ticks of the current freeze
	longest        int64         // ticks of the longest freeze
	behind         time.Duration // summed over shown
	late           spread        // microseconds
	age            spread        // of what was shown, in microseconds
	off            offMeter
}

// offMeter measures the display errors over all ticks and all cubes that move on the
// display or in the truth. Cubes at rest in both are always right and would hide the
// errors of the others.
type offMeter struct {
	um, mdeg   spread
	worst      int64 // of the current sample
	worstAngle int64
}

func (m *offMeter) add(um, mdeg int64) {
	m.um.add(um)
	m.mdeg.add(mdeg)
	m.worst, m.worstAngle = max(m.worst, um), max(m.worstAngle, mdeg)
}

// addRight adds n cubes that are where they should be.
func (m *offMeter) addRight(n int) {
	m.um.addZeros(n)
	m.mdeg.addZeros(n)
}

// display counts a tick on which something was shown.
func (m *playoutMeter) display(behind time.Duration, starved bool) {
	m.shown++
	m.behind += behind
	if !starved {
		m.frozen = 0
		return
	}
	m.starved++
	if m.frozen++; m.frozen == 1 {
		m.freezes++
	}
	m.longest = max(m.longest, m.frozen)
}

// totals returns what was counted. Nothing is known of a display that showed nothing; of
// one that did, none late and none off are zeros.
func (m *playoutMeter) totals(cubes bool) figures.Playout {
	p := figures.Playout{
		StarvedRatio: figures.RatioOf(float64(m.starved), float64(m.shown)), Late: m.late.sum,
		Displayed: m.shown, Freezes: m.freezes, LateMS: m.late.thousandths().Among(m.shown),
		BehindMS: figures.RatioOf(float64(m.behind.Microseconds())/1000, float64(m.shown)),
	}
	if m.shown > 0 {
		p.LongestFreezeMS = figures.RatioOf(float64(m.longest)*1000, m.hz)
	}
	if cubes {
		um, mdeg := m.off.um.thousandths().Among(m.shown), m.off.mdeg.thousandths().Among(m.shown)
		p.PositionErrorMM, p.OrientationErrorDeg = &um, &mdeg
	}
	return p
}
