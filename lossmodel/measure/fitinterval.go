package measure

import "math"

// transitions counts which fate followed which: all that Gilbert's chain can learn
// from a capture. Index 0 is an arrival, 1 a loss.
type transitions struct {
	after [2]int // packets that followed an arrival, a loss
	flips [2]int // of them, those with the other fate
}

func transitionsOf(lost []bool) (t transitions) {
	for i := 1; i < len(lost); i++ {
		from := 0
		if lost[i-1] {
			from = 1
		}
		t.after[from]++
		if lost[i] != lost[i-1] {
			t.flips[from]++
		}
	}
	return t
}

// enter and leave are what is known of p and r of the chain.
func (t *transitions) enter() belief { return beliefIn(t.flips[0], t.after[0]-t.flips[0]) }
func (t *transitions) leave() belief { return beliefIn(t.flips[1], t.after[1]-t.flips[1]) }

// tail is the share on either side of a 95 % interval.
const tail = 0.025

// belief is Jeffreys' posterior of a probability after some hits and misses,
// Beta(hits+1/2, misses+1/2): its shares on an even grid of log odds. Intervals
// between its quantiles hold the truth as often as they say also where normal ones
// fail, after a handful of hits (Brown, Cai and DasGupta, Interval Estimation for a
// Binomial Proportion, 2001).
type belief struct {
	from, step float64
	below      [beliefGrid + 1]float64 // share below from + i step
}

const beliefGrid = 128 // ten steps a standard deviation

func beliefIn(hits, misses int) (b belief) {
	a, c := float64(hits)+0.5, float64(misses)+0.5
	density := func(u float64) float64 { // its logarithm; densities of log odds are smooth
		return a*u - (a+c)*softplus(u)
	}
	mode, sd := math.Log(a/c), math.Sqrt(1/a+1/c)
	peak := density(mode)
	reach := func(way float64) float64 {
		w := 4 * sd
		for peak-density(mode+way*w) < 20 {
			w *= 1.25
		}
		return mode + way*w
	}
	b.from = reach(-1)
	b.step = (reach(1) - b.from) / beliefGrid
	for i := range beliefGrid {
		b.below[i+1] = b.below[i] + math.Exp(density(b.from+(float64(i)+0.5)*b.step)-peak)
	}
	for i := range b.below {
		b.below[i] /= b.below[beliefGrid]
	}
	return b
}

// share returns how much of the belief lies below the log odds u.
func (b *belief) share(u float64) float64 {
	x := (u - b.from) / b.step
	switch {
	case x <= 0:
		return 0
	case x >= beliefGrid:
		return 1
	}
	i := int(x)
	return b.below[i] + (x-float64(i))*(b.below[i+1]-b.below[i])
}

// quantile returns the probability below which the share q lies.
func (b *belief) quantile(q float64) float64 {
	return logistic(root(b.from, b.from+b.step*beliefGrid, q, b.share))
}

// interval returns the middle 95 %.
func (b *belief) interval() span { return span{b.quantile(tail), b.quantile(1 - tail)} }

// lossInterval returns the middle 95 % of the share of packets lost in the long run,
// p/(p+r). Both rates are uncertain, and what is known of one says nothing of the
// other: P(p/r < x) is the mean of P(p < x r) over r.
func (t *transitions) lossInterval() span {
	p, r := t.enter(), t.leave()
	var logs, shares [beliefGrid]float64
	for i := range logs {
		logs[i] = -softplus(-(r.from + (float64(i)+0.5)*r.step)) // of r
		shares[i] = r.below[i+1] - r.below[i]
	}
	share := func(x float64) (sum float64) { // of p/r below exp x
		for i, w := range shares {
			if w < 1e-7 {
				continue
			}
			if y := x + logs[i]; y >= 0 {
				sum += w
			} else {
				sum += w * p.share(y-math.Log(-math.Expm1(y)))
			}
		}
		return sum
	}
	least, most := -softplus(-p.from), softplus(-r.from) // log p, and -log r where p is 1
	return span{logistic(root(least, most, tail, share)), logistic(root(least, most, 1-tail, share))}
}

// burstInterval returns that of the mean number of packets lost in a row, 1/r.
func (t *transitions) burstInterval() span {
	r := t.leave()
	in := r.interval()
	return span{1 / in.high, 1 / in.low}
}

// root halves the way to where a rising function is q.
func root(lo, hi, q float64, f func(float64) float64) float64 {
	for range 26 {
		if mid := (lo + hi) / 2; f(mid) < q {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// softplus is log(1 + exp u) without overflow.
func softplus(u float64) float64 { return max(u, 0) + math.Log1p(math.Exp(-math.Abs(u))) }
