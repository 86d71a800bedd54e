package ui

import (
	"time"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/meters"
)

// crosshairSteps is the number of steps of the crosshair over the time that the charts show.
const crosshairSteps = 60

// moveCrosshair moves the crosshair by a number of steps; without a crosshair it starts at the newest sample.
func (m *dashboard) moveCrosshair(steps int) room.Request {
	span := m.page().Span()
	if span == 0 {
		return room.Request{Notice: "this page has no charts for a crosshair"}
	}
	at := m.shownCrosshair()
	if at == 0 {
		at = m.lab.Shown().Now
	}
	step := max((span / crosshairSteps).Truncate(meters.SamplePeriod), meters.SamplePeriod)
	return m.setCrosshair(at + time.Duration(steps)*step)
}

// setCrosshair moves the crosshair to time t or, if no sample of that time is stored, to the nearest that is.
func (m *dashboard) setCrosshair(t time.Duration) room.Request {
	var first, last time.Duration // of the samples
	switch snap := m.lab.Shown(); {
	case snap.Crowd != nil && len(snap.Crowd.Samples) > 0:
		samples := snap.Crowd.Samples
		first, last = samples[0].T, samples[len(samples)-1].T
	case len(snap.Lanes) > 0 && len(snap.Lanes[0].Samples) > 0:
		samples := snap.Lanes[0].Samples
		first, last = samples[0].T, samples[len(samples)-1].T
	default:
		return room.Refusal("there are no samples yet")
	}
	m.crosshair = min(max(t.Truncate(meters.SamplePeriod), first), last)
	return room.Request{}
}

// shownCrosshair returns the time of the crosshair, 0 without a crosshair or if the shown state ends before it.
func (m *dashboard) shownCrosshair() time.Duration {
	if m.crosshair > m.lab.Shown().Now {
		return 0
	}
	return m.crosshair
}
