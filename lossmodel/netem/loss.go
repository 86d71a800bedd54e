package netem

// chainState is a state of the four-state chain, with the kernel's names. The comments have the
// numbers of the states in the literature.
type chainState uint8

const (
	receivedInGap   chainState = iota // state 1 of the literature: an arrival between bursts
	lostInBurst                       // state 3 of the literature: a loss within a burst
	receivedInBurst                   // state 2 of the literature: an arrival within a burst
	lostInGap                         // state 4 of the literature: a single loss between bursts
)

// lossState has the states of all loss models. Each keeps its state while another model is in
// use.
type lossState struct {
	correlated correlated // state of randomLoss
	chain      chainState // state of fourState
	bad        bool       // state of gilbertElliott: bad instead of good
}

// decide advances the model of p with random numbers of g and returns the outcome of a packet:
// passed, Isolated or Burst.
func (l *lossState) decide(g *lfsr, p *lossParams) outcome {
	switch p.Model {
	case fourState:
		return l.nextFourState(g.next(), p)
	case gilbertElliott:
		return l.nextGilbertElliott(g, p)
	}
	if p.Probability > 0 && uint32(p.Probability) >= l.correlated.next(g, p.Corr) {
		return Isolated
	}
	return passed
}

// nextFourState advances the four-state chain with the random number u and returns the outcome of the packet in
// the new state. Pij is the probability of changing from state i to j; the states 1 to 4 are receivedInGap,
// receivedInBurst, lostInBurst and lostInGap. Sums of two probabilities overflow 32 bits as in the kernel.
func (l *lossState) nextFourState(u uint32, p *lossParams) outcome {
	x := probability(u)
	switch l.chain {
	case receivedInGap:
		if x < p.P14 {
			l.chain = lostInGap
		} else if x < p.P13+p.P14 {
			l.chain = lostInBurst
		}
	case receivedInBurst:
		if x < p.P23 {
			l.chain = lostInBurst
		}
	case lostInBurst:
		if x < p.P32 {
			l.chain = receivedInBurst
		} else if x < p.P31+p.P32 {
			l.chain = receivedInGap
		}
	case lostInGap: // a loss between bursts is always single
		l.chain = receivedInGap
	}
	switch l.chain {
	case lostInBurst:
		return Burst
	case lostInGap:
		return Isolated
	}
	return passed
}

// nextGilbertElliott returns the outcome of a packet under the Gilbert-Elliott model. It draws two random numbers
// of g: one for the state of the next packet, and one for the loss of this packet in the current state.
func (l *lossState) nextGilbertElliott(g *lfsr, p *lossParams) outcome {
	transition, lose := probability(g.next()), probability(g.next())
	if l.bad {
		if transition < p.R {
			l.bad = false
		}
		if lose > p.H { // H is the probability to pass
			return Burst
		}
		return passed
	}
	if transition < p.P {
		l.bad = true
	}
	if lose < p.K1 {
		return Isolated
	}
	return passed
}
