package meters

import (
	"slices"
	"time"

	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// LinkStretch contains the settings of the downlink during a stretch of time, and measurements of the
// packets sent in it that had the same number of IP fragments. Copies made by the link do not count.
type LinkStretch struct {
	Down        lossmodel.Spec // as configured
	Fragments   int            // IP fragments of each packet
	Sent        int64          // packets
	Lost        int64          // packets lost, by any cause
	Queue       int64          // of Lost, those dropped by the full queue of the bottleneck
	Arrived     int64
	Took        time.Duration // one-way delay, summed over Arrived
	Bits        int64         // wire bits, summed over Arrived
	From, Until time.Duration // when the first packet was sent; when the last one arrived
}

// link measures the downlink, separately for each of its settings. It stores only the newest
// stretches, since dragging a slider makes many. The zero value is ready to use.
type link struct {
	stretches []LinkStretch // oldest first
	evicted   int           // stretches that are no longer stored
	spec      lossmodel.Spec
	changed   bool // spec was set since the newest stretch began
}

// maxStretches is the maximum number of stretches that are stored.
const maxStretches = 32

// SetSpec sets the settings of the link from now on.
func (m *link) SetSpec(spec lossmodel.Spec) {
	if spec != m.spec || len(m.stretches) == 0 {
		m.spec, m.changed = spec, true
	}
}

// CountSent counts a packet sent at now under its stretch: packets with equal settings of the link and
// equally many IP fragments. It returns the number of the stretch for CountArrival; the count of evicted
// stretches is part of it, so that it stays valid when older stretches are evicted.
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

// currentStretch returns the index of the stretch of the current settings for packets of the given number
// of IP fragments. It begins one if none exists or the settings were changed. Stretches with the same
// settings are adjacent.
func (m *link) currentStretch(now time.Duration, fragments int) int {
	if !m.changed {
		for i := len(m.stretches) - 1; i >= 0 && m.stretches[i].Down == m.spec; i-- {
			if m.stretches[i].Fragments == fragments {
				return i
			}
		}
	}
	m.changed = false
	if len(m.stretches) == maxStretches {
		m.stretches = slices.Delete(m.stretches, 0, 1)
		m.evicted++
	}
	m.stretches = append(m.stretches, LinkStretch{Down: m.spec, Fragments: fragments, From: now})
	return len(m.stretches) - 1
}

// CountArrival counts the arrival of packet r at now. stretch is the result of CountSent. It does
// nothing if that stretch is no longer stored.
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

// CountDropped counts a packet that was dropped by the queue after it was sent. stretch is the result of
// CountSent.
func (m *link) CountDropped(stretch int) {
	if i := stretch - m.evicted; i >= 0 {
		m.stretches[i].Lost++
		m.stretches[i].Queue++
	}
}

// Stretches returns a copy of the stored stretches, oldest first.
func (m *link) Stretches() []LinkStretch { return slices.Clone(m.stretches) }
