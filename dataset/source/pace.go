package source

import (
	"math"
	"time"

	"wirelab/internal/units"
)

// MaxGap is the longest gap between two recorded frames that counts as time. A longer one is a pause of the
// recorder, or the clock was set.
const MaxGap = time.Minute

// Pace measures the mean rate of recorded frames: their number over the elapsed time. A rate from the most frequent
// gap would be wrong where frames are missing, or where several have the same time.
type Pace struct {
	gaps              int // number of gaps that were counted
	elapsed           time.Duration
	shortest, longest time.Duration
	last              time.Duration
	running           bool // last is the time of the frame before
}

// Add adds the next frame, which was recorded at the given time. A gap that is negative or exceeds MaxGap does not count.
func (p *Pace) Add(at time.Duration) {
	gap := at - p.last
	if p.running && gap >= 0 && gap <= MaxGap {
		if p.gaps == 0 {
			p.shortest = gap
		}
		p.gaps++
		p.elapsed += gap
		p.shortest, p.longest = min(p.shortest, gap), max(p.longest, gap)
	}
	p.last, p.running = at, true
}

// Break makes the gap before the next frame not count, as at a change of the map.
func (p *Pace) Break() { p.running = false }

// Hz returns the rate in frames a second, as a whole number from 1 to 1000, or assumed if no time has elapsed. It
// remarks in n if the frames are played at other times than the recorded ones.
func (p *Pace) Hz(assumed int, n *Notes) int {
	if p.elapsed == 0 {
		return assumed
	}
	rate := float64(p.gaps) / p.elapsed.Seconds()
	hz := int(max(1, min(1000, math.Round(rate))))
	isRounded := math.Abs(float64(hz)-rate) > 0.02*rate
	if p.shortest != p.longest || isRounded {
		n.Remark("frames are played evenly, %d a second; recorded were %s a second on average (%s s), with gaps of %d to %d ms",
			hz, units.Significant(rate, 4), units.Significant(p.elapsed.Seconds(), 4), p.shortest.Milliseconds(), p.longest.Milliseconds())
	}
	return hz
}
