package measure

import (
	"math"
)

// elliott is the Gilbert-Elliott model as an estimator sees it: rates between the
// states, and the chance of loss in each.
type elliott struct {
	p, r     float64 // good to bad, bad to good
	eG, eB   float64 // loss in the good and in the bad state
	evidence float64 // log likelihood of the losses
}

// start returns the stationary distribution.
func (m *elliott) start() (good, bad float64) { return m.r / (m.p + m.r), m.p / (m.p + m.r) }

// emit returns the chance of what was seen, in each state.
func (m *elliott) emit(lost bool) (good, bad float64) {
	if lost {
		return m.eG, m.eB
	}
	return 1 - m.eG, 1 - m.eB
}

// likelihood returns the log likelihood of the losses: the forward pass, scaled at
// each step.
func (m *elliott) likelihood(lost []bool) float64 {
	g, b := m.start()
	sum, product := 0.0, 1.0
	for i, l := range lost {
		if i > 0 {
			g, b = g*(1-m.p)+b*m.r, g*m.p+b*(1-m.r)
		}
		eg, eb := m.emit(l)
		g, b = g*eg, b*eb
		scale := g + b
		if scale <= 0 {
			return math.Inf(-1)
		}
		g, b = g/scale, b/scale
		product *= scale
		if product < 1e-200 { // one logarithm for many factors
			sum += math.Log(product)
			product = 1
		}
	}
	return sum + math.Log(product)
}

// improve is one step of Baum and Welch's: expected counts under m, and the model
// that they make most likely. alpha is scratch of len(lost).
func (m *elliott) improve(lost []bool, alpha []float64) elliott {
	g, b := m.start()
	for i, l := range lost { // alpha: the chance of the bad state given the past
		if i > 0 {
			g, b = g*(1-m.p)+b*m.r, g*m.p+b*(1-m.r)
		}
		eg, eb := m.emit(l)
		g, b = g*eg, b*eb
		g, b = g/(g+b), b/(g+b)
		alpha[i] = b
	}
	var inGood, inBad, lostGood, lostBad, leftGood, leftBad, toBad, toGood float64
	bg, bb := 1.0, 1.0 // the chance of the future, up to a factor
	for i := len(lost) - 1; i >= 0; i-- {
		ag, ab := 1-alpha[i], alpha[i]
		total := ag*bg + ab*bb
		good, bad := ag*bg/total, ab*bb/total
		inGood, inBad = inGood+good, inBad+bad
		if lost[i] {
			lostGood, lostBad = lostGood+good, lostBad+bad
		}
		if i == 0 {
			break
		}
		eg, eb := m.emit(lost[i])
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
	return elliott{p: share(toBad, leftGood), r: share(toGood, leftBad), eG: share(lostGood, inGood), eB: share(lostBad, inBad)}
}

// share is a/b, kept away from what an estimate can never leave again.
func share(a, b float64) float64 {
	const least = 1e-12
	if b <= 0 {
		return least
	}
	return min(max(a/b, least), 1-least)
}

// fitElliott climbs from several starts to the most likely model; the bad state is
// the one that loses more.
func fitElliott(lost []bool, near elliott) elliott {
	rate := near.eG + (near.eB-near.eG)*near.p/(near.p+near.r)
	best := elliott{evidence: math.Inf(-1)}
	alpha := make([]float64, len(lost))
	for _, from := range []elliott{
		{p: near.p, r: near.r, eG: rate / 20, eB: 0.95},
		{p: near.p / 2, r: near.r / 3, eG: rate / 5, eB: 0.6},
		{p: near.p / 10, r: near.r / 20, eG: rate / 2, eB: min(0.9, 3*rate)},
	} {
		m := climb(lost, from, alpha)
		if m.evidence > best.evidence {
			best = m
		}
	}
	if best.eG > best.eB {
		best.p, best.r, best.eG, best.eB = best.r, best.p, best.eB, best.eG
	}
	return best
}

// climb repeats improve until the likelihood all but stands still.
func climb(lost []bool, m elliott, alpha []float64) elliott {
	const steps, between = 120, 10
	m.evidence = m.likelihood(lost)
	for range steps / between {
		was := m.evidence
		for range between {
			m = m.improve(lost, alpha)
		}
		m.evidence = m.likelihood(lost)
		if !(m.evidence-was > 0.01) {
			break
		}
	}
	return m
}

// invert turns [A I] into [I A^-1]; false if A has no inverse.
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

func logit(p float64) float64    { return math.Log(p / (1 - p)) }
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
