package measure

import (
	"math"
	"time"

	"wirelab/lossmodel"
	"wirelab/lossmodel/tracefile"
)

// millisecond is one millisecond in nanoseconds, to convert durations to milliseconds.
const millisecond = float64(time.Millisecond)

// testDelay compares the delay stage with its closed forms: the spikes, and the mean, standard deviation,
// correlation and reordering of the jitter. It adds notes about settings that have no closed form.
func (r *tester) testDelay() error {
	d := r.spec.Delay
	if d.Trace.Path != "" {
		r.addNote("delay: delay_trace not tested, because its delays come from a file")
	}
	if d.Burst > 0 {
		r.addNote("delay: burst_delay not tested alone, because it depends on the loss model")
	}
	if d.KeepOrder {
		r.addNote("delay: keep_order has no closed form; tested without it")
	}
	d.Trace, d.Burst, d.KeepOrder = tracefile.File{}, 0, false
	if d.SpikeEvery > 0 {
		if err := r.testSpikes(d); err != nil {
			return err
		}
	}
	d.SpikeEvery, d.SpikeHeight, d.SpikeLength = 0, 0, 0
	if d.Latency == 0 && d.Jitter == 0 {
		return nil
	}
	return r.testJitter(d)
}

// testSpikes compares the fraction of delayed packets with the fraction of packets that are sent during
// a spike. Both must be equal, because spikes are not random.
func (r *tester) testSpikes(d lossmodel.Delay) error {
	d.Jitter, d.Latency = 0, 0
	const exact = 1e-12 // standard error of an exact figure; 0 would divide by 0
	n := 0              // packets sent during a spike
	for i := range r.traffic.Packets {
		now := time.Duration(i) * r.traffic.Interval
		if now%d.SpikeEvery >= d.SpikeEvery-d.SpikeLength && d.SpikeHeight > 0 {
			n++
		}
	}
	return r.checkFraction("delay", "share sent in a spike", func(s *lossmodel.Spec) { s.Delay = d },
		ratio(n, r.traffic.Packets), exact, isHeldBack)
}

// testJitter compares mean, standard deviation, correlation and reordering of the delays with those of
// the distribution. It adds a note instead if the distribution is unknown or would give negative
// delays. Reordering is tested for independent jitter only.
func (r *tester) testJitter(d lossmodel.Delay) error {
	dist, known := newJitterDist(&d)
	n := r.traffic.Packets
	delays, err := r.measureStage(func(s *lossmodel.Spec) { s.Delay = d }, evenTimes(r.traffic.Interval),
		func(now time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
			return float64(v.Due-now) / millisecond
		})
	if err != nil {
		return err
	}
	unit, latency := float64(d.Jitter)/millisecond, float64(d.Latency)/millisecond
	switch {
	case !known:
		r.addNote("delay: jitter not tested, because its table comes from a file")
		return nil
	case latency+dist.min*unit < -1e-9 && dist.cdf(-latency/unit) > 1e-9:
		r.addNote("delay: jitter not tested, because negative delays are limited to 0, which changes mean and spread")
		return nil
	}
	const nanosecond = 1e-6 // one nanosecond in ms: delays are rounded to it
	m, sd, rho := latency+dist.mean*unit, dist.sd*unit, d.Correlation
	r.addCheck("delay", "mean", "ms", mean(delays), m, sd*math.Sqrt((1+rho)/(1-rho)/float64(n))+nanosecond)
	if d.Jitter == 0 {
		return nil
	}
	squares := make([]float64, n)
	for i, v := range delays {
		squares[i] = (v - m) * (v - m)
	}
	variance, se := batchMeans(squares)
	r.addCheck("delay", "standard deviation", "ms", math.Sqrt(variance), sd, se/2/sd+nanosecond)
	c, se := lag1Covariance(delays, m)
	r.addCheck("delay", "correlation with the next packet", "", c/(sd*sd), rho, se/(sd*sd))
	if rho == 0 {
		return r.testReordering(d, dist)
	}
	r.addNote("delay: reordering of correlated jitter has no simple closed form")
	return nil
}

// testReordering compares RFC 4737's reordered ratio of evenly spaced packets with the closed form.
// The standard error is estimated by batch means, because the reordering of neighbours is
// correlated.
func (r *tester) testReordering(d lossmodel.Delay, dist jitterDist) error {
	if r.traffic.Interval == 0 {
		return nil
	}
	spec := lossmodel.DefaultSpec()
	spec.Delay = d
	evenTraffic := r.traffic
	evenTraffic.Poisson, evenTraffic.Size = false, 0
	rows, err := Trace(spec, r.seed, evenTraffic)
	if err != nil {
		return err
	}
	late := make([]float64, len(rows)) // 1 for a packet that arrives after one sent later
	earliest := time.Duration(math.MaxInt64)
	for i := len(rows) - 1; i >= 0; i-- {
		if at := rows[i].Arrived(); at > earliest {
			late[i] = 1
		} else {
			earliest = at
		}
	}
	fraction, se := batchMeans(late)
	// 1e-4 allows for errors of the numerical integration, 1/n for the resolution of the fraction.
	want := dist.reorderRatio(float64(r.traffic.Interval) / float64(d.Jitter))
	r.addCheck("delay", "reordered (RFC 4737)", "", fraction, want, se+1e-4/MaxSigmas+1/float64(len(rows)))
	return nil
}
