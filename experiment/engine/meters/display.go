package meters

import (
	"time"

	"wirelab/experiment/figures"
)

// DisplayCounts counts ticks of a receiver's display.
type DisplayCounts struct {
	Shown   int64 // ticks on which something was shown
	Starved int64 // ticks without a newer snapshot to interpolate to
	Freezes int64 // runs of starved ticks
	Longest int64 // ticks of the longest of them
	Late    int64 // snapshots that arrived after their display time
}

// figures returns the counts as figures, for a display that runs at hz.
func (c *DisplayCounts) figures(hz float64) figures.Playout {
	p := figures.Playout{Displayed: c.Shown, Freezes: c.Freezes, Late: c.Late,
		StarvedRatio: figures.RatioOf(float64(c.Starved), float64(c.Shown))}
	if c.Shown > 0 {
		p.LongestFreezeMS = figures.RatioOf(float64(c.Longest)*1000, hz)
	}
	return p
}

// Display measures how smooth and how accurate a display is. The zero value is ready.
type Display struct {
	DisplayCounts
	Hz          float64 // rate of the display
	Errors      DisplayErrors
	frozenTicks int64         // ticks of the current freeze
	lagSum      time.Duration // lag behind the sender, summed over DisplayCounts.Shown
	late        histogram     // by how much snapshots were late, in microseconds
	age         histogram     // of what was shown, in microseconds
}

// Tick counts a tick on which something was shown that lags the sender by behind.
func (d *Display) Tick(behind time.Duration, starved bool) {
	d.Shown++
	d.lagSum += behind
	if !starved {
		d.frozenTicks = 0
		return
	}
	d.Starved++
	d.frozenTicks++
	if d.frozenTicks == 1 {
		d.Freezes++
	}
	d.Longest = max(d.Longest, d.frozenTicks)
}

// MarkLate counts a snapshot that arrived after its display time.
func (d *Display) MarkLate(by time.Duration) {
	d.DisplayCounts.Late++
	d.late.add(by.Microseconds())
}

// figures returns all that was measured. Of a display that showed nothing, the quantiles are
// unknown; of one that did, they are zeros if nothing was late and no cube in error.
func (d *Display) figures(cubes bool) figures.Playout {
	p := d.DisplayCounts.figures(d.Hz)
	p.LateMS = d.late.thousandths().Among(d.Shown)
	p.BehindMS = figures.RatioOf(float64(d.lagSum.Microseconds())/1000, float64(d.Shown))
	if cubes {
		um, mdeg := d.Errors.um.thousandths().Among(d.Shown), d.Errors.mdeg.thousandths().Among(d.Shown)
		p.PositionErrorMM, p.OrientationErrorDeg = &um, &mdeg
	}
	return p
}

// DisplayErrors measures the display errors over all ticks and all cubes that move on the
// display or in the truth. Cubes at rest in both are always right and would hide the errors
// of the others.
type DisplayErrors struct {
	um, mdeg               histogram // micrometres, thousandths of a degree
	largestUM, largestMdeg int64     // of the current sample
}

// Add adds the error of one cube, in micrometres and in thousandths of a degree.
func (e *DisplayErrors) Add(um, mdeg int64) {
	e.um.add(um)
	e.mdeg.add(mdeg)
	e.largestUM, e.largestMdeg = max(e.largestUM, um), max(e.largestMdeg, mdeg)
}

// AddExact adds n cubes without error.
func (e *DisplayErrors) AddExact(n int) {
	e.um.addZeros(n)
	e.mdeg.addZeros(n)
}

// Count returns how many errors were added.
func (e *DisplayErrors) Count() int64 { return e.um.n }

// takeLargest returns the largest errors since the last call, in millimetres and degrees.
func (e *DisplayErrors) takeLargest() (mm, deg float64) {
	mm, deg = float64(e.largestUM)/1000, float64(e.largestMdeg)/1000
	e.largestUM, e.largestMdeg = 0, 0
	return mm, deg
}
