package loss

import (
	"math"
	"wirelab/lossmodel/random"
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

// chainProcess moves a Markov chain once for each datagram and loses packets by its state.
// States are numbered from 1; in state 0 the chain has not begun.
//
// A copy of a datagram finds the state that the datagram found; fragments count as one.
type chainProcess struct {
	moves [5][3]move // from each state, tried in order; if none is taken the chain goes to stays
	stays [5]uint8
	bad   [5]bool
	lost  [5]random.Chance // in each state
	state uint8
}

// move leads to a state with the chance that a word is below a threshold, and the moves before
// it were not taken.
type move struct {
	below random.Chance
	to    uint8
}

// The states of models with two.
const (
	good = 1
	bad  = 2
)

// newChain returns prev, or a chain that has not begun. The caller sets the rest.
func newChain(prev Process) *chainProcess {
	p := prior[chainProcess](prev)
	p.stays = [5]uint8{0, 1, 2, 3, 4}
	return p
}

// newTwoStates returns a chain of a good and a bad state. start is the chance of being in the bad
// state at first.
func newTwoStates(prev Process, start, enter, leave, lostGood, lostBad float64) *chainProcess {
	p := newChain(prev)
	p.stays[0] = good
	p.moves[0][0] = move{random.ChanceOf(start), bad}
	p.moves[good][0] = move{random.ChanceOf(enter), bad}
	p.moves[bad][0] = move{random.ChanceOf(leave), good}
	p.lost[good], p.lost[bad] = random.ChanceOf(lostGood), random.ChanceOf(lostBad)
	p.bad[bad] = true
	return p
}

// Fork implements Process.
func (p *chainProcess) Fork() Process { c := *p; return &c }

// Judge implements Process. In a state of uncertain losses each packet, copies too, is lost
// independently by a word of its own.
func (p *chainProcess) Judge(pkt *Packet) {
	if pkt.Copy == 0 {
		p.state = p.after(pkt.Word)
	}
	pkt.Bad = p.bad[p.state]
	lost := p.lost[p.state]
	switch {
	case lost == 0 || lost < random.Certain && !lost.Hit(random.Further(pkt.Word, 0)):
	case pkt.Bad:
		pkt.Lost = InBurst
	default:
		pkt.Lost = Alone
	}
}

// after returns the state that follows.
func (p *chainProcess) after(word uint64) uint8 {
	for _, m := range &p.moves[p.state] {
		if m.below.Hit(word) {
			return m.to
		}
	}
	return p.stays[p.state]
}
