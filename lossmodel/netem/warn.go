package netem

import (
	"fmt"
	"math"
	"strconv"

	"wirelab/internal/units"
)

// Warnings lists effects of a line that its words do not show: netem's bugs, with the resulting
// probabilities, and what differs from the kernel. It may take several milliseconds, so call it
// after a change, not for every frame.
func (p Params) Warnings() []string {
	if !p.On {
		return nil
	}
	var w warnings
	w.addCorrelations(&p)
	w.addLosses(&p)
	w.addOrder(&p)
	w.addLimits(&p)
	if p.Slot.on() {
		w.add("slot: the kernel draws slot times without a seed and opens slots when packets leave; " +
			"here packets leave in order of arrival, so only the statistics of slots agree with the kernel")
	}
	return w
}

// warnings is the list of warnings about a netem line so far.
type warnings []string

// add adds a formatted warning.
func (w *warnings) add(format string, args ...any) { *w = append(*w, fmt.Sprintf(format, args...)) }

// addCorrelations adds warnings about correlations, none of which works in netem.
func (w *warnings) addCorrelations(p *Params) {
	rho := p.sentDuplicateCorr()
	if p.DuplicateCorrUnsent {
		w.add("duplicate: the correlation of %s has no effect, because tc passes it on only if loss, delay, reorder or corrupt "+
			"has one too", p.Duplicate.Corr)
	}
	for _, c := range []struct {
		option, verb     string
		probability, rho probability
	}{
		{"loss", "loses", p.Loss.Probability, p.Loss.Corr},
		{"duplicate", "duplicates", p.Duplicate.Probability, rho},
		{"corrupt", "damages", p.Corrupt.Probability, p.Corrupt.Corr},
		{"reorder", "reorders", p.Reorder.Probability, p.Reorder.Corr},
	} {
		if c.rho > 0 && c.probability > 0 {
			w.add("%s: netem's correlation narrows the distribution of its values, so %s %s %s %s %s; the kernel draws the first value without a seed",
				c.option, c.option, c.probability, c.rho, c.verb, formatFraction(hitRate(c.probability, c.rho)))
		}
	}
	if p.Delay.Corr > 0 {
		w.add("delay: netem's correlation of %s has no effect; the delays are independent", p.Delay.Corr)
	}
}

// addLosses adds warnings about thresholds that overflow and about the combination of loss and
// duplication.
func (w *warnings) addLosses(p *Params) {
	if p.Loss.Model == fourState {
		w.addOverflow("p13", "p14", p.Loss.P13, p.Loss.P14, "no burst ever begins")
		w.addOverflow("p31", "p32", p.Loss.P31, p.Loss.P32, "a burst never ends")
	}
	if loss := p.LossRate(); loss > 0 && p.Duplicate.Probability > 0 {
		duplicated := hitRate(p.Duplicate.Probability, p.sentDuplicateCorr())
		// A packet counts as duplicated if neither the packet nor its copy, which is drawn separately, is lost.
		w.add("duplicate: a packet chosen for both loss and duplication is neither lost nor duplicated, so %s are lost and %s are duplicated",
			formatFraction(float64(loss*(1-duplicated))), formatFraction(float64(duplicated*(1-loss))*(1-loss)))
	}
	if p.Loss.ECN {
		w.add("ecn: datagrams here are not ECN-capable, so they are dropped as without ecn")
	}
}

// addOverflow adds a warning if the sum of the thresholds a and b, which are named one and other,
// overflows 32 bits, as in the kernel. effect describes the consequence.
func (w *warnings) addOverflow(one, other string, a, b probability, effect string) {
	if a+b < a {
		w.add("loss state: the sum of %s and %s is 100%% or more, which overflows the kernel's 32 bits: %s", one,
			other, effect)
	}
}

// addOrder adds warnings about the order of packets.
func (w *warnings) addOrder(p *Params) {
	sigma := kernelTime(p.Delay.Jitter)
	if sigma > math.MaxInt32 {
		w.add("delay: the kernel limits a jitter of %s to 2.147483647s", timeText(p.Delay.Jitter))
	}
	if sigma > 0 && p.Rate.Bytes == 0 {
		w.add("delay: the delays of packets are independent, so packets sent at intervals shorter than the jitter of %s overtake "+
			"each other; a rate keeps them in order", timeText(p.Delay.Jitter))
	}
	if p.Reorder.Probability > 0 && p.Rate.Bytes > 0 {
		w.add("reorder: a reordered packet bypasses the rate as well as the delay")
	}
}

// addLimits adds a warning if the limit of waiting packets, which includes delayed ones, would lose
// packets at less than 1000 per second.
func (w *warnings) addLimits(p *Params) {
	switch perSecond := float64(p.Limit) / p.Delay.Latency.Seconds(); {
	case p.Limit == 0:
		w.add("limit: 0 loses every packet")
	case p.Delay.Latency > 0 && perSecond < 1000:
		w.add("limit: it includes delayed packets, so with a delay of %s packets beyond %.4g per second are lost",
			timeText(p.Delay.Latency),
			perSecond)
	}
}

// formatFraction formats a fraction with three significant digits, such as "5% of packets".
func formatFraction(fraction float64) string {
	if fraction < 1e-7 {
		return "no packets"
	}
	v, _ := strconv.ParseFloat(units.General(100*fraction, 3), 64)
	return units.FormatDecimal(v) + "% of packets"
}
