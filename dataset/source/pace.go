package source

import (
	"fmt"
	"math"
	"time"

	"wirelab/internal/units"
	"wirelab/internal/words"
)

// MaxGap is the longest pause between two frames that are played at their recorded times. Longer ones are shortened to
// it.
const MaxGap = time.Minute

// maxPaceGap is the longest gap between two recorded frames that counts for their rate. A longer one is a pause, or the
// clock was set.
const maxPaceGap = 5 * time.Second

// Pace measures the mean rate of recorded frames: their number over the elapsed time. A rate from the most frequent
// gap would be wrong where frames are missing, or where several have the same time.
type Pace struct {
	gaps              int // number of gaps that were counted
	elapsed           time.Duration
	shortest, longest time.Duration
	last              time.Duration
	running           bool // last is the time of the frame before
	fell              bool // the gap before was negative
	pauses            int  // number of gaps over maxPaceGap
}

// Add adds the next frame, which was recorded at the given time.
func (p *Pace) Add(at time.Duration) {
	if p.running {
		p.AddGap(at - p.last)
	}
	p.last, p.running = at, true
}

// AddGap adds the time between two frames. It does not count if it is negative or exceeds maxPaceGap. Nor does one after a
// negative gap, because it may be the way back from a frame that is out of order.
func (p *Pace) AddGap(gap time.Duration) {
	isAfterFall := p.fell
	p.fell = gap < 0
	if gap > maxPaceGap {
		p.pauses++
	}
	if gap < 0 || gap > maxPaceGap || isAfterFall {
		return
	}
	if p.gaps == 0 {
		p.shortest = gap
	}
	p.gaps++
	p.elapsed += gap
	p.shortest, p.longest = min(p.shortest, gap), max(p.longest, gap)
}

// Mean returns the mean gap; 0 if none was counted.
func (p *Pace) Mean() time.Duration { return p.elapsed / time.Duration(max(p.gaps, 1)) }

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
	varies := p.longest-p.shortest > time.Millisecond+p.Mean()/10 // more than times in whole milliseconds do
	pauses := ""
	if p.pauses > 0 {
		pauses = fmt.Sprintf(" and without %s over %s", words.Count(p.pauses, "pause"), maxPaceGap)
	}
	if varies || isRounded || p.pauses > 0 {
		n.Remark("frames are played evenly, %d a second; recorded were %s a second on average (%s s), with gaps of %d to %d ms%s",
			hz, units.Significant(rate, 4), units.Significant(p.elapsed.Seconds(), 4), p.shortest.Milliseconds(), p.longest.Milliseconds(), pauses)
	}
	return hz
}
