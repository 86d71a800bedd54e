// Package playout implements the receiver's display: a clock that delays snapshots by the playout
// delay, the interpolation between snapshots, and the comparison of the displayed cubes with the
// sender's frames.
package playout

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
)

// Display is a receiver's display: a playout clock, and a screen that shows the source time of the
// clock.
type Display struct {
	clock  clock
	screen screen
}

// Verifier reports properties of the frames in the receiver's history that only the lab can
// determine, by comparing them with the sender's.
type Verifier interface {
	// Exact reports whether the frame of packet seq is known to equal the source's.
	Exact(seq uint64) bool
}

// New returns a display of the frames of schema s in the receiver's history h.
func New(s *frame.Schema, c endpoint.Cadence, h *frame.History, v Verifier) *Display {
	return &Display{clock: newClock(Timing{}, Rhythm{}), screen: newScreen(s, c, h, v)}
}

// Set sets the playout delay or policy, the intervals for the policy, and whether positions are
// interpolated by a cubic Hermite spline instead of linearly.
func (d *Display) Set(t Timing, r Rhythm, hermite bool) {
	d.clock.set(t, r)
	d.screen.hermite = hermite
}

// StartAt sets the source time at which the display of a lane that joins a running session begins.
func (d *Display) StartAt(moment time.Duration) { d.clock.moment = moment }

// Interpolates reports whether the display interpolates anything, so that its errors are measured.
func (d *Display) Interpolates() bool { return d.screen.interpolates() }

// ErrorUnits returns the units of the errors that the display measures for a table; nil for other data,
// and for tables of which it interpolates nothing.
func (d *Display) ErrorUnits() *meters.ErrorUnits {
	if d.screen.columns == nil {
		return nil
	}
	return d.screen.columns.Units()
}

// Moment returns the source time that was displayed last.
func (d *Display) Moment() time.Duration { return d.clock.moment }

// Arrive records that packet seq was decoded at now. It returns how long after its display time the
// snapshot arrived; 0 if it arrived in time.
func (d *Display) Arrive(now time.Duration, seq uint64) (late time.Duration) {
	c := &d.screen.cadence
	return d.clock.arrive(now, c.TickTime(c.Tick(seq)))
}

// tick is the result of one tick of a display.
type tick struct {
	Behind  time.Duration // lag of the displayed time behind the sender
	Starved bool          // there is no snapshot to interpolate to
	Showing bool          // a frame or an interpolated state is displayed
	Age     time.Duration // time since the sender captured the displayed state; undefined unless Showing
}

// Tick runs one tick of the display at now. It returns false if there is nothing to display yet. It adds
// the errors of the displayed cubes, positions and angles to e, if t has the source's frames of the
// displayed time. Both t and e may be nil if the display interpolates nothing.
func (d *Display) Tick(now time.Duration, t *Truths, e *meters.DisplayErrors) (tick, bool) {
	moment, ok := d.clock.tick(now)
	if !ok {
		return tick{}, false
	}
	x := &d.screen
	starved := x.show(moment, t, e)
	return tick{Behind: now - moment, Starved: starved, Showing: x.hasState, Age: now - x.capturedAt}, true
}

// Counter counts the ticks of a display that shows nothing. The receiver on another machine uses it:
// there is no truth to compare with there.
type Counter struct {
	display *Display
	meter   meters.Display
}

// NewCounter returns a Counter for a receiver with history h and cadence c. An empty schema makes its display
// interpolate nothing.
func NewCounter(c endpoint.Cadence, h *frame.History) *Counter {
	return &Counter{display: New(&frame.Schema{}, c, h, nil)}
}

// Set sets the playout delay or policy, and the intervals for the policy.
func (c *Counter) Set(t Timing, r Rhythm) { c.display.clock.set(t, r) }

// Arrive records that packet seq was decoded at now.
func (c *Counter) Arrive(now time.Duration, seq uint64) {
	if late := c.display.Arrive(now, seq); late > 0 {
		c.meter.MarkLate(late)
	}
}

// Tick runs one tick of the display.
func (c *Counter) Tick(now time.Duration) {
	if t, ok := c.display.Tick(now, nil, nil); ok {
		c.meter.Tick(t.Behind, t.Starved)
	}
}

// Counts returns the counts so far.
func (c *Counter) Counts() meters.DisplayCounts { return c.meter.DisplayCounts }
