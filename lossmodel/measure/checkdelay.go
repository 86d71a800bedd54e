package measure

import (
	"math"
	"time"

	"wirelab/lossmodel"
	"wirelab/lossmodel/tracefile"
)

const millisecond = float64(time.Millisecond)

// delay checks mean, spread and reordering of the jitter, and the spikes.
func (r *tester) delay() error {
	d := r.spec.Delay
	if d.Trace.Path != "" {
		r.note("delay: what delay_trace adds stands in its file")
	}
	if d.Burst > 0 {
		r.note("delay: burst_delay follows the loss model; see the whole link")
	}
	if d.KeepOrder {
		r.note("delay: keep_order adds to the mean as jitter and pace have it; checked without")
	}
	d.Trace, d.Burst, d.KeepOrder = tracefile.File{}, 0, false
	if d.SpikeEvery > 0 {
		if err := r.spikes(d); err != nil {
			return err
		}
	}
	d.SpikeEvery, d.SpikeHeight, d.SpikeLength = 0, 0, 0
	if d.Latency == 0 && d.Jitter == 0 {
		return nil
	}
	return r.jitter(d)
}

// spikes needs no chance: it compares with the share of time in the spike.
func (r *tester) spikes(d lossmodel.Delay) error {
	d.Jitter, d.Latency = 0, 0
	n := 0
	for i := range r.traffic.Packets {
		now := time.Duration(i) * r.traffic.Interval
		if now%d.SpikeEvery >= d.SpikeEvery-d.SpikeLength && d.SpikeHeight > 0 {
			n++
		}
	}
	return r.share("delay", "share sent in a spike", func(s *lossmodel.Spec) { s.Delay = d },
		ratio(n, r.traffic.Packets), 1e-12, isHeldBack)
}

func (r *tester) jitter(d lossmodel.Delay) error {
	law, known := lawOfJitter(&d)
	n := r.traffic.Packets
	took, err := r.alone(func(s *lossmodel.Spec) { s.Delay = d }, evenly(r.traffic.Interval),
		func(now time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
			return float64(v.Due-now) / millisecond
		})
	if err != nil {
		return err
	}
	unit, latency := float64(d.Jitter)/millisecond, float64(d.Latency)/millisecond
	switch {
	case !known:
		r.note("delay: the table stands in its file")
		return nil
	case latency+law.lo*unit < -1e-9 && law.cdf(-latency/unit) > 1e-9:
		r.note("delay: some of the jitter would come before the packet is sent and counts as no delay, which shifts mean and spread")
		return nil
	}
	m, sd, rho := latency+law.mean*unit, law.sd*unit, d.Correlation
	r.check("delay", "mean", "ms", mean(took), m, sd*math.Sqrt((1+rho)/(1-rho)/float64(n))+1e-6)
	if d.Jitter == 0 {
		return nil
	}
	squares := make([]float64, n)
	for i, v := range took {
		squares[i] = (v - m) * (v - m)
	}
	variance, se := batchMeans(squares)
	r.check("delay", "standard deviation", "ms", math.Sqrt(variance), sd, se/2/sd+1e-6)
	c, se := covariance(took, m)
	r.check("delay", "correlation with the next packet", "", c/(sd*sd), rho, se/(sd*sd))
	if rho == 0 {
		return r.overtaking(d, law)
	}
	r.note("delay: reordering of correlated jitter has no simple closed form")
	return nil
}

// overtaking compares RFC 4737's ratio. The standard error is that of batches, since
// whether packets near each other are reordered is correlated.
func (r *tester) overtaking(d lossmodel.Delay, law jitterLaw) error {
	if r.traffic.Interval == 0 {
		return nil
	}
	spec := lossmodel.DefaultSpec()
	spec.Delay = d
	even := r.traffic
	even.Poisson, even.Size = false, 0
	rows, err := Trace(spec, r.seed, even)
	if err != nil {
		return err
	}
	late := make([]float64, len(rows))
	soonest := time.Duration(math.MaxInt64)
	for i := len(rows) - 1; i >= 0; i-- {
		if at := rows[i].Arrived(); at > soonest {
			late[i] = 1
		} else {
			soonest = at
		}
	}
	share, se := batchMeans(late)
	want := law.reordered(float64(r.traffic.Interval) / float64(d.Jitter))
	r.check("delay", "reordered (RFC 4737)", "", share, want, se+1e-4/MaxSigmas+1/float64(len(rows)))
	return nil
}
