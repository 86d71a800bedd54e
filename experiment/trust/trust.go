// Package trust checks whether a modelled link does what its settings specify. It compares the measured
// loss, delay and rate with the values expected from the settings, and with the interval in which they
// are for a correct link.
package trust

import (
	"math"

	"wirelab/experiment/engine/meters"
	"wirelab/lossmodel"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/measure"
)

// alpha is the maximum probability, for each check, that a figure of a correct link is outside of its
// interval.
const alpha = 1e-5

// A Check is one figure of a link: the value that is set, the value expected from the settings, the measured
// value, and the interval of a correct link. Min or Max is infinite if the settings bound the figure on one
// side only.
type Check struct {
	Name, Unit    string  // such as "delay" in "ms"
	Set, Measured float64 // the value that is set, and the measured one
	Expected      float64 // Set, or the larger loss of packets in several fragments, each of which can be lost
	IsMean        bool    // Set is the mean of several settings, weighted by packets
	Min, Max      float64 // bounds of the interval of a correct link
	Known         bool    // the settings determine the expected value
	OK            bool    // Measured is within the interval, or Known is false
}

// A Verifier compares links with their settings. It caches the distributions of delays, which take long
// to compute. The zero value is ready to use.
type Verifier struct {
	models map[lossmodel.Delay]delayModel
}

// A delayModel is the distribution of the delay for given settings.
type delayModel struct {
	measure.DelayDistribution
	ok bool // false if the distribution cannot be computed
}

// Checks checks the loss, the delay and, if the link has a bottleneck, the rate. stretches are the periods
// of constant settings of a link. The result is empty before the first packet.
func (j *Verifier) Checks(stretches []meters.LinkStretch) (out []Check) {
	if len(stretches) == 0 {
		return nil
	}
	out = append(out, checkLoss(stretches), j.checkDelay(stretches))
	if rate, ok := checkRate(stretches); ok {
		out = append(out, rate)
	}
	for i := range out {
		c := &out[i]
		c.Expected = max(c.Expected, c.Set)
		// 1e-9 allows for rounding errors.
		c.OK = !c.Known || c.Measured >= c.Min-1e-9 && c.Measured <= c.Max+1e-9
	}
	return out
}

// checkLoss compares the measured packet loss with the loss that the settings predict, both in
// percent. Min and Max bound the measured loss at significance level alpha. Known is false if the
// loss of a stretch cannot be predicted. Where the rate is limited, packets dropped by a full queue are
// not counted, because the settings do not predict how many there are.
func checkLoss(stretches []meters.LinkStretch) Check {
	c := Check{Name: "loss", Unit: "%", Known: true}
	var odds loss.LossBounds
	sent, lost, set := 0.0, 0.0, 0.0
	for i := range stretches {
		stretch := &stretches[i]
		n := stretch.Sent
		if form, ok := loss.Analyze(stretch.Down.Loss); ok {
			set += form.Rate * float64(n)
		}
		c.IsMean = c.IsMean || n > 0 && stretch.Down.Loss != stretches[len(stretches)-1].Down.Loss
		lost += float64(stretch.Lost)
		if isRateLimited(&stretch.Down) {
			lost -= float64(stretch.Queue)
		}
		sent += float64(n)
		if stretch.Down.Netem.On || !odds.Add(stretch.Down.Loss, stretch.Fragments, n) {
			c.Known = false
		}
	}
	sent = max(sent, 1) // avoids a division by 0
	least, most := odds.Interval(alpha)
	c.Set, c.Expected, c.Measured = 100*set/sent, 100*odds.Mean()/sent, 100*lost/sent
	c.Min, c.Max = 100*least/sent, 100*most/sent
	return c
}

// isRateLimited reports whether the link has a bottleneck.
func isRateLimited(s *lossmodel.Spec) bool {
	return s.Rate.BitsPerSecond > 0 || s.Rate.Trace.Path != ""
}

