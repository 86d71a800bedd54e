// Package trust compares what a modelled link did with its settings: the share lost, the delay and
// the rate, measured from the fates of the packets, with the expected values of the settings and the
// interval that chance allows.
package trust

import (
	"math"

	"wirelab/experiment/engine/meters"
	"wirelab/lossmodel"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/measure"
)

// alpha bounds the probability that a figure of a correct link leaves its interval, for each check.
const alpha = 1e-5

// Check is one figure of a link: the expected value of the settings, the measured value, and the
// interval of a correct link. Least and Most are infinite where the settings bound it on one side
// only.
type Check struct {
	Name, Unit    string
	Set, Measured float64
	Least, Most   float64
	Known         bool // the settings determine the expected value
	OK            bool // within the interval; true if it is not known
}

// Judge compares links with their settings. It caches the distributions of delays, which take long
// to compute. Its zero value is ready.
type Judge struct {
	laws map[lossmodel.Delay]delayLaw
}

type delayLaw struct {
	measure.DelayLaw
	ok bool
}

// Checks compares the loss, the delay and, where the link has a bottleneck, the rate. It returns none
// before the first packet.
func (j *Judge) Checks(all []meters.LinkStretch) (out []Check) {
	if len(all) == 0 {
		return nil
	}
	out = append(out, checkLoss(all), j.checkDelay(all))
	if rate, ok := checkRate(all); ok {
		out = append(out, rate)
	}
	for i := range out {
		c := &out[i]
		c.OK = !c.Known || c.Measured >= c.Least-1e-9 && c.Measured <= c.Most+1e-9
	}
	return out
}

// checkLoss compares the measured packet loss with the loss that the settings predict, both in
// percent. Least and Most bound the measured loss at significance level alpha. Known is false if the
// loss of a stretch cannot be predicted. Where the rate is limited, packets dropped by a full queue are
// not counted, because the settings do not predict how many there are.
func checkLoss(all []meters.LinkStretch) Check {
	c := Check{Name: "loss", Unit: "%", Known: true}
	var odds loss.Odds
	sent, lost := 0.0, 0.0
	for i := range all {
		a := &all[i]
		n := a.Sent
		lost += float64(a.Lost)
		if limited(&a.Down) {
			lost -= float64(a.Queue)
		}
		sent += float64(n)
		if a.Down.Netem.On || !odds.Add(a.Down.Loss, a.Fragments, n) {
			c.Known = false
		}
	}
	sent = max(sent, 1)
	least, most := odds.Between(alpha)
	c.Set, c.Measured = 100*odds.Mean()/sent, 100*lost/sent
	c.Least, c.Most = 100*least/sent, 100*most/sent
	return c
}

// limited reports whether the link has a bottleneck.
func limited(s *lossmodel.Spec) bool {
	return s.Rate.BitsPerSecond > 0 || s.Rate.Trace.Path != ""
}

// checkDelay compares the mean delay of the packets that arrived with the mean that the settings
// predict, both in milliseconds. Least and Most follow from Bernstein's inequality. Known is false if
// the delay of a stretch cannot be predicted or nothing arrived. Most is infinite if queues, spikes or
// keeping the order can add to latency and jitter.
func (j *Judge) checkDelay(all []meters.LinkStretch) Check {
	c := Check{Name: "delay", Unit: "ms", Known: true}
	var arrived, under, sum, variance, reach, flying float64
	more := false
	for i := range all {
		a := &all[i]
		if a.Sent == 0 {
			continue
		}
		law := j.lawOf(&a.Down.Delay)
		if a.Down.Netem.On || !law.ok {
			c.Known = false
			continue
		}
		n, linger := float64(a.Arrived), (1+law.Rho)/(1-law.Rho)
		arrived += n
		under += float64(a.Took) / 1e6
		sum += n * law.Mean
		variance += n * law.SD * law.SD * linger
		reach = max(reach, max(law.Hi-law.Mean, law.Mean-law.Lo)*linger)
		flying += float64(a.Sent-a.Lost-a.Arrived) * (law.Hi - law.Lo) // the slow packets are still in flight
		more = more || limited(&a.Down) || addsDelay(&a.Down)
	}
	if arrived == 0 {
		c.Known = false
		return c
	}
	level := math.Log(2/alpha) / 3 * reach
	slack := level + math.Sqrt(level*level+6*level/max(reach, 1e-9)*variance)
	c.Set, c.Measured = sum/arrived, under/arrived
	c.Least, c.Most = c.Set-(slack+flying)/arrived, c.Set+slack/arrived+1e-5 // delays are whole nanoseconds
	c.Least -= 1e-5
	if more {
		c.Most = math.Inf(1)
	}
	return c
}

// addsDelay reports whether settings other than latency and jitter delay packets.
func addsDelay(s *lossmodel.Spec) bool {
	d := &s.Delay
	return d.KeepOrder || d.SpikeEvery > 0 || d.Burst > 0 || d.Trace.Path != "" || s.Reorder.P > 0
}

func (j *Judge) lawOf(d *lossmodel.Delay) delayLaw {
	law, known := j.laws[*d]
	if !known {
		law.DelayLaw, law.ok = measure.DelayLawOf(d)
		if len(j.laws) > 64 || j.laws == nil {
			j.laws = map[lossmodel.Delay]delayLaw{}
		}
		j.laws[*d] = law
	}
	return law
}

// checkRate compares the measured rate of the link since its last change with the configured rate, both
// in kbps; ok is false if the settings have no constant rate, or if no time has passed. All traffic
// crossed the link after the first packet was sent, so Most is the configured rate plus the burst of a
// token bucket.
func checkRate(all []meters.LinkStretch) (c Check, ok bool) {
	c = Check{Name: "rate", Unit: "kbps", Known: true, Least: math.Inf(-1)}
	last := &all[len(all)-1]
	from, until, bits := last.From, last.Until, 0.0
	for i := len(all) - 1; i >= 0 && all[i].Down == last.Down; i-- {
		from, until = min(from, all[i].From), max(until, all[i].Until)
		bits += float64(all[i].Bits)
	}
	rate := &last.Down.Rate
	if last.Down.Netem.On || rate.BitsPerSecond == 0 || rate.Trace.Path != "" || until <= from {
		return c, false
	}
	secs := (until - from).Seconds()
	c.Set, c.Measured = float64(rate.BitsPerSecond)/1000, bits/1000/secs
	c.Most = c.Set + float64(rate.Burst)*8/1000/secs + 1e-6*c.Set // packets leave in whole nanoseconds
	return c, true
}
