package measure

import (
	"math"
	"time"

	"wirelab/internal/seed"
	"wirelab/lossmodel"
	"wirelab/lossmodel/random"
)

// rate sends Poisson traffic at a load of 0.8 without a limit, which is M/D/1, and
// even traffic at a load of 2 with it.
func (r *tester) rate() error {
	rate := r.spec.Rate
	if rate.Trace.Path != "" {
		r.note("rate: the line's opportunities stand in rate_trace")
		return nil
	}
	if rate.BitsPerSecond == 0 {
		return nil
	}
	rate.Burst, rate.Overhead, rate.Cell, rate.CellOverhead = 0, 0, 0, 0
	wire, _ := lossmodel.WireBytes(r.traffic.Size, r.spec.MTU)
	service := float64(wire) * 8 / float64(rate.BitsPerSecond) // seconds
	if err := r.poisson(rate, service); err != nil {
		return err
	}
	return r.overload(rate, service, wire)
}

func (r *tester) poisson(rate lossmodel.Rate, service float64) error {
	const load = 0.8
	rate.Queue, rate.QueuePackets = 0, 0
	pcg := seed.Tagged(r.seed, "queue\x00\x00")
	gap := time.Duration(service / load * float64(time.Second))
	sent := time.Duration(0)
	next := func(int) time.Duration { sent += random.ExponentialGap(pcg.Uint64(), gap); return sent }
	waits, err := r.alone(func(s *lossmodel.Spec) { s.Rate = rate }, next,
		func(now time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
			return (v.Due - now).Seconds() - service
		})
	if err != nil {
		return err
	}
	want := load * service / (2 * (1 - load))
	// Waits hang together for long: 17 % at 50,000 packets is five standard errors.
	se := 0.17 / MaxSigmas * want * math.Sqrt(5e4/float64(len(waits)))
	r.check("rate", "mean wait at load 0.8 (M/D/1)", "ms", mean(waits)*1000, want*1000, se*1000)
	return nil
}

// overload: all but 1/2 of what is sent is lost, and what is not waits for a full
// queue.
func (r *tester) overload(rate lossmodel.Rate, service float64, wire int) error {
	places := math.Inf(1)
	if rate.Queue > 0 {
		places = math.Floor(float64(rate.Queue) / float64(wire))
	}
	if rate.QueuePackets > 0 {
		places = min(places, float64(rate.QueuePackets))
	}
	gap := time.Duration(service / 2 * float64(time.Second))
	if n := float64(r.traffic.Packets); places < 1 || places > n/10 || gap < 100 {
		r.note("rate: the queue holds %.0f such packets, too few or too many to overload it here", places)
		return nil
	}
	longest := time.Duration(0)
	lost, err := r.alone(func(s *lossmodel.Spec) { s.Rate = rate }, evenly(gap),
		func(now time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
			if v.Lost != lossmodel.Queue {
				longest = max(longest, v.Due-now)
			}
			return number(v.Lost == lossmodel.Queue)
		})
	if err != nil {
		return err
	}
	r.check("rate", "share lost at load 2", "", mean(lost), 0.5, (places+1)/float64(r.traffic.Packets)/MaxSigmas)
	r.check("rate", "longest delay at load 2", "ms", longest.Seconds()*1000, places*service*1000, service*1000/MaxSigmas)
	return nil
}
