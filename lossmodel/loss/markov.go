package loss

import (
	"math"
)

// Law is what a loss model does in the long run.
type Law struct {
	Rate    float64 // share of packets lost
	MeanRun float64 // mean number of packets lost in a row; 0 if none is, +Inf if all are
	Lag1    float64 // correlation between a packet's loss and the next one's
	// Spread is the variance of the share lost among N packets, times N, for
	// large N: its standard error is sqrt(Spread/N).
	Spread float64
}

// LawOf returns the law of a loss model; ok is false where it depends on a file.
// It follows from the model's parameters alone, by the algebra of its chain.
func LawOf(m Model) (law Law, ok bool) {
	switch m := m.(type) {
	case nil:
		return Law{}, true
	case chained:
		return m.chain().law(), true
	case interface{ law() (Law, bool) }:
		return m.law()
	}
	return Law{}, false
}

// chained is a model that is a Markov chain with a chance of loss in each state.
type chained interface{ chain() markov }

// markov is a chain of up to four states. Every state it can be in leads to one
// closed class, so there is one stationary distribution.
type markov struct {
	n    int
	next [4][4]float64 // next[i][j]: from i to j
	loss [4]float64    // in each state
}

// stationary returns the share of time spent in each state: the solution of
// pi P = pi, sum pi = 1.
func (m markov) stationary() [4]float64 {
	var a [4][5]float64
	for j := range m.n - 1 {
		for i := range m.n {
			a[j][i] = m.next[i][j]
		}
		a[j][j]--
	}
	for i := range m.n {
		a[m.n-1][i] = 1
	}
	a[m.n-1][4] = 1
	return solve(a, m.n)
}

// law: with f the chance of loss by state, mu its mean and g the solution of
// (I-P) g = f-mu, the covariances at all lags sum to <f-mu, g> - <f-mu, f-mu>.
// Any stationary process with rate L and lag-1 covariance C has mean runs of
// L/(L-L^2-C).
func (m markov) law() Law {
	pi := m.stationary()
	mu := 0.0
	for i := range m.n {
		mu += float64(pi[i] * m.loss[i])
	}
	f := m.loss
	for i := range m.n {
		f[i] -= mu
	}
	g := m.poisson(f, pi)
	c1, own, all := 0.0, 0.0, 0.0
	for i := range m.n {
		onward := 0.0
		for j := range m.n {
			onward += float64(m.next[i][j] * f[j])
		}
		c1 += float64(pi[i] * f[i] * onward)
		own += float64(pi[i] * f[i] * f[i])
		all += float64(pi[i] * f[i] * g[i])
	}
	v := float64(mu * (1 - mu))
	law := Law{Rate: mu, Spread: v + 2*(all-own)}
	if v > 0 {
		law.Lag1 = c1 / v
	}
	switch {
	case mu >= 1:
		law.MeanRun = math.Inf(1)
	case mu > 0:
		law.MeanRun = mu / (v - c1)
	}
	return law
}

// poisson solves (I-P) g = f with <pi, g> = 0, by adding 1 pi to I-P, which makes
// it regular.
func (m markov) poisson(f, pi [4]float64) [4]float64 {
	var a [4][5]float64
	for i := range m.n {
		for j := range m.n {
			a[i][j] = pi[j] - m.next[i][j]
		}
		a[i][i]++
		a[i][4] = f[i]
	}
	return solve(a, m.n)
}

// solve returns x with A x = b, b being column 4 of a, by elimination with the
// largest pivot.
func solve(a [4][5]float64, n int) (x [4]float64) {
	for col := range n {
		best := col
		for row := col + 1; row < n; row++ {
			if math.Abs(a[row][col]) > math.Abs(a[best][col]) {
				best = row
			}
		}
		a[col], a[best] = a[best], a[col]
		for row := range n {
			if row == col || a[col][col] == 0 {
				continue
			}
			times := a[row][col] / a[col][col]
			for k := col; k < 5; k++ {
				a[row][k] -= float64(times * a[col][k])
			}
		}
	}
	for i := range n {
		if a[i][i] != 0 {
			x[i] = a[i][4] / a[i][i]
		}
	}
	return x
}
