package netem

import (
	"fmt"
	"math"
	"strconv"

	"wirelab/internal/units"
)

// Warnings names what a line does that its words do not say: netem's faults,
// which are kept here, with the share that results, and what cannot be the same
// here as in the kernel. It reckons for up to some milliseconds: ask once a
// change, not once a frame.
func (p Params) Warnings() []string {
	if !p.On {
		return nil
	}
	var w warnings
	w.correlations(&p)
	w.losses(&p)
	w.order(&p)
	w.limits(&p)
	if p.Slot.on() {
		w.add("slot: the kernel takes the times of slots from no seed, and opens them as packets leave; here packets leave in " +
			"the order they came, so only the slots' statistics are the kernel's")
	}
	return w
}

type warnings []string

func (w *warnings) add(format string, args ...any) { *w = append(*w, fmt.Sprintf(format, args...)) }

// correlations: all of netem's are broken.
func (w *warnings) correlations(p *Params) {
	rho := p.sentDuplicateCorr()
	if p.DuplicateCorrUnsent {
		w.add("duplicate: tc does not pass on the correlation of %s unless loss, delay, reorder or corrupt has one too: it has "+
			"no effect", p.Duplicate.Corr)
	}
	for _, c := range []struct {
		what, does string
		share, rho share
	}{
		{"loss", "loses", p.Loss.Share, p.Loss.Corr},
		{"duplicate", "doubles", p.Duplicate.Share, rho},
		{"corrupt", "damages", p.Corrupt.Share, p.Corrupt.Corr},
		{"reorder", "picks", p.Reorder.Share, p.Reorder.Corr},
	} {
		if c.rho > 0 && c.share > 0 {
			w.add("%s: netem's correlation draws its values to the middle, so %s %s %s %s %s; the kernel takes the first value from no seed",
				c.what, c.what, c.share, c.rho, c.does, ofPackets(effective(c.share, c.rho)))
		}
	}
	if p.Delay.Corr > 0 {
		w.add("delay: netem's correlation of %s has no effect, the delays stay independent", p.Delay.Corr)
	}
}

// losses: sums of thresholds that wrap around, and what a packet picked for a double and for a loss comes to.
func (w *warnings) losses(p *Params) {
	if p.Loss.Model == fourState {
		w.wraps("p13", "p14", p.Loss.P13, p.Loss.P14, "no burst ever begins")
		w.wraps("p31", "p32", p.Loss.P31, p.Loss.P32, "a burst never ends for good")
	}
	if loss := p.LossRate(); loss > 0 && p.Duplicate.Share > 0 {
		double := effective(p.Duplicate.Share, p.sentDuplicateCorr())
		w.add("duplicate: a packet picked to be doubled and to be lost is neither, so %s are lost altogether and %s come twice",
			ofPackets(float64(loss*(1-double))), ofPackets(float64(double*(1-loss))*(1-loss)))
	}
	if p.Loss.ECN {
		w.add("ecn: datagrams here do not allow marks, so they are dropped as without it")
	}
}

// wraps: the kernel adds two thresholds in 32 bits.
func (w *warnings) wraps(one, other string, a, b share, comes string) {
	if a+b < a {
		w.add("loss state: %s and %s add up to 100%% or more, which wraps around in the kernel's 32 bits: %s", one, other, comes)
	}
}

// order: who overtakes whom.
func (w *warnings) order(p *Params) {
	sigma := kernelTime(p.Delay.Jitter)
	if sigma > math.MaxInt32 {
		w.add("delay: the kernel cuts a jitter of %s to 2.147483647s", timeText(p.Delay.Jitter))
	}
	if sigma > 0 && p.Rate.Bytes == 0 {
		w.add("delay: each packet's delay is drawn by itself, so packets sent closer together than the jitter of %s overtake "+
			"each other; a rate keeps them in order", timeText(p.Delay.Jitter))
	}
	if p.Reorder.Share > 0 && p.Rate.Bytes > 0 {
		w.add("reorder: a packet that goes ahead passes by the rate as well as the delay")
	}
}

// limits: what the limit counts.
func (w *warnings) limits(p *Params) {
	switch perSecond := float64(p.Limit) / p.Delay.Latency.Seconds(); {
	case p.Limit == 0:
		w.add("limit: 0 loses every packet")
	case p.Delay.Latency > 0 && perSecond < 1000:
		w.add("limit: delayed packets count, so with a delay of %s more than %.4g packets a second are lost", timeText(p.Delay.Latency),
			perSecond)
	}
}

// ofPackets writes a share in three digits.
func ofPackets(share float64) string {
	if share < 1e-7 {
		return "no packets"
	}
	v, _ := strconv.ParseFloat(units.General(100*share, 3), 64)
	return units.FormatDecimal(v) + "% of packets"
}
