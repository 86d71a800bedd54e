package measure

import (
	"math"
)

// elliott holds the parameters of the Gilbert-Elliott model, a hidden Markov model with two
// states. The bad state is the one with the higher loss.
type elliott struct {
	p, r          float64 // transition probabilities: good to bad, bad to good
	eG, eB        float64 // loss probability in the good and in the bad state
	logLikelihood float64 // of the fitted losses
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

// likelihood returns the log likelihood of the losses by the forward algorithm, with scaling at
// each step.
func (m *elliott) likelihood(lost []bool) float64 {
	g, b := m.stationary()
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
		if product < 1e-200 { // saves logarithms: one for many factors
			sum += math.Log(product)
			product = 1
		}
	}
	return sum + math.Log(product)
}

// baumWelchStep returns the model after one step of the Baum-Welch algorithm: it computes
// expected counts under m (forward-backward) and the model that maximizes their likelihood. alpha
// is scratch space of len(lost).
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
		good, bad := ag*bg/total, ab*bb/total
		sumGood, sumBad = sumGood+good, sumBad+bad
		if lost[i] {
			lostGood, lostBad = lostGood+good, lostBad+bad
		}
		if i == 0 {
			break
		}
		eg, eb := m.emission(lost[i])
		fg, fb := eg*bg, eb*bb
		ag, ab = 1-alpha[i-1], alpha[i-1]
		gg, gb := ag*(1-m.p)*fg, ag*m.p*fb
		bgo, bba := ab*m.r*fg, ab*(1-m.r)*fb
		total = gg + gb + bgo + bba
		leftGood, toBad = leftGood+(gg+gb)/total, toBad+gb/total
		leftBad, toGood = leftBad+(bgo+bba)/total, toGood+bgo/total
		bg, bb = (1-m.p)*fg+m.p*fb, m.r*fg+(1-m.r)*fb
		if s := bg + bb; s < 1e-100 || s > 1e100 {
			bg, bb = bg/s, bb/s
		}
	}
	return elliott{p: clampedRatio(toBad, leftGood), r: clampedRatio(toGood, leftBad),
		eG: clampedRatio(lostGood, sumGood), eB: clampedRatio(lostBad, sumBad)}
}

// clampedRatio returns a/b limited to 1e-12 ... 1-1e-12: the Baum-Welch algorithm cannot move a
// probability away from 0 or 1.
func clampedRatio(a, b float64) float64 {
	const least = 1e-12
	if b <= 0 {
		return least
	}
	return min(max(a/b, least), 1-least)
}

// fitElliott returns the most likely model of several local maxima. gilbert is the fitted Gilbert
// model, from which the starting points are derived.
func fitElliott(lost []bool, gilbert elliott) elliott {
	rate := gilbert.eG + (gilbert.eB-gilbert.eG)*gilbert.p/(gilbert.p+gilbert.r)
	best := elliott{logLikelihood: math.Inf(-1)}
	alpha := make([]float64, len(lost))
	for _, from := range []elliott{
		{p: gilbert.p, r: gilbert.r, eG: rate / 20, eB: 0.95},
		{p: gilbert.p / 2, r: gilbert.r / 3, eG: rate / 5, eB: 0.6},
		{p: gilbert.p / 10, r: gilbert.r / 20, eG: rate / 2, eB: min(0.9, 3*rate)},
	} {
		m := maximize(lost, from, alpha)
		if m.logLikelihood > best.logLikelihood {
			best = m
		}
	}
	if best.eG > best.eB {
		best.p, best.r, best.eG, best.eB = best.r, best.p, best.eB, best.eG
	}
	return best
}

// maximize repeats Baum-Welch steps until the log likelihood gains less than 0.01 in ten steps,
// at most 120 times.
func maximize(lost []bool, m elliott, alpha []float64) elliott {
	const steps, between = 120, 10
	m.logLikelihood = m.likelihood(lost)
	for range steps / between {
		before := m.logLikelihood
		for range between {
			m = m.baumWelchStep(lost, alpha)
		}
		m.logLikelihood = m.likelihood(lost)
		if !(m.logLikelihood-before > 0.01) {
			break
		}
	}
	return m
}

// invert transforms [A I] into [I A^-1] by Gauss-Jordan elimination; false if A is singular.
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
			if times := a[row][col]; row != col && times != 0 {
				for k := range a[row] {
					a[row][k] -= times * a[col][k]
				}
			}
		}
	}
	return true
}

// logit returns the log odds of a probability; logistic is its inverse.
func logit(p float64) float64    { return math.Log(p / (1 - p)) }
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
