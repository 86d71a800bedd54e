package engine

import (
	"time"

	"wirelab/lossmodel"
)

// Asked is what the link to the receiver was asked for over a stretch of time, and what became of
// the packets sent then. Copies do not count. It is told from the fates of the packets: whether
// they arrived, and when.
type Asked struct {
	Down        lossmodel.Spec // as configured
	Fragments   int            // of each packet, as IP cuts it
	Sent        int64
	Lost        int64 // by any cause
	Queue       int64 // of those, in the queue of the bottleneck
	Arrived     int64
	Took        time.Duration // summed over those that arrived
	Bits        int64         // of those that arrived, on the wire
	From, Until time.Duration // the first was sent, the last one arrived
}

// askedMeter counts what the link was asked for and what it did. It keeps the newest stretches:
// whoever drags a slider makes many.
type askedMeter struct {
	parts   []Asked
	dropped int // stretches that are kept no more
	spec    lossmodel.Spec
	changed bool
}

const maxAsked = 32

// ask notes what the link is asked for from now on.
func (m *askedMeter) ask(spec lossmodel.Spec) {
	if spec != m.spec || len(m.parts) == 0 {
		m.spec, m.changed = spec, true
	}
}

// leave counts a packet and returns the number of its stretch.
func (m *askedMeter) leave(now time.Duration, v *lossmodel.Verdict) int {
	at := m.part(now, v.Fragments)
	p := &m.parts[at]
	p.Sent++
	if v.Lost != lossmodel.None {
		p.Lost++
	}
	if v.Lost == lossmodel.Queue {
		p.Queue++
	}
	return m.dropped + at
}

// part returns the present stretch for packets of so many fragments.
func (m *askedMeter) part(now time.Duration, fragments int) int {
	if !m.changed {
		for i := len(m.parts) - 1; i >= 0 && m.parts[i].Down == m.spec; i-- {
			if m.parts[i].Fragments == fragments {
				return i
			}
		}
	}
	m.changed = false
	if len(m.parts) == maxAsked {
		m.parts = append(m.parts[:0], m.parts[1:]...)
		m.dropped++
	}
	m.parts = append(m.parts, Asked{Down: m.spec, Fragments: fragments, From: now})
	return len(m.parts) - 1
}

// arrive counts an arrival of a packet of a stretch.
func (m *askedMeter) arrive(stretch int, now time.Duration, rec *PacketRecord) {
	if stretch -= m.dropped; stretch < 0 {
		return
	}
	p := &m.parts[stretch]
	p.Arrived++
	p.Took += now - rec.Sent
	p.Bits += int64(rec.Wire) * 8
	p.Until = now
}
