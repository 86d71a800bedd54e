package meters

import (
	"slices"
	"time"

	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// LinkStretch is what the link to the receiver was set to over a stretch of time, and what it
// did to the packets sent then: whether they arrived, and when. Copies do not count.
type LinkStretch struct {
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

// link measures what the link does, separately for each of its settings. It keeps the newest
// stretches, since dragging a slider makes many. The zero value is ready.
type link struct {
	stretches []LinkStretch
	evicted   int // stretches that are no longer kept
	spec      lossmodel.Spec
	changed   bool // since the newest stretch began
}

const maxStretches = 32

// SetSpec notes what the link is set to from now on.
func (m *link) SetSpec(spec lossmodel.Spec) {
	if spec != m.spec || len(m.stretches) == 0 {
		m.spec, m.changed = spec, true
	}
}

// CountSent counts a packet and returns the number of its stretch.
func (m *link) CountSent(now time.Duration, v *lossmodel.Verdict) (stretch int) {
	i := m.currentStretch(now, v.Fragments)
	s := &m.stretches[i]
	s.Sent++
	if v.Lost != lossmodel.None {
		s.Lost++
	}
	if v.Lost == lossmodel.Queue {
		s.Queue++
	}
	return m.evicted + i
}

// currentStretch returns the index of the present stretch for packets of n fragments.
func (m *link) currentStretch(now time.Duration, n int) int {
	if !m.changed {
		for i := len(m.stretches) - 1; i >= 0 && m.stretches[i].Down == m.spec; i-- {
			if m.stretches[i].Fragments == n {
				return i
			}
		}
	}
	m.changed = false
	if len(m.stretches) == maxStretches {
		m.stretches = slices.Delete(m.stretches, 0, 1)
		m.evicted++
	}
	m.stretches = append(m.stretches, LinkStretch{Down: m.spec, Fragments: n, From: now})
	return len(m.stretches) - 1
}

// CountArrival counts an arrival of a packet of a stretch.
func (m *link) CountArrival(stretch int, now time.Duration, r *packetlog.Record) {
	i := stretch - m.evicted
	if i < 0 {
		return
	}
	s := &m.stretches[i]
	s.Arrived++
	s.Took += now - r.Sent
	s.Bits += int64(r.Wire) * 8
	s.Until = now
}

// Stretches returns a copy of the stretches kept, oldest first.
func (m *link) Stretches() []LinkStretch { return slices.Clone(m.stretches) }
