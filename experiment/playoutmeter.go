package experiment

import "time"

// playoutMeter counts how a display fares.
type playoutMeter struct {
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

// totals returns what was counted, on a display of hz.
func (m *playoutMeter) totals(hz int, cubes bool) Playout {
	p := Playout{
		StarvedRatio: ratio(float64(m.starved), float64(m.shown)), Late: m.late.sum,
		Displayed: m.shown, Freezes: m.freezes, LongestFreezeMS: float64(m.longest) * 1000 / float64(hz),
		LateMS: m.late.thousandths(), BehindMS: ratio(float64(m.behind.Microseconds())/1000, float64(m.shown)),
	}
	if cubes {
		um, mdeg := m.off.um.thousandths(), m.off.mdeg.thousandths()
		p.PositionErrorMM, p.OrientationErrorDeg = &um, &mdeg
	}
	return p
}
