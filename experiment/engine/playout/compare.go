package playout

import (
	"slices"
	"time"

	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
)

// compareWarmUp is the time after the first arrival that a Comparison does not count, because the policies
// still learn the link.
const compareWarmUp = 3 * time.Second

// Comparison runs playout policies on the same arrivals as a display, without displaying anything, and
// measures each of them. It also runs a range of fixed delays, so that each policy can be compared with the
// fixed delay that would have been best in hindsight. A nil *Comparison compares nothing.
type Comparison struct {
	timings   []Timing
	rhythm    Rhythm
	cadence   endpoint.Cadence
	began     time.Duration // when the comparison began
	countFrom time.Duration // ticks before this time are not counted; set by the first arrival
	started   bool          // a snapshot has arrived
	first     time.Duration // source time of the first snapshot
	newest    time.Duration // source time of the newest snapshot
	policies  []policyRun
	offset    fixedDelay  // estimates the clock offset for all fixed delays
	fixed     []policyRun // one for each of curveDelays; their clocks have no estimator
}

// policyRun is one policy of a comparison, with its measurements.
type policyRun struct {
	delay  time.Duration // of a fixed delay
	clock  clock
	meter  meters.PlayoutPolicy
	before time.Duration // displayed time at the last tick
	shown  bool          // something was displayed at the last tick
}

// curveDelays are the fixed delays that every comparison runs: fine steps for short ones.
var curveDelays = func() (delays []time.Duration) {
	const ms = time.Millisecond
	for _, r := range []struct{ to, step time.Duration }{{100 * ms, 2 * ms}, {400 * ms, 5 * ms}, {1000 * ms, 20 * ms}} {
		d := time.Duration(0)
		if len(delays) > 0 {
			d = delays[len(delays)-1] + r.step
		}
		for ; d <= r.to; d += r.step {
			delays = append(delays, d)
		}
	}
	return delays
}()

// NewComparison returns a comparison that begins at now. The first of timings is that of the display.
func NewComparison(now time.Duration, timings []Timing, r Rhythm, c endpoint.Cadence) *Comparison {
	x := &Comparison{timings: timings, rhythm: r, cadence: c, began: now}
	for _, t := range timings {
		x.policies = append(x.policies, policyRun{clock: newClock(t, r)})
	}
	for _, d := range curveDelays {
		x.fixed = append(x.fixed, policyRun{delay: d})
	}
	return x
}

// Compares reports whether the comparison has these timings and intervals.
func (x *Comparison) Compares(timings []Timing, r Rhythm) bool {
	return x != nil && slices.Equal(x.timings, timings) && x.rhythm == r
}

// Arrive records that packet seq was decoded at now.
func (x *Comparison) Arrive(now time.Duration, seq uint64) {
	if x == nil {
		return
	}
	source := x.cadence.TickTime(x.cadence.Tick(seq))
	if !x.started {
		x.started, x.first, x.newest, x.countFrom = true, source, source, now+compareWarmUp
	}
	x.newest = max(x.newest, source)
	x.offset.arrive(now, source)
	for i := range x.policies {
		x.policies[i].clock.arrive(now, source)
	}
}

// Tick runs one display tick at now.
func (x *Comparison) Tick(now time.Duration) {
	if x == nil || !x.started {
		return
	}
	for i := range x.policies {
		p := &x.policies[i]
		moment, ok := p.clock.tick(now)
		x.count(p, now, moment, ok)
	}
	goal := x.offset.target(now)
	for i := range x.fixed {
		p := &x.fixed[i]
		moment, ok := p.clock.follow(now, goal-p.delay, x.first, fixedPace)
		x.count(p, now, moment, ok)
	}
}

// count measures a display tick of p, which displays source time moment. ok is false if nothing is displayed.
func (x *Comparison) count(p *policyRun, now, moment time.Duration, ok bool) {
	if ok && now >= x.countFrom {
		age, starved := now-min(moment, x.newest), moment > x.newest // a starved display shows the newest snapshot
		p.meter.Tick(age, starved)
		if p.shown {
			p.meter.Step(moment-p.before, x.rhythm.Display)
		}
	}
	p.before, p.shown = moment, ok
}

// CloseSample ends the current sample of every policy, and returns the samples in the order of the
// policies; nil for a nil Comparison.
func (x *Comparison) CloseSample() (samples []meters.PlayoutSample) {
	if x == nil {
		return nil
	}
	for i := range x.policies {
		s := x.policies[i].meter.CloseSample()
		s.Policy = x.timings[i].Label()
		samples = append(samples, s)
	}
	return samples
}

// Figures returns the measurements of all policies; nil for a nil Comparison.
func (x *Comparison) Figures() *figures.PlayoutComparison {
	if x == nil {
		return nil
	}
	out := &figures.PlayoutComparison{FromS: x.began.Seconds()}
	for i := range x.fixed {
		p := &x.fixed[i]
		f := p.meter.Figures(x.rhythm.Display)
		out.Fixed = append(out.Fixed, figures.FixedDelay{DelayMS: float64(p.delay) / 1e6, StarvedRatio: f.StarvedRatio, AgeMS: f.AgeMS.Of(f.AgeMS.P50)})
	}
	for i := range x.policies {
		f := x.policies[i].meter.Figures(x.rhythm.Display)
		f.Policy, f.Label = x.timings[i].String(), x.timings[i].Label()
		out.AddPolicy(f)
	}
	return out
}
