package lossmodel

import "time"

// FourState is the model of Salsano, Ludovici and Ordine (2009), tc's "loss
// state": 1 all is well, 2 arrivals within a burst, 3 losses within a burst, 4 a
// single loss while all is well, after which 1 follows at once. Pij is the
// probability of going from i to j. Each datagram moves the chain once and is lost
// in 3 and 4.
//
// A copy of a datagram finds the state that the datagram found; fragments count as
// one.
type FourState struct{ P13, P31, P32, P23, P14 float64 }

// Model implements LossModel.
func (FourState) Model() string { return "four-state" }

func (s FourState) mean() float64 { return s.chain().law().Rate }

func (s FourState) text() string {
	return words("four-state", "p13", formatPercent(s.P13), "p31", formatPercent(s.P31),
		"p32", formatPercent(s.P32), "p23", formatPercent(s.P23), "p14", formatPercent(s.P14))
}

func (s FourState) check() error {
	if err := shares("p13", s.P13, "p31", s.P31, "p32", s.P32, "p23", s.P23, "p14", s.P14); err != nil {
		return err
	}
	const slack = 1e-9 // for the rounding of decimals
	refuse := func(key string, value float64, expected string) error {
		return &KeyError{Key: "loss." + key, Value: formatPercent(value), Expected: expected}
	}
	switch {
	case s.P13+s.P14 > 1+slack:
		return refuse("p14", s.P14, "at most 100% together with p13: both leave state 1")
	case s.P31+s.P32 > 1+slack:
		return refuse("p32", s.P32, "at most 100% together with p31: both leave state 3")
	case s.P31 == 0:
		return refuse("p31", 0, "more than 0%: a burst would never end")
	case s.P32 > 0 && s.P23 == 0:
		return refuse("p23", 0, "more than 0% where p32 is: state 2 would never be left")
	}
	return nil
}

func (s FourState) chain() markov {
	p23 := s.P23
	if s.P32 == 0 {
		p23 = 1 // state 2 is never entered; as if it were left at once
	}
	return markov{n: 4, loss: [4]float64{0, 0, 1, 1}, next: [4][4]float64{
		{1 - s.P13 - s.P14, 0, s.P13, s.P14},
		{0, 1 - p23, p23, 0},
		{s.P31, s.P32, 1 - s.P31 - s.P32, 0},
		{1, 0, 0, 0},
	}}
}

func (s FourState) process(prev lossProcess, _ *library) lossProcess {
	p, ok := prev.(*fourStateProcess)
	if !ok {
		p = &fourStateProcess{}
	}
	p.p14, p.p13 = chanceOf(s.P14), chanceOf(s.P13)
	p.p23, p.p32, p.p31 = chanceOf(s.P23), chanceOf(s.P32), chanceOf(s.P31)
	pi := s.chain().stationary()
	for i, below := 0, 0.0; i < 3; i++ {
		below += pi[i]
		p.start[i] = chanceOf(below)
	}
	return p
}

type fourStateProcess struct {
	p13, p31, p32, p23, p14 chance
	start                   [3]chance // of being in state 1, in 1 or 2, in 1 to 3 at first
	state                   uint8     // 1 to 4; 0: not begun
}

func (p *fourStateProcess) judge(_ time.Duration, word uint64, f *Fate) {
	if f.Copy == 0 {
		p.state = p.after(word)
	}
	switch p.state {
	case 2:
		f.Bad = true
	case 3:
		f.Bad = true
		f.lose(Burst)
	case 4:
		f.lose(Loss)
	}
}

// after returns the state that follows.
func (p *fourStateProcess) after(word uint64) uint8 {
	switch p.state {
	case 0:
		for i, below := range p.start {
			if below.hit(word) {
				return uint8(i + 1)
			}
		}
		return 4
	case 1:
		return pick(word, 1, p.p14, 4, p.p13, 3)
	case 2:
		return pick(word, 2, p.p23, 3, 0, 2)
	case 3:
		return pick(word, 3, p.p32, 2, p.p31, 1)
	}
	return 1
}

// pick returns the state a with chance first, b with chance second, else stays.
func pick(word uint64, stays uint8, first chance, a uint8, second chance, b uint8) uint8 {
	switch {
	case first.hit(word):
		return a
	case (first + second).hit(word):
		return b
	}
	return stays
}

func fourStateFrom(t lossTable) (LossModel, error) {
	var s FourState
	err := t.read(number(&s.P13, "p13", percentUnit))
	if err == nil {
		err = t.read(
			optional(&s.P31, "p31", percentUnit, 1-s.P13),
			optional(&s.P32, "p32", percentUnit, 0),
			optional(&s.P23, "p23", percentUnit, 1),
			optional(&s.P14, "p14", percentUnit, 0))
	}
	return s, err
}
