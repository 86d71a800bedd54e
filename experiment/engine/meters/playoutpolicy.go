package meters

import (
	"cmp"
	"time"

	"wirelab/experiment/figures"
	"wirelab/internal/quantile"
)

// PlayoutPolicy measures a playout policy: how often its display starves, how old its display is, and how
// unsteadily it advances. The zero value is ready to use.
type PlayoutPolicy struct {
	counts    figures.PlayoutPolicy
	display   DisplayCounts
	age       quantile.Histogram // microseconds; fine
	shifted   time.Duration      // sum of the deviations from normal speed
	direction int                // of the last tick: -1 slower, 0 normal, 1 faster
	sample    PlayoutSample
}

// PlayoutSample is what a policy displayed in one sample period.
type PlayoutSample struct {
	Policy         string        // its label
	Shown, Starved int           // display ticks; those without a snapshot to interpolate to
	Age            time.Duration // sum over the ticks
}

// Tick counts a display tick. age is the time since the displayed state was captured.
func (p *PlayoutPolicy) Tick(age time.Duration, starved bool) {
	p.display.Tick(starved)
	p.age.Precision = quantile.Fine
	p.age.Add(age.Microseconds())
	p.sample.Shown++
	p.sample.Age += age
	if starved {
		p.sample.Starved++
	}
}

// Step counts by how much the displayed time advanced in one display tick, which lasts interval.
func (p *PlayoutPolicy) Step(advance, interval time.Duration) {
	shift := advance - interval
	direction := 0
	if shift.Abs() > interval/1000 { // more than rounding
		direction = cmp.Compare(shift, 0)
		p.shifted += shift.Abs()
	}
	if shift.Abs() > interval/2 {
		p.counts.Jumps++
	}
	if direction != p.direction {
		p.counts.SpeedChanges++
	}
	p.direction = direction
}

// CloseSample returns the current sample and begins the next one.
func (p *PlayoutPolicy) CloseSample() PlayoutSample {
	s := p.sample
	p.sample = PlayoutSample{}
	return s
}

// Figures returns the measurements. interval is the time between two display ticks.
func (p *PlayoutPolicy) Figures(interval time.Duration) figures.PlayoutPolicy {
	d := p.display.Figures(float64(time.Second) / float64(interval))
	f := p.counts
	f.Displayed = d.Displayed
	f.StarvedRatio = d.StarvedRatio
	f.Freezes = d.Freezes
	f.LongestFreezeMS = d.LongestFreezeMS
	f.AgeMS = figures.QuantilesOf(&p.age, 1000)
	f.ShiftedMS = float64(p.shifted) / 1e6
	return f
}
