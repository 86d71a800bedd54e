package measure

import "math"

// transitions counts the outcomes of packets by the outcome of the packet before. They are a
// sufficient statistic for the parameters of the Gilbert model. Index 0 is an arrival, 1 a loss.
type transitions struct {
	total   [2]int // number of packets after an arrival, and after a loss
	changes [2]int // number of these packets with the other outcome
}

// countTransitions counts the transitions between successive packets, given whether each was lost.
func countTransitions(lost []bool) (t transitions) {
	for i := 1; i < len(lost); i++ {
		from := 0
		if lost[i-1] {
			from = 1
		}
		t.total[from]++
		if lost[i] != lost[i-1] {
			t.changes[from]++
		}
	}
	return t
}

// enterPosterior returns the posterior of p, the probability of a loss after an arrival.
func (t *transitions) enterPosterior() posterior {
	return newPosterior(t.changes[0], t.total[0]-t.changes[0])
}

// leavePosterior returns the posterior of r, the probability of an arrival after a loss.
func (t *transitions) leavePosterior() posterior {
	return newPosterior(t.changes[1], t.total[1]-t.changes[1])
}

// tailProbability is the probability below and above a 95 % interval.
const tailProbability = 0.025

// posterior is Jeffreys' posterior distribution of a probability after hits and misses,
// Beta(hits+1/2, misses+1/2), as a table over the log odds. Its intervals keep their coverage
// also for a few hits, where normal approximations fail (Brown, Cai and DasGupta, Interval
// Estimation for a Binomial Proportion, 2001).
type posterior struct {
	from, step float64                // log odds of the first grid point, distance of grid points
	cdf        [gridSteps + 1]float64 // cdf[i] is the probability that the log odds are below from + i*step
}

// gridSteps gives about ten steps per standard deviation.
const gridSteps = 128

// newPosterior returns the posterior distribution of a probability after the given numbers of hits and misses,
// with the prior of Jeffreys, Beta(1/2, 1/2). It tabulates the distribution function over the log odds of the
// probability, between the points at which the density falls below e^-20 of its maximum.
func newPosterior(hits, misses int) (b posterior) {
	a, c := float64(hits)+0.5, float64(misses)+0.5 // parameters of the beta distribution
	density := func(u float64) float64 {           // log density of the log odds u
		return a*u - (a+c)*softplus(u)
	}
	mode, sd := math.Log(a/c), math.Sqrt(1/a+1/c)
	peak := density(mode)
	bound := func(direction float64) float64 { // -1 searches below the mode, 1 above
		w := 4 * sd
		for peak-density(mode+direction*w) < 20 {
			w *= 1.25
		}
		return mode + direction*w
	}
	b.from = bound(-1)
	b.step = (bound(1) - b.from) / gridSteps
	for i := range gridSteps { // sum the density at the middle of each step
		b.cdf[i+1] = b.cdf[i] + math.Exp(density(b.from+(float64(i)+0.5)*b.step)-peak)
	}
	for i := range b.cdf {
		b.cdf[i] /= b.cdf[gridSteps]
	}
	return b
}

// cdfAt returns the probability that the log odds are below u.
func (b *posterior) cdfAt(u float64) float64 {
	x := (u - b.from) / b.step
	switch {
	case x <= 0:
		return 0
	case x >= gridSteps:
		return 1
	}
	i := int(x)
	return b.cdf[i] + (x-float64(i))*(b.cdf[i+1]-b.cdf[i])
}

// quantile returns the q-quantile, as a probability.
func (b *posterior) quantile(q float64) float64 {
	return logistic(bisect(b.from, b.from+b.step*gridSteps, q, b.cdfAt))
}

// interval returns the equal-tailed 95 % interval.
func (b *posterior) interval() span {
	return span{b.quantile(tailProbability), b.quantile(1 - tailProbability)}
}

// lossInterval returns the 95 % interval of the long-run loss rate p/(p+r). The posteriors of p
// and r are independent, so P(p/r < x) is the mean of P(p < x*r) over the posterior of r.
func (t *transitions) lossInterval() span {
	p, r := t.enterPosterior(), t.leavePosterior()
	// Log of r in the middle of each grid step, and the probability of the step. The grid is over the logit x
	// of a probability, whose log is -softplus(-x).
	var logR, weights [gridSteps]float64
	for i := range logR {
		logR[i] = -softplus(-(r.from + (float64(i)+0.5)*r.step))
		weights[i] = r.cdf[i+1] - r.cdf[i]
	}
	ratioCDF := func(x float64) (sum float64) { // probability that log(p/r) is below x
		for i, w := range weights {
			if w < 1e-7 { // the weight is negligible
				continue
			}
			if y := x + logR[i]; y >= 0 { // p < exp(y) is certain, because p is at most 1
				sum += w
			} else {
				sum += w * p.cdfAt(y-math.Log(-math.Expm1(y))) // at the log odds of the probability exp(y)
			}
		}
		return sum
	}
	// The bounds of log(p/r): the lowest p with r = 1, and p = 1 with the lowest r.
	lowest, highest := -softplus(-p.from), softplus(-r.from)
	return span{logistic(bisect(lowest, highest, tailProbability, ratioCDF)),
		logistic(bisect(lowest, highest, 1-tailProbability, ratioCDF))}
}

// burstInterval returns the 95 % interval of the mean burst length, 1/r.
func (t *transitions) burstInterval() span {
	r := t.leavePosterior()
	leave := r.interval()
	return span{1 / leave.high, 1 / leave.low}
}

// bisect returns x between lo and hi where the increasing function f has the value q, with a
// precision of (hi-lo)/2^27.
func bisect(lo, hi, q float64, f func(float64) float64) float64 {
	for range 26 {
		if mid := (lo + hi) / 2; f(mid) < q {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// softplus returns log(1 + exp(u)) without overflow.
func softplus(u float64) float64 { return max(u, 0) + math.Log1p(math.Exp(-math.Abs(u))) }
