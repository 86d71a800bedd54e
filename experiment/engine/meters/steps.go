package meters

import (
	"time"

	"wirelab/experiment/figures"
)

// Steps measures how a lane recovers from changes of its links: how long the delay of packets takes to become
// normal, and how long the sender takes to send as often as before. The zero value is ready to use.
type Steps struct {
	least   time.Duration // least one-way delay so far; 0 before the first arrival
	sent    [100]int      // packets sent in each of the last samples, sample n at n % len
	samples int           // samples so far
	normal  float64       // packets per second before the first change
	steps   []step
}

// step is one change of the links.
type step struct {
	at         time.Duration
	drainedFor time.Duration // since when delays are normal
	drained    time.Duration // time from the change until delays stayed normal; -1 if they did not
	rateBack   time.Duration // time from the change until the rate of packets was normal again; -1 if it was not
}

const (
	maxSteps      = 100                             // newest changes that are measured
	normalDelay   = 50 * time.Millisecond           // delays up to this above the least are normal
	calm          = time.Second                     // delays must stay normal for this time
	rateSamples   = int(time.Second / SamplePeriod) // over which the rate of packets is taken
	normalPortion = 0.9                             // of the rate before, which counts as normal
)

// Begin begins to measure the change at time at. An earlier change is no longer measured.
func (s *Steps) Begin(at time.Duration) {
	if len(s.steps) == 0 {
		n := min(s.samples, len(s.sent))
		total := 0
		for _, sent := range s.sent[:n] {
			total += sent
		}
		if n > 0 {
			s.normal = float64(total) / (float64(n) * SamplePeriod.Seconds())
		}
	}
	if len(s.steps) == maxSteps {
		s.steps = s.steps[:copy(s.steps, s.steps[1:])]
	}
	s.steps = append(s.steps, step{at: at, drainedFor: at, drained: -1, rateBack: -1})
}

// Arrived records that a packet arrived at now after a one-way delay.
func (s *Steps) Arrived(now, delay time.Duration) {
	if s.least == 0 || delay < s.least {
		s.least = delay
	}
	if len(s.steps) == 0 {
		return
	}
	switch x := &s.steps[len(s.steps)-1]; {
	case delay > s.least+normalDelay:
		x.drainedFor = now
	case x.drained < 0 && now-x.drainedFor > calm:
		x.drained = x.drainedFor - x.at
	}
}

// CloseSample records the packets sent in the sample that ends at t.
func (s *Steps) CloseSample(t time.Duration, sent int) {
	s.sent[s.samples%len(s.sent)] = sent
	s.samples++
	if len(s.steps) == 0 {
		return
	}
	x, began := &s.steps[len(s.steps)-1], t-calm
	if x.rateBack >= 0 || began < x.at {
		return
	}
	total := 0
	for n := max(0, s.samples-rateSamples); n < s.samples; n++ {
		total += s.sent[n%len(s.sent)]
	}
	if float64(total) >= normalPortion*s.normal {
		x.rateBack = began - x.at
	}
}

// Figures returns the measurements, one for each change.
func (s *Steps) Figures() (list []figures.ControlStep) {
	seconds := func(d time.Duration) figures.Figure {
		if d < 0 {
			return figures.Figure{}
		}
		return figures.Known(d.Seconds())
	}
	for _, x := range s.steps {
		list = append(list, figures.ControlStep{TS: x.at.Seconds(), DrainedS: seconds(x.drained), RateS: seconds(x.rateBack)})
	}
	return list
}
