// Package playout is the receiver's display: the clock that holds snapshots back, the
// interpolation between them, and, in the lab, the comparison with the truth of the moment
// that is shown.
package playout

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
)

// Display is a receiver's display: a playout clock and what it shows.
type Display struct {
	clock  clock
	screen screen
}

// Verifier reports what the lab knows of the frames in the receiver's history. Receivers
// cannot know it.
type Verifier interface {
	// Tainted reports whether the frame of packet seq depends on damaged bytes. It is not shown.
	Tainted(seq uint64) bool
	// Exact reports whether the frame of packet seq is known to equal the source's.
	Exact(seq uint64) bool
}

// New returns a display of the frames of schema s in a receiver's history. withPicture: it
// computes the place of every cube and not only of those that may be in error.
func New(s *frame.Schema, c endpoint.Cadence, h *frame.History, v Verifier, withPicture bool) *Display {
	return &Display{screen: newScreen(s, c, h, v, withPicture)}
}

// Set sets how long the display holds snapshots back, and whether positions follow a cubic
// Hermite spline instead of straight lines.
func (d *Display) Set(delay time.Duration, hermite bool) {
	d.clock.delay, d.screen.hermite = delay, hermite
}

// StartAt makes the display begin at moment: nothing older is shown.
func (d *Display) StartAt(moment time.Duration) { d.clock.moment = moment }

// Moment returns the source time that was shown last.
func (d *Display) Moment() time.Duration { return d.clock.moment }

// Arrive notes that packet seq was decoded at now. It returns by how much the snapshot missed
// its display time; 0 if it is in time.
func (d *Display) Arrive(now time.Duration, seq uint64) (late time.Duration) {
	c := &d.screen.cadence
	return d.clock.arrive(now, c.TickTime(c.Tick(seq)))
}

// tick is one tick of a display.
type tick struct {
	Behind  time.Duration // how far the moment shown lags the sender
	Starved bool          // there is no snapshot to interpolate to
	Showing bool          // a state is on display
	Age     time.Duration // of that state, since its sender captured it
}

// Tick runs one tick; false if there is nothing to show yet. Where the truth is known, it adds
// the errors of the cubes on display to e. Both t and e may be nil if the data are no cubes.
func (d *Display) Tick(now time.Duration, t *Truths, e *meters.DisplayErrors) (tick, bool) {
	moment, ok := d.clock.tick(now)
	if !ok {
		return tick{}, false
	}
	x := &d.screen
	starved := x.show(moment, t, e)
	return tick{Behind: now - moment, Starved: starved, Showing: x.hasState, Age: now - x.capturedAt}, true
}

// Counter is a display of which only the ticks count, for a receiver on another machine.
type Counter struct {
	display *Display
	meter   meters.Display
}

// NewCounter returns the display of a receiver with that history.
func NewCounter(c endpoint.Cadence, h *frame.History) *Counter {
	return &Counter{display: New(&frame.Schema{}, c, h, unverified{}, false)}
}

// unverified is the Verifier of a receiver without a lab.
type unverified struct{}

func (unverified) Tainted(uint64) bool { return false }
func (unverified) Exact(uint64) bool   { return false }

// SetDelay sets how long the display holds snapshots back.
func (c *Counter) SetDelay(d time.Duration) { c.display.clock.delay = d }

// Arrive notes that packet seq was decoded at now.
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

// Counts returns what was counted so far.
func (c *Counter) Counts() meters.DisplayCounts { return c.meter.DisplayCounts }
