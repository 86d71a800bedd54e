package measure

import "math"

// rate returns the share of packets lost in the long run.
func (m *elliott) rate() float64 {
	g, b := m.start()
	return g*m.eG + b*m.eB
}

// afterArrival returns the chance of being in each state, and of a loss there, right after an arrival.
func (m *elliott) afterArrival() (good, bad float64) {
	g, b := m.start()
	g, b = g*(1-m.eG), b*(1-m.eB)
	return (g*(1-m.p) + b*m.r) * m.eG, (g*m.p + b*(1-m.r)) * m.eB
}

// burst returns the mean length of a run of losses: losses over runs that begin.
func (m *elliott) burst() float64 {
	good, bad := m.afterArrival()
	return m.rate() / (good + bad)
}

// elliottFigure is something that follows from the model, on a scale on which its
// estimates are all but normal.
type elliottFigure struct {
	name, unit  string
	value       float64
	of          func(*elliott) float64
	scale, back func(float64) float64
	end         func(*elliott) // where k and h can end: at 100% and 0%
}

// elliottFigures lists what is stated of a model, given what was measured.
func elliottFigures(rate, burst float64, m *elliott) []elliottFigure {
	share := func(name string, value float64, of func(*elliott) float64, end func(*elliott)) elliottFigure {
		return elliottFigure{name: name, value: value, of: of, scale: logit, back: logistic, end: end}
	}
	return []elliottFigure{
		share("loss", rate, (*elliott).rate, nil),
		{name: "mean burst", unit: "packets", value: burst, of: (*elliott).burst, scale: math.Log, back: math.Exp},
		share("p", m.p, func(m *elliott) float64 { return m.p }, nil),
		share("r", m.r, func(m *elliott) float64 { return m.r }, nil),
		share("k", 1-m.eG, func(m *elliott) float64 { return 1 - m.eG }, func(m *elliott) { m.eG = 0 }),
		share("h", 1-m.eB, func(m *elliott) float64 { return 1 - m.eB }, func(m *elliott) { m.eB = 1 }),
	}
}

// uncertainty is what a capture leaves open about a model: the asymptotic covariance
// of the most likely p, r, eG and eB on the logistic scale, which is the inverse of
// the curvature of the likelihood at its top.
type uncertainty struct {
	model *elliott
	lost  []bool
	at    [4]float64 // p, r, eG, eB
	free  []int      // those that are not at an end, where there is no curvature
	cov   [][]float64
}

func elliottAt(x [4]float64) *elliott {
	return &elliott{p: logistic(x[0]), r: logistic(x[1]), eG: logistic(x[2]), eB: logistic(x[3])}
}

// uncertainty is ok unless the likelihood has no top.
func (m *elliott) uncertainty(lost []bool) (u uncertainty, ok bool) {
	u = uncertainty{model: m, lost: lost, at: [4]float64{logit(m.p), logit(m.r), logit(m.eG), logit(m.eB)}}
	for i, x := range u.at {
		if math.Abs(x) < 12 {
			u.free = append(u.free, i)
		}
	}
	const h = 0.02
	near := func(i, j int, di, dj float64) float64 {
		x := u.at
		x[i] += di
		x[j] += dj
		return elliottAt(x).likelihood(lost)
	}
	n := len(u.free)
	a := make([][]float64, n) // the curvature, and beside it the unit matrix
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
		if !(u.cov[r][r] > 0) {
			return u, false
		}
	}
	return u, true
}

// interval returns the 95 % interval of a figure by the delta method: the
// covariance, seen along the figure's slope.
func (u *uncertainty) interval(e *elliottFigure) span {
	const h = 0.01
	slope := make([]float64, len(u.free))
	for r, i := range u.free {
		above, below := u.at, u.at
		above[i] += h
		below[i] -= h
		slope[r] = (e.scale(e.of(elliottAt(above))) - e.scale(e.of(elliottAt(below)))) / (2 * h)
	}
	variance := 0.0
	for r, x := range slope {
		for c, y := range slope {
			variance += x * y * u.cov[r][c]
		}
	}
	const unknown = 20 // from 1 in 500 million to all but as few
	mid, half := e.scale(e.of(u.model)), z95*math.Sqrt(max(0, variance))
	if !(half < unknown) {
		half = unknown
	}
	s := span{e.back(mid - half), e.back(mid + half)}
	if e.end != nil {
		u.reach(e, &s)
	}
	return s
}

// reach takes the end of the scale into an interval if the likelihood there is no
// less than at the end of an interval: the logistic scale never gets there.
func (u *uncertainty) reach(e *elliottFigure, s *span) {
	m := *u.model
	e.end(&m)
	if u.model.evidence-m.likelihood(u.lost) > z95*z95/2 {
		return
	}
	end := e.of(&m)
	s.low, s.high = min(s.low, end), max(s.high, end)
}
