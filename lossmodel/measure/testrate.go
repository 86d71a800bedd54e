package measure

import (
	"math"
	"time"

	"wirelab/internal/seed"
	"wirelab/lossmodel"
	"wirelab/lossmodel/queue"
	"wirelab/lossmodel/random"
)

// testRate tests the rate stage. Poisson traffic at a load of 0.8 without a queue limit is an
// M/D/1 queue, whose mean wait is known. Evenly spaced traffic at a load of 2 must lose half of
// the packets at the queue limit.
func (r *tester) testRate() error {
	rate := r.spec.Rate
	if rate.Trace.Path != "" {
		r.addNote("rate: not tested, because the delivery opportunities come from the file of rate_trace")
		return nil
	}
	if rate.BitsPerSecond == 0 {
		return nil
	}
	if name := rate.Discipline.Name(); name != queue.DropTail.Name() {
		r.addNote("rate: not tested, because the closed forms are those of a drop-tail queue, not of %s", name)
		return nil
	}
	rate.Burst, rate.Overhead, rate.Cell, rate.CellOverhead = 0, 0, 0, 0 // the closed forms do not cover these settings
	wire, _ := lossmodel.WireBytes(r.traffic.Size, r.spec.MTU)
	service := float64(wire) * 8 / float64(rate.BitsPerSecond) // transmission time of a packet in seconds
	if err := r.testPoissonQueue(rate, service); err != nil {
		return err
	}
	return r.testOverload(rate, service, wire)
}

// testPoissonQueue compares the mean wait at load 0.8 with M/D/1: load*service / (2*(1-load)), where
// service is the transmission time of a packet in seconds.
func (r *tester) testPoissonQueue(rate lossmodel.Rate, service float64) error {
	const load = 0.8
	rate.Queue, rate.QueuePackets = 0, 0
	pcg := seed.Tagged(r.seed, "queue\x00\x00") // a random stream for the gaps alone; results depend on the tag
	gap := time.Duration(service / load * float64(time.Second))
	sent := time.Duration(0)
	next := func(int) time.Duration { sent += random.ExponentialGap(pcg.Uint64(), gap); return sent }
	waits, err := r.measureStage(func(s *lossmodel.Spec) { s.Rate = rate }, next,
		func(now time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
			return (v.Due - now).Seconds() - service
		})
	if err != nil {
		return err
	}
	want := load * service / (2 * (1 - load))
	// Successive waits are strongly correlated. The check allows for a deviation of 17 % with 50,000
	// packets: that is taken as MaxSigmas standard errors, which fall with the root of the number.
	se := 0.17 / MaxSigmas * want * math.Sqrt(5e4/float64(len(waits)))
	r.addCheck("rate", "mean wait at load 0.8 (M/D/1)", "ms", mean(waits)*1000, want*1000, se*1000)
	return nil
}

// testOverload sends evenly spaced packets at load 2. Half of them must be lost at the queue, and
// the longest delay is that of a full queue. service is the transmission time of a packet in
// seconds and wire its size in bytes. The test needs a queue of at least one packet that the traffic
// fills at least ten times; otherwise it adds a note.
func (r *tester) testOverload(rate lossmodel.Rate, service float64, wire int) error {
	capacity := math.Inf(1)
	if rate.Queue > 0 {
		capacity = math.Floor(float64(rate.Queue) / float64(wire))
	}
	if rate.QueuePackets > 0 {
		capacity = min(capacity, float64(rate.QueuePackets))
	}
	gap := time.Duration(service / 2 * float64(time.Second)) // half of the time that the line needs for a packet
	if n := float64(r.traffic.Packets); capacity < 1 || capacity > n/10 || gap < 100*time.Nanosecond {
		r.addNote("rate: overload not tested, because the queue holds %.0f packets, too few or too many for this traffic", capacity)
		return nil
	}
	longest := time.Duration(0)
	lost, err := r.measureStage(func(s *lossmodel.Spec) { s.Rate = rate }, evenTimes(gap),
		func(now time.Duration, v *lossmodel.Verdict, _ *lossmodel.Delivery) float64 {
			if v.Lost != lossmodel.Queue {
				longest = max(longest, v.Due-now)
			}
			return boolToFloat(v.Lost == lossmodel.Queue)
		})
	if err != nil {
		return err
	}
	// Tolerances: a full queue and one packet of the losses, one transmission time of the delay.
	r.addCheck("rate", "share lost at load 2", "", mean(lost), 0.5, (capacity+1)/float64(r.traffic.Packets)/MaxSigmas)
	r.addCheck("rate", "longest delay at load 2", "ms", longest.Seconds()*1000, capacity*service*1000,
		service*1000/MaxSigmas)
	return nil
}
