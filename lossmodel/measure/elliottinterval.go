package measure

import "math"

// lossRate returns the long-run fraction of packets lost.
func (m *elliott) lossRate() float64 {
	g, b := m.stationary()
	return g*m.eG + b*m.eB
}

// afterArrival returns, for a packet that follows an arrived one, the probability that it is lost
// in the good state and in the bad state. The values are relative to all packets, not to the
// arrived ones.
func (m *elliott) afterArrival() (good, bad float64) {
	g, b := m.stationary()
	g, b = g*(1-m.eG), b*(1-m.eB)
	return (g*(1-m.p) + b*m.r) * m.eG, (g*m.p + b*(1-m.r)) * m.eB
}

// meanBurst returns the mean length of a run of losses: the rate of losses divided by the rate of
// run starts.
func (m *elliott) meanBurst() float64 {
	good, bad := m.afterArrival()
	return m.lossRate() / (good + bad)
}

// elliottFigure is a quantity derived from the model, with a transformation under which its
// estimator is nearly normal.
type elliottFigure struct {
	name, unit         string
	value              float64                // the estimate
	compute            func(*elliott) float64 // computes the quantity of a model
	transform, inverse func(float64) float64
	setLimit           func(*elliott) // sets the parameter to its limit, which the logistic scale cannot reach; nil if none
}

// elliottFigures lists the estimated quantities of a model. rate and burst are the measured loss
// rate and mean burst.
func elliottFigures(rate, burst float64, m *elliott) []elliottFigure {
	probability := func(name string, value float64, compute func(*elliott) float64, setLimit func(*elliott)) elliottFigure {
		return elliottFigure{name: name, value: value, compute: compute, transform: logit, inverse: logistic, setLimit: setLimit}
	}
	return []elliottFigure{
		probability("loss", rate, (*elliott).lossRate, nil), // nil: its interval need not include a limit
		{name: "mean burst", unit: "packets", value: burst, compute: (*elliott).meanBurst, transform: math.Log,
			inverse: math.Exp},
		probability("p", m.p, func(m *elliott) float64 { return m.p }, nil),
		probability("r", m.r, func(m *elliott) float64 { return m.r }, nil),
		probability("k", 1-m.eG, func(m *elliott) float64 { return 1 - m.eG }, func(m *elliott) { m.eG = 0 }),
		probability("h", 1-m.eB, func(m *elliott) float64 { return 1 - m.eB }, func(m *elliott) { m.eB = 1 }),
	}
}

// uncertainty is the asymptotic covariance of the maximum likelihood estimates of p, r, eG and eB
// on the logit scale: the inverse of the negative Hessian of the log likelihood.
type uncertainty struct {
	model  *elliott
	lost   []bool
	logits [4]float64  // logits of p, r, eG, eB
	free   []int       // indices into logits of parameters away from 0 and 1; at a limit the likelihood has no curvature
	cov    [][]float64 // covariance matrix of the free parameters
}

// elliottFromLogits is the inverse of uncertainty.logits.
func elliottFromLogits(x [4]float64) *elliott {
	return &elliott{p: logistic(x[0]), r: logistic(x[1]), eG: logistic(x[2]), eB: logistic(x[3])}
}

// maxFreeLogit is the absolute value of a logit from which a probability counts as 0 or 1, because it differs from
// that by less than 1e-5.
const maxFreeLogit = 12

// uncertainty estimates the covariance of the parameters of m, on the logit scale: it is the inverse of the
// negative second derivatives of the log likelihood, which are computed by finite differences. Parameters
// close to 0 or 1 are treated as fixed. ok is false if the likelihood has no maximum at m.
func (m *elliott) uncertainty(lost []bool) (u uncertainty, ok bool) {
	u = uncertainty{model: m, lost: lost, logits: [4]float64{logit(m.p), logit(m.r), logit(m.eG), logit(m.eB)}}
	for i, x := range u.logits {
		if math.Abs(x) < maxFreeLogit {
			u.free = append(u.free, i)
		}
	}
	const h = 0.02 // step of the finite differences
	// near returns the log likelihood with logits i and j shifted by di and dj.
	near := func(i, j int, di, dj float64) float64 {
		x := u.logits
		x[i] += di
		x[j] += dj
		return elliottFromLogits(x).likelihood(lost)
	}
	n := len(u.free)
	a := make([][]float64, n) // negative Hessian, and the unit matrix to its right
	for r, i := range u.free {
		a[r] = make([]float64, 2*n)
		a[r][n+r] = 1
		for c, j := range u.free {
			a[r][c] = -(near(i, j, h, h) - near(i, j, h, -h) - near(i, j, -h, h) + near(i, j, -h, -h)) / (4 * h * h)
		}
	}
	if !invert(a) {
		return u, false
	}
	for r := range a {
		u.cov = append(u.cov, a[r][n:])
		if !(u.cov[r][r] > 0) { // a variance that is not positive, or NaN
			return u, false
		}
	}
	return u, true
}

// interval returns the 95 % interval of a figure by the delta method: with the gradient s of the
// transformed figure with respect to the logits, its variance is s' cov s. For a parameter with a
// limit, the interval may be extended to the limit; see includeLimit.
func (u *uncertainty) interval(figure *elliottFigure) span {
	const h = 0.01 // step of the finite differences
	slope := make([]float64, len(u.free))
	for r, i := range u.free {
		above, below := u.logits, u.logits
		above[i] += h
		below[i] -= h
		slope[r] = (figure.transform(figure.compute(elliottFromLogits(above))) - figure.transform(figure.compute(elliottFromLogits(below)))) / (2 * h)
	}
	variance := 0.0
	for r, x := range slope {
		for c, y := range slope {
			variance += x * y * u.cov[r][c]
		}
	}
	const maxHalf = 20 // limit on the logit scale: around 1/2, probabilities from 2e-9 to 1-2e-9
	mid, half := figure.transform(figure.compute(u.model)), z95*math.Sqrt(max(0, variance))
	if !(half < maxHalf) { // the negation is true also if half is NaN
		half = maxHalf
	}
	s := span{figure.inverse(mid - half), figure.inverse(mid + half)}
	if figure.setLimit != nil {
		u.includeLimit(figure, &s)
	}
	return s
}

// includeLimit extends an interval to the limit of the parameter if the likelihood ratio does not
// reject the limit at 95 %. Intervals on the logit scale never reach it.
func (u *uncertainty) includeLimit(e *elliottFigure, s *span) {
	atLimit := *u.model
	e.setLimit(&atLimit)
	if u.model.logLikelihood-atLimit.likelihood(u.lost) > z95*z95/2 {
		return
	}
	limitValue := e.compute(&atLimit)
	s.low, s.high = min(s.low, limitValue), max(s.high, limitValue)
}
