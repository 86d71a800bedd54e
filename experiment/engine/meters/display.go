package meters

import (
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// DisplayCounts counts ticks of a receiver's display.
type DisplayCounts struct {
	Shown   int64 // ticks on which something was displayed
	Starved int64 // of Shown, ticks without a newer snapshot to interpolate to
	Freezes int64 // runs of consecutive starved ticks
	Longest int64 // ticks of the longest freeze
	Late    int64 // snapshots that arrived after their display time

	frozen int64 // ticks of the current freeze; 0 if none
}

// Tick counts a tick on which something was displayed. starved means that there was no newer snapshot to
// interpolate to; such ticks in a row are a freeze.
func (c *DisplayCounts) Tick(starved bool) {
	c.Shown++
	if !starved {
		c.frozen = 0
		return
	}
	c.Starved++
	c.frozen++
	if c.frozen == 1 {
		c.Freezes++
	}
	c.Longest = max(c.Longest, c.frozen)
}

// Add adds the counts of another display.
func (c *DisplayCounts) Add(o *DisplayCounts) {
	c.Shown += o.Shown
	c.Starved += o.Starved
	c.Freezes += o.Freezes
	c.Late += o.Late
	c.Longest = max(c.Longest, o.Longest)
}

// Figures returns the counts as figures. hz is the rate of the display.
func (c *DisplayCounts) Figures(hz float64) figures.Playout {
	p := figures.Playout{Displayed: c.Shown, Freezes: c.Freezes, Late: c.Late,
		StarvedRatio: figures.RatioFigure(float64(c.Starved), float64(c.Shown))}
	if c.Shown > 0 {
		p.LongestFreezeMS = figures.RatioFigure(float64(c.Longest)*1000, hz)
	}
	return p
}

// Display measures how smooth and how accurate a display is. The zero value is ready to use.
type Display struct {
	DisplayCounts
	Hz     float64 // rate of the display
	Errors DisplayErrors
	Units  *ErrorUnits        // of the errors of a table; nil for other data
	lagSum time.Duration      // lag behind the sender, summed over DisplayCounts.Shown
	late   quantile.Histogram // how late the late snapshots were, in microseconds
	age    quantile.Histogram // age of the displayed state, in microseconds
}

// Tick counts a tick on which something was displayed. behind is the lag of the displayed time behind
// the sender; starved is as in DisplayCounts.Tick.
func (d *Display) Tick(behind time.Duration, starved bool) {
	d.DisplayCounts.Tick(starved)
	d.lagSum += behind
}

// MarkLate counts a snapshot that arrived late. by is the time between its display time and its arrival.
func (d *Display) MarkLate(by time.Duration) {
	d.DisplayCounts.Late++
	d.late.Add(by.Microseconds())
}

// figures returns all measurements. If the display showed nothing, the quantiles are unknown. If it
// did, they are zeros if no snapshot was late or no cube had an error.
func (d *Display) figures(cubes bool) figures.Playout {
	p := d.DisplayCounts.Figures(d.Hz)
	p.LateMS = figures.QuantilesOf(&d.late, 1000).OutOf(d.Shown)
	p.ClockLagMS = figures.RatioFigure(float64(d.lagSum.Microseconds())/1000, float64(d.Shown))
	if cubes {
		um, mdeg := figures.QuantilesOf(&d.Errors.um, 1000).OutOf(d.Shown), figures.QuantilesOf(&d.Errors.mdeg, 1000).OutOf(d.Shown)
		p.PositionErrorMM, p.OrientationErrorDeg = &um, &mdeg
	}
	if d.Units != nil {
		d.Units.describe(&p)
		if d.Units.HasPositions {
			*p.PositionError = figures.QuantilesOf(&d.Errors.um, 1e6).OutOf(d.Shown)
		}
		rows := func(sum int64) *figures.Figure { return new(figures.RatioFigure(float64(sum), float64(d.Shown))) }
		p.AppearedRows, p.DisappearedRows, p.JumpedRows = rows(d.Errors.Appeared), rows(d.Errors.Disappeared), rows(d.Errors.Jumped)
		if d.Units.HasAngles {
			*p.AngleError = figures.QuantilesOf(&d.Errors.mdeg, 1e6).OutOf(d.Shown)
		}
	}
	return p
}

// ErrorUnits are the units in which errors of a table are measured: those of its schema.
type ErrorUnits struct {
	HasPositions, HasAngles bool // what the table has
	Position, Angle         string
}

// describe lists the errors in p, as unknown, with their units.
func (u *ErrorUnits) describe(p *figures.Playout) {
	p.PositionError, p.AngleError = &figures.Quantiles{}, &figures.Quantiles{}
	p.PositionErrorUnit, p.AngleErrorUnit = u.Position, u.Angle
}

// DisplayErrors measures the errors of displayed cubes, or of the positions and angles of a table, over
// all display ticks. Values at rest both on the display and in the source's frames are left out: they
// would hide the errors of the others.
type DisplayErrors struct {
	um, mdeg               quantile.Histogram // of cubes, in micrometres and in thousandths of a degree; of tables, in millionths of ErrorUnits
	largestUM, largestMdeg int64              // largest errors since takeLargest

	// Rows of tables that are left out, summed over display ticks: whose object has appeared, disappeared,
	// or jumped or changed its type, only on the display or only in the source.
	Appeared, Disappeared, Jumped int64
}

// Add adds the error of one cube, in micrometres and in thousandths of a degree.
func (e *DisplayErrors) Add(um, mdeg int64) {
	e.um.Add(um)
	e.mdeg.Add(mdeg)
	e.largestUM, e.largestMdeg = max(e.largestUM, um), max(e.largestMdeg, mdeg)
}

// AddExact adds n errors of 0.
func (e *DisplayErrors) AddExact(n int) {
	e.um.AddN(0, int64(n))
	e.mdeg.AddN(0, int64(n))
}

// AddPosition adds the error of a position of a table, in its unit. NaN, of a float that is no number,
// is not counted.
func (e *DisplayErrors) AddPosition(v float64) { addMillionths(&e.um, &e.largestUM, v) }

// AddAngle adds the error of an angle of a table, in its unit, as AddPosition does.
func (e *DisplayErrors) AddAngle(v float64) { addMillionths(&e.mdeg, &e.largestMdeg, v) }

// addMillionths adds v, 0 or more, to a histogram of millionths, and to the largest of these. Integers
// make all figures derived from them the same on every machine.
func addMillionths(h *quantile.Histogram, largest *int64, v float64) {
	const limit = 1 << 50
	if v != v {
		return
	}
	n := int64(float64(min(v, limit/1e6)*1e6) + 0.5) // + 0.5 rounds to the nearest integer
	h.Add(n)
	*largest = max(*largest, n)
}

// Count returns the number of errors added.
func (e *DisplayErrors) Count() int64 { return e.um.N }

// takeLargest returns the largest errors since the last call: of cubes in millimetres and degrees, of
// tables in thousandths of their units.
func (e *DisplayErrors) takeLargest() (mm, deg float64) {
	mm, deg = float64(e.largestUM)/1000, float64(e.largestMdeg)/1000
	e.largestUM, e.largestMdeg = 0, 0
	return mm, deg
}