// checkDelay compares the mean delay of the packets that arrived with the mean that the settings
// predict, both in milliseconds. Min and Max follow from Bernstein's inequality for the sum of the
// delays; the correlation of successive delays reduces the number of independent ones. Known is false if
// the delay of a stretch cannot be predicted or no packet arrived. Max is infinite if queues, spikes or
// keeping the order can add to latency and jitter.
func (j *Verifier) checkDelay(stretches []meters.LinkStretch) Check {
	c := Check{Name: "delay", Unit: "ms", Known: true}
	var arrived, totalDelay, sum, variance, maxDeviation, inFlight float64
	extraDelay := false
	for i := range stretches {
		stretch := &stretches[i]
		if stretch.Sent == 0 {
			continue
		}
		c.IsMean = c.IsMean || stretch.Down.Delay != stretches[len(stretches)-1].Down.Delay
		model := j.modelOf(&stretch.Down.Delay)
		if stretch.Down.Netem.On || !model.ok {
			c.Known = false
			continue
		}
		// With autocorrelation Rho, n delays vary like n/correlation independent ones.
		n, correlation := float64(stretch.Arrived), (1+model.Rho)/(1-model.Rho)
		arrived += n
		totalDelay += float64(stretch.Took) / 1e6 // from ns to ms
		sum += n * model.Mean
		variance += n * model.SD * model.SD * correlation
		maxDeviation = max(maxDeviation, max(model.Max-model.Mean, model.Mean-model.Min)*correlation)
		// Packets in flight are likely to be slow ones, so that those that arrived are faster on average.
		inFlight += float64(stretch.Sent-stretch.Lost-stretch.Arrived) * (model.Max - model.Min)
		extraDelay = extraDelay || isRateLimited(&stretch.Down) || addsDelay(&stretch.Down)
	}
	if arrived == 0 {
		c.Known = false
		return c
	}
	halfLinear := math.Log(2/alpha) / 3 * maxDeviation
	// slack solves Bernstein's inequality for the deviation of the sum that has probability alpha. The quotient
	// 6*halfLinear/maxDeviation is 2*ln(2/alpha); 1e-9 avoids a division by 0.
	slack := halfLinear + math.Sqrt(halfLinear*halfLinear+6*halfLinear/max(maxDeviation, 1e-9)*variance)
	c.Set, c.Measured = sum/arrived, totalDelay/arrived
	c.Min, c.Max = c.Set-(slack+inFlight)/arrived, c.Set+slack/arrived+1e-5 // delays are whole nanoseconds
	c.Min -= 1e-5
	if extraDelay {
		c.Max = math.Inf(1)
	}
	return c
}

// addsDelay reports whether settings other than latency and jitter delay packets.
func addsDelay(s *lossmodel.Spec) bool {
	d := &s.Delay
	return d.KeepOrder || d.SpikeEvery > 0 || d.Burst > 0 || d.Trace.Path != "" || s.Reorder.P > 0
}

// modelOf returns the distribution of the delay for settings d, from the cache if possible.
func (j *Verifier) modelOf(d *lossmodel.Delay) delayModel {
	model, known := j.models[*d]
	if !known {
		model.DelayDistribution, model.ok = measure.NewDelayDistribution(d)
		if len(j.models) > 64 || j.models == nil { // a full cache is emptied
			j.models = map[lossmodel.Delay]delayModel{}
		}
		j.models[*d] = model
	}
	return model
}

// checkRate compares the measured rate of the link since its last change with the configured rate, both
// in kbps; ok is false if the settings have no constant rate, or if no time has passed. In the period from
// the first packet on, at most the configured rate plus the burst of a token bucket can have crossed the link,
// which is Max. There is no lower limit, because the sender may send less.
func checkRate(stretches []meters.LinkStretch) (c Check, ok bool) {
	c = Check{Name: "rate", Unit: "kbps", Known: true, Min: math.Inf(-1)}
	last := &stretches[len(stretches)-1]
	from, until, bits := last.From, last.Until, 0.0
	for i := len(stretches) - 1; i >= 0 && stretches[i].Down == last.Down; i-- {
		from, until = min(from, stretches[i].From), max(until, stretches[i].Until)
		bits += float64(stretches[i].Bits)
	}
	rate := &last.Down.Rate
	if last.Down.Netem.On || rate.BitsPerSecond == 0 || rate.Trace.Path != "" || until <= from {
		return c, false
	}
	secs := (until - from).Seconds()
	c.Set, c.Measured = float64(rate.BitsPerSecond)/1000, bits/1000/secs
	c.Max = c.Set + float64(rate.Burst)*8/1000/secs + 1e-6*c.Set // packets leave in whole nanoseconds
	return c, true
}
