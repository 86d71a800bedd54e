package netem

// The states of the two chains, by the kernel's names.
type chainState uint8

const (
	receivedInGap   chainState = iota // 1: all is well
	lostInBurst                       // 3
	receivedInBurst                   // 2
	lostInGap                         // 4: a loss by itself
)

// losses is where the loss processes stand. Each keeps its place while another
// is in force.
type losses struct {
	corr correlated
	four chainState
	bad  bool // of Gilbert-Elliott
}

// next decides about one packet; the outcome is kept, Isolated or Burst.
func (l *losses) next(g *lfsr, p *lossParams) outcome {
	switch p.Model {
	case fourState:
		return l.nextFourState(g.next(), p)
	case gilbertElliott:
		return l.nextGilbertElliott(g, p)
	}
	if p.Share > 0 && uint32(p.Share) >= l.corr.next(g, p.Corr) {
		return Isolated
	}
	return kept
}

// nextFourState moves the chain; the packet has the fate of the state entered.
// Sums of thresholds wrap around as in the kernel.
func (l *losses) nextFourState(u uint32, p *lossParams) outcome {
	x := share(u)
	switch l.four {
	case receivedInGap:
		if x < p.P14 {
			l.four = lostInGap
		} else if x < p.P13+p.P14 {
			l.four = lostInBurst
		}
	case receivedInBurst:
		if x < p.P23 {
			l.four = lostInBurst
		}
	case lostInBurst:
		if x < p.P32 {
			l.four = receivedInBurst
		} else if x < p.P31+p.P32 {
			l.four = receivedInGap
		}
	case lostInGap:
		l.four = receivedInGap
	}
	switch l.four {
	case lostInBurst:
		return Burst
	case lostInGap:
		return Isolated
	}
	return kept
}

// nextGilbertElliott draws twice: the state of the next packet, then the loss of
// this one by the state before.
func (l *losses) nextGilbertElliott(g *lfsr, p *lossParams) outcome {
	move, lose := share(g.next()), share(g.next())
	if l.bad {
		if move < p.R {
			l.bad = false
		}
		if lose > p.H {
			return Burst
		}
		return kept
	}
	if move < p.P {
		l.bad = true
	}
	if lose < p.K1 {
		return Isolated
	}
	return kept
}
