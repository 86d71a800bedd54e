package loss

import (
	"math"

	"wirelab/lossmodel/random"
)

// closedForm has the long-run properties of a loss model.
type closedForm struct {
	Rate    float64 // fraction of packets lost
	MeanRun float64 // mean number of packets lost in a row; 0 if none is lost, +Inf if all are
	Lag1    float64 // correlation of the losses of successive packets
	// Variance is N times the variance of the fraction lost among N packets, for large N. The
	// standard error of that fraction is sqrt(Variance/N).
	Variance float64
}

// Analyze computes the closed form of a loss model from its parameters. ok is false if the losses
// depend on a file.
func Analyze(m Model) (form closedForm, ok bool) {
	switch m := m.(type) {
	case nil:
		return closedForm{}, true
	case chainModel:
		return m.chain().closedForm(), true
	case interface{ closedForm() (closedForm, bool) }:
		return m.closedForm()
	}
	return closedForm{}, false
}

// chainModel is a model that is a Markov chain with a loss probability in each state.
type chainModel interface{ chain() markov }

// markov is a Markov chain with up to four states and one recurrent class, so that its stationary
// distribution is unique.
type markov struct {
	states int           // number of states
	next   [4][4]float64 // next[i][j] is the transition probability from i to j
	loss   [4]float64    // loss probability in each state
}

// stationary returns the stationary distribution: the solution of pi P = pi, sum pi = 1. The sum
// replaces the last of the equations of pi P = pi, which follows from the others.
func (m markov) stationary() [4]float64 {
	var a [4][5]float64
	for j := range m.states - 1 {
		for i := range m.states {
			a[j][i] = m.next[i][j]
		}
		a[j][j]--
	}
	for i := range m.states {
		a[m.states-1][i] = 1
	}
	a[m.states-1][4] = 1
	return solve(a, m.states)
}

// closedForm computes the statistics of the chain's losses: rate, mean run length, correlation at lag 1 and
// asymptotic variance. P is the transition matrix and mu the loss rate. With f the loss probability by state
// minus mu, and g the solution of (I-P) g = f, the covariances at all lags from 1 on sum to <f, g> - <f, f>,
// where <,> is the mean of the product under the stationary distribution. A stationary process with rate L and
// covariance C at lag 1 has a mean run of L/(L-L^2-C).
func (m markov) closedForm() closedForm {
	pi := m.stationary()
	mu := 0.0
	for i := range m.states {
		mu += float64(pi[i] * m.loss[i])
	}
	f := m.loss // after the loop: the loss probabilities minus their mean
	for i := range m.states {
		f[i] -= mu
	}
	g := m.poisson(f, pi)
	c1, selfSum, lagSum := 0.0, 0.0, 0.0 // covariance at lag 1, <f, f>, <f, g>
	for i := range m.states {
		expectedNext := 0.0 // mean of f in the state after i
		for j := range m.states {
			expectedNext += float64(m.next[i][j] * f[j])
		}
		c1 += float64(pi[i] * f[i] * expectedNext)
		selfSum += float64(pi[i] * f[i] * f[i])
		lagSum += float64(pi[i] * f[i] * g[i])
	}
	v := float64(mu * (1 - mu)) // variance of the loss of one packet
	form := closedForm{Rate: mu, Variance: v + 2*(lagSum-selfSum)}
	if v > 0 {
		form.Lag1 = c1 / v
	}
	switch {
	case mu >= 1:
		form.MeanRun = math.Inf(1)
	case mu > 0:
		form.MeanRun = mu / (v - c1)
	}
	return form
}

// poisson returns the solution g of the Poisson equation (I-P) g = f with <pi, g> = 0, where pi is
// the stationary distribution. I-P is singular; adding pi to each of its rows makes it regular and
// does not change that solution.
func (m markov) poisson(f, pi [4]float64) [4]float64 {
	var a [4][5]float64
	for i := range m.states {
		for j := range m.states {
			a[i][j] = pi[j] - m.next[i][j]
		}
		a[i][i]++
		a[i][4] = f[i]
	}
	return solve(a, m.states)
}

// solve solves n linear equations with n unknowns by Gauss-Jordan elimination with partial pivoting. Row i of a
// contains the n coefficients of equation i and, in column 4, its right-hand side. An unknown whose pivot is 0
// is set to 0.
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
			factor := a[row][col] / a[col][col]
			for k := col; k < 5; k++ {
				a[row][k] -= float64(factor * a[col][k])
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

// chainProcess is a Process that advances a Markov chain once per datagram and loses packets
// depending on its state. States are numbered from 1; state 0 is before the first datagram.
// Copies of a datagram have its state; fragments count as one packet.
type chainProcess struct {
	transitions [5][3]transition // transitions out of each state, tried in order
	defaults    [5]uint8         // by state: the next state if no transition is taken
	bad         [5]bool          // by state: reported as Packet.Bad
	lossChance  [5]random.Chance // loss probability by state
	state       uint8            // current state
}

// transition leads to another state if a random word hits the chance. Chances of one state are
// cumulative: the word is the same for all of them.
type transition struct {
	chance random.Chance
	to     uint8
}

// Numbers of the two states in models that have a good and a bad state.
const (
	good = 1
	bad  = 2
)

// newChain returns prev if it is a chainProcess, to keep its state, otherwise a new one. By default
// each state is followed by itself. The caller sets all other fields.
func newChain(prev Process) *chainProcess {
	p := reuse[chainProcess](prev)
	p.defaults = [5]uint8{0, 1, 2, 3, 4}
	return p
}

// newTwoStates returns a chain of a good and a bad state. start is the probability that the first
// datagram is in the bad state, enter and leave are the transition probabilities into and out of
// the bad state, lostGood and lostBad the loss probabilities.
func newTwoStates(prev Process, start, enter, leave, lostGood, lostBad float64) *chainProcess {
	p := newChain(prev)
	p.defaults[0] = good
	p.transitions[0][0] = transition{random.NewChance(start), bad}
	p.transitions[good][0] = transition{random.NewChance(enter), bad}
	p.transitions[bad][0] = transition{random.NewChance(leave), good}
	p.lossChance[good], p.lossChance[bad] = random.NewChance(lostGood), random.NewChance(lostBad)
	p.bad[bad] = true
	return p
}

func (p *chainProcess) Fork() Process { c := *p; return &c }

// Judge implements Process. Only a datagram itself advances the chain: its copies are in the same
// state. If the loss probability of the state is between 0 and 1, the datagram and each copy are lost
// independently, because a random word derived from pkt.Word decides for each of them.
func (p *chainProcess) Judge(pkt *Packet) {
	if pkt.Copy == 0 {
		p.state = p.nextState(pkt.Word)
	}
	pkt.Bad = p.bad[p.state]
	lost := p.lossChance[p.state]
	if lost < random.Certain {
		pkt.Draw = random.Draw{Chance: lost, Word: random.DeriveWord(pkt.Word, 0)}
	}
	switch {
	case lost == 0 || lost < random.Certain && !lost.Hit(pkt.Draw.Word): // the packet arrives
	case pkt.Bad:
		pkt.Lost = Burst
	default:
		pkt.Lost = Independent
	}
}

// nextState returns the state after the current one for a random word.
func (p *chainProcess) nextState(word uint64) uint8 {
	for _, m := range &p.transitions[p.state] {
		if m.chance.Hit(word) {
			return m.to
		}
	}
	return p.defaults[p.state]
}
