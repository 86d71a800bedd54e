package engine

import (
	"time"

	"wirelab/experiment/figures"
)

// playout is the clock of the receiver's display. Snapshots arrive unevenly; the
// display holds them back by a delay, so that it can move steadily from one to
// the next although some come late and some not at all (Fiedler, "Snapshot
// Interpolation", 2014).
//
// The receiver does not know the link's latency. It estimates the offset of its
// clock as the least of (arrival - time of the snapshot) over the last five to
// ten seconds, as jitter buffers do, and wants to show what was sent offset +
// delay ago. When either changes, display time does not jump there: it runs a
// quarter faster or slower until it is where it should be. A person who turns
// the delay up sees the world in slow motion for a while, one who turns it down
// sees it hurry; it never runs backwards, and nothing is shown twice. Only where
// it is more than a second behind it leaps forward.
type playout struct {
	delay              time.Duration
	started            bool
	first              time.Duration // source time of the first snapshot
	offset, lastOffset time.Duration // least offset in this window and in the one before
	windowEnd          time.Duration // when the next window begins

	running bool          // something is on display
	moment  time.Duration // source time on display at the last tick
	ticked  time.Duration // when that was
}

const (
	offsetWindow = 5 * time.Second
	paceShare    = 4           // display time strays from real time by at most this part of it
	leapAfter    = time.Second // further behind than this, it leaps
)

// arrive notes a decoded snapshot and returns by how much it came too late to be
// shown at its time, 0 if it did not.
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

// goal returns the source time that should be on display at now.
func (p *playout) goal(now time.Duration) time.Duration {
	return now - min(p.offset, p.lastOffset) - p.delay
}

// tick advances the display to now and returns the source time to show; false as
// long as there is nothing to show yet.
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

// playoutMeter counts how a display fares.
type playoutMeter struct {
	hz             float64 // of the display
	shown, starved int64
	freezes        int64         // runs of starved ticks
	frozen         int64         // ticks of the run under way
	longest        int64         // ticks
	behind         time.Duration // sum over shown
	late           spread        // microseconds
	off            offMeter
}

// offMeter is how far what is shown is off the truth, over every tick and every
// cube that moves in either: those that lie still in both are right, and would
// drown the others.
type offMeter struct {
	um, mdeg   spread
	worst      int64 // of the sample under way
	worstAngle int64
}

func (m *offMeter) add(um, mdeg int64) {
	m.um.add(um)
	m.mdeg.add(mdeg)
	m.worst, m.worstAngle = max(m.worst, um), max(m.worstAngle, mdeg)
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
