package measure

import (
	"math"
)

// elliott holds the parameters of the Gilbert-Elliott model, a hidden Markov model with two
// states. The bad state is the one with the higher loss.
type elliott struct {
	p, r          float64 // transition probabilities: good to bad, bad to good
	eG, eB        float64 // loss probability in the good and in the bad state
	logLikelihood float64 // log likelihood of the losses to which the model was fitted
}

// stationary returns the stationary probabilities of the states.
func (m *elliott) stationary() (good, bad float64) { return m.r / (m.p + m.r), m.p / (m.p + m.r) }

// emission returns the probability of an outcome in each state.
func (m *elliott) emission(lost bool) (good, bad float64) {
	if lost {
		return m.eG, m.eB
	}
	return 1 - m.eG, 1 - m.eB
}

// likelihood returns the natural logarithm of the probability of the losses under the model, by the
// forward algorithm with scaling at each step; -Inf if the losses are impossible.
func (m *elliott) likelihood(lost []bool) float64 {
	g, b := m.stationary() // probabilities of the good and the bad state given the losses before
	sum, product := 0.0, 1.0
	for i, l := range lost {
		if i > 0 {
			g, b = g*(1-m.p)+b*m.r, g*m.p+b*(1-m.r)
		}
		eg, eb := m.emission(l)
		g, b = g*eg, b*eb
		scale := g + b
		if scale <= 0 {
			return math.Inf(-1)
		}
		g, b = g/scale, b/scale
		product *= scale
		if product < 1e-200 { // one logarithm for many factors is faster than one for each
			sum += math.Log(product)
			product = 1
		}
	}
	return sum + math.Log(product)
}

// baumWelchStep returns the model after one step of the Baum-Welch algorithm: it computes
// expected counts under m (forward-backward) and the model that maximizes their likelihood. alpha
// is scratch space of length len(lost). In the names of variables, g is the good and b the bad state.
func (m *elliott) baumWelchStep(lost []bool, alpha []float64) elliott {
	g, b := m.stationary()
	for i, l := range lost { // forward pass: alpha[i] is the probability of the bad state given lost[:i+1]
		if i > 0 {
			g, b = g*(1-m.p)+b*m.r, g*m.p+b*(1-m.r)
		}
		eg, eb := m.emission(l)
		g, b = g*eg, b*eb
		g, b = g/(g+b), b/(g+b)
		alpha[i] = b
	}
	// Expected counts: packets and losses in each state, transitions from each state, state changes.
	var sumGood, sumBad, lostGood, lostBad, leftGood, leftBad, toBad, toGood float64
	bg, bb := 1.0, 1.0 // backward pass: probability of lost[i+1:] given the state, up to a common factor
	for i := len(lost) - 1; i >= 0; i-- {
		ag, ab := 1-alpha[i], alpha[i]
		total := ag*bg + ab*bb
		good, bad := ag*bg/total, ab*bb/total // probability of each state at packet i given all losses
		sumGood, sumBad = sumGood+good, sumBad+bad
		if lost[i] {
			lostGood, lostBad = lostGood+good, lostBad+bad
		}
		if i == 0 {
			break
		}
		eg, eb := m.emission(lost[i])
		fg, fb := eg*bg, eb*bb // the backward probabilities with packet i included
		ag, ab = 1-alpha[i-1], alpha[i-1]
		// Weights of the transitions from packet i-1 to i: good to good and bad, bad to good and bad.
		gg, gb := ag*(1-m.p)*fg, ag*m.p*fb
		badGood, badBad := ab*m.r*fg, ab*(1-m.r)*fb
		total = gg + gb + badGood + badBad
		leftGood, toBad = leftGood+(gg+gb)/total, toBad+gb/total
		leftBad, toGood = leftBad+(badGood+badBad)/total, toGood+badGood/total
		bg, bb = (1-m.p)*fg+m.p*fb, m.r*fg+(1-m.r)*fb
		if s := bg + bb; s < 1e-100 || s > 1e100 { // rescale before they leave the range of float64
			bg, bb = bg/s, bb/s
		}
	}
	return elliott{p: clampedRatio(toBad, leftGood), r: clampedRatio(toGood, leftBad),
		eG: clampedRatio(lostGood, sumGood), eB: clampedRatio(lostBad, sumBad)}
}

// clampedRatio returns a/b limited to 1e-12 ... 1-1e-12, because the Baum-Welch algorithm cannot
// move a probability away from 0 or 1. If b is 0 it returns 1e-12.
func clampedRatio(a, b float64) float64 {
	const smallest = 1e-12
	if b <= 0 {
		return smallest
	}
	return min(max(a/b, smallest), 1-smallest)
}

// fitElliott fits the Gilbert-Elliott model to losses. The likelihood has several local maxima, so
// it starts from several models derived from gilbert, the fitted Gilbert model, and returns the
// most likely result. In the three starting models the bad states lose 95 % of the packets; are longer and
// lose 60 %; and are rare and very long.
func fitElliott(lost []bool, gilbert elliott) elliott {
	rate := gilbert.eG + (gilbert.eB-gilbert.eG)*gilbert.p/(gilbert.p+gilbert.r) // fraction lost
	best := elliott{logLikelihood: math.Inf(-1)}
	alpha := make([]float64, len(lost))
	for _, start := range []elliott{
		{p: gilbert.p, r: gilbert.r, eG: rate / 20, eB: 0.95},
		{p: gilbert.p / 2, r: gilbert.r / 3, eG: rate / 5, eB: 0.6},
		{p: gilbert.p / 10, r: gilbert.r / 20, eG: rate / 2, eB: min(0.9, 3*rate)},
	} {
		m := maximize(lost, start, alpha)
		if m.logLikelihood > best.logLikelihood {
			best = m
		}
	}
	if best.eG > best.eB { // swap the states: by definition, the bad state is the one with the higher loss
		best.p, best.r, best.eG, best.eB = best.r, best.p, best.eB, best.eG
	}
	return best
}

// maximize repeats Baum-Welch steps, which increase the likelihood, from the model m until the log
// likelihood gains less than 0.01 in ten steps, at most 120 steps. alpha is scratch space of
// len(lost).
func maximize(lost []bool, m elliott, alpha []float64) elliott {
	const maxSteps, perCheck = 120, 10
	m.logLikelihood = m.likelihood(lost)
	for range maxSteps / perCheck {
		before := m.logLikelihood
		for range perCheck {
			m = m.baumWelchStep(lost, alpha)
		}
		m.logLikelihood = m.likelihood(lost)
		if !(m.logLikelihood-before > 0.01) { // the negation is true also if the gain is NaN
			break
		}
	}
	return m
}

// invert transforms the matrix a = [A I] into [I A^-1] in place by Gauss-Jordan elimination with
// partial pivoting. It returns false if A is singular.
func invert(a [][]float64) bool {
	n := len(a)
	for col := range n {
		best := col
		for row := col; row < n; row++ {
			if math.Abs(a[row][col]) > math.Abs(a[best][col]) {
				best = row
			}
		}
		a[col], a[best] = a[best], a[col]
		pivot := a[col][col]
		if pivot == 0 || math.IsNaN(pivot) || math.IsInf(pivot, 0) {
			return false
		}
		for k := range a[col] {
			a[col][k] /= pivot
		}
		for row := range n {
			if factor := a[row][col]; row != col && factor != 0 {
				for k := range a[row] {
					a[row][k] -= factor * a[col][k]
				}
			}
		}
	}
	return true
}

// logit returns the log odds of a probability; logistic is its inverse.
func logit(p float64) float64    { return math.Log(p / (1 - p)) }
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
