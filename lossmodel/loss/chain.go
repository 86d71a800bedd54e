package loss

import "wirelab/lossmodel/random"

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
