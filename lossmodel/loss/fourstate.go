package loss

import (
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// fourState is the model of Salsano, Ludovici and Ordine (2009), tc's "loss state". States: 1
// arrivals between bursts, 2 arrivals within a burst, 3 losses within a burst, 4 a single loss
// between bursts, always followed by 1. Pij is the probability of changing from state i to j.
// Each datagram advances the chain once and is lost in states 3 and 4.
type fourState struct{ P13, P31, P32, P23, P14 float64 }

func (fourState) Model() string { return "four-state" }

func (s fourState) LossRate() float64 { return s.chain().closedForm().Rate }

func (s fourState) Text() string { return fourStateParams.text("four-state", s) }

// Check implements Model. The transition probabilities out of a state must not exceed 1 in total,
// and every state of a burst must have an end.
func (s fourState) Check() error {
	if err := fourStateParams.check(s); err != nil {
		return err
	}
	const tolerance = 1e-9 // allows for the rounding of decimals
	refuse := func(key string, value float64, expected string) error {
		return &setting.KeyError{Key: "loss." + key, Value: units.FormatPercent(value), Expected: expected}
	}
	switch {
	case s.P13+s.P14 > 1+tolerance:
		return refuse("p14", s.P14, "at most 100% together with p13, because both leave state 1")
	case s.P31+s.P32 > 1+tolerance:
		return refuse("p32", s.P32, "at most 100% together with p31, because both leave state 3")
	case s.P31 == 0:
		return refuse("p31", 0, "more than 0%, because otherwise a burst would never end")
	case s.P32 > 0 && s.P23 == 0:
		return refuse("p23", 0, "more than 0% if p32 is more than 0%, because otherwise state 2 would never end")
	}
	return nil
}

// chain returns the transition matrix; states 3 and 4 lose every packet.
func (s fourState) chain() markov {
	p23 := s.P23
	if s.P32 == 0 {
		p23 = 1 // state 2 is never entered; any value above 0 makes the chain solvable
	}
	return markov{states: 4, loss: [4]float64{0, 0, 1, 1}, next: [4][4]float64{
		{1 - s.P13 - s.P14, 0, s.P13, s.P14},
		{0, 1 - p23, p23, 0},
		{s.P31, s.P32, 1 - s.P31 - s.P32, 0},
		{1, 0, 0, 0},
	}}
}

// Process implements Model. In states 1 and 2 packets arrive, between bursts and within a burst; in states 3 and 4
// they are lost, within a burst and as a single loss between bursts. The first state is drawn from the stationary distribution. If
// prev, the process that the model replaces, has begun, its state is kept.
func (s fourState) Process(prev Process, _ *tracefile.Library) Process {
	p := newChain(prev)
	// State 0, before the first datagram, leads to states 1 to 3 or, by default, 4. State 4 leads to 1.
	p.defaults[0], p.defaults[4] = 4, 1
	pi := s.chain().stationary()
	cumulative := 0.0 // probability of states 1 to i+1
	for i := range p.transitions[0] {
		cumulative += pi[i]
		p.transitions[0][i] = transition{random.NewChance(cumulative), uint8(i + 1)}
	}
	// Chances are cumulative, because one random word is compared with all transitions of a state: {p14 +
	// p13, 3} is taken if {p14, 4} is not. The order of the transitions is the kernel's.
	p13, p31, p32, p14 := random.NewChance(s.P13), random.NewChance(s.P31), random.NewChance(s.P32), random.NewChance(s.P14)
	p.transitions[1] = [3]transition{{p14, 4}, {p14 + p13, 3}}
	p.transitions[2] = [3]transition{{random.NewChance(s.P23), 3}}
	p.transitions[3] = [3]transition{{p32, 2}, {p32 + p31, 1}}
	p.bad = [5]bool{2: true, 3: true} // the states of a burst
	p.lossChance = [5]random.Chance{3: random.Certain, 4: random.Certain}
	return p
}

var fourStateParams = params[fourState]{
	percent(func(s *fourState) *float64 { return &s.P13 }, "p13", "", "probability that a burst starts"),
	percent(func(s *fourState) *float64 { return &s.P31 }, "p31", "", "probability that a burst ends; default 100% - p13").
		withDefault(func(s *fourState) { s.P31 = 1 - s.P13 }),
	percent(func(s *fourState) *float64 { return &s.P32 }, "p32", "0%", "probability of changing from losses to arrivals within a burst"),
	percent(func(s *fourState) *float64 { return &s.P23 }, "p23", "100%", "probability of changing from arrivals to losses within a burst"),
	percent(func(s *fourState) *float64 { return &s.P14 }, "p14", "0%", "probability of a single loss between bursts"),
}

var fourStateKind = fourStateParams.newKind(nil, setting.ModelInfo{Name: "four-state",
	Source:  "S. Salsano, F. Ludovici, A. Ordine, Definition of a general and intuitive loss model, 2009; tc netem loss state",
	Summary: "bursts that contain arrivals, and single losses between bursts"})
