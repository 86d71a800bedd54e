package loss

import (
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// FourState is the model of Salsano, Ludovici and Ordine (2009), tc's "loss
// state": 1 all is well, 2 arrivals within a burst, 3 losses within a burst, 4 a
// single loss while all is well, after which 1 follows at once. Pij is the
// probability of going from i to j. Each datagram moves the chain once and is lost
// in 3 and 4.
//
// A copy of a datagram finds the state that the datagram found; fragments count as
// one.
type FourState struct{ P13, P31, P32, P23, P14 float64 }

// Model implements Model.
func (FourState) Model() string { return "four-state" }

// LossRate implements Model.
func (s FourState) LossRate() float64 { return s.chain().law().Rate }

// Text implements Model.
func (s FourState) Text() string {
	return modelText("four-state", "p13", units.FormatPercent(s.P13), "p31", units.FormatPercent(s.P31),
		"p32", units.FormatPercent(s.P32), "p23", units.FormatPercent(s.P23), "p14", units.FormatPercent(s.P14))
}

// Check implements Model.
func (s FourState) Check() error {
	if err := shares("p13", s.P13, "p31", s.P31, "p32", s.P32, "p23", s.P23, "p14", s.P14); err != nil {
		return err
	}
	const slack = 1e-9 // for the rounding of decimals
	refuse := func(key string, value float64, expected string) error {
		return &setting.KeyError{Key: "loss." + key, Value: units.FormatPercent(value), Expected: expected}
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

// Process implements Model.
func (s FourState) Process(prev Process, _ *tracefile.Library) Process {
	p := prior[fourStateProcess](prev)
	p.p14, p.p13 = random.ChanceOf(s.P14), random.ChanceOf(s.P13)
	p.p23, p.p32, p.p31 = random.ChanceOf(s.P23), random.ChanceOf(s.P32), random.ChanceOf(s.P31)
	pi := s.chain().stationary()
	for i, below := 0, 0.0; i < 3; i++ {
		below += pi[i]
		p.start[i] = random.ChanceOf(below)
	}
	return p
}

type fourStateProcess struct {
	p13, p31, p32, p23, p14 random.Chance
	start                   [3]random.Chance // of being in state 1, in 1 or 2, in 1 to 3 at first
	state                   uint8            // 1 to 4; 0: not begun
}

func (p *fourStateProcess) Fork() Process { c := *p; return &c }

func (p *fourStateProcess) Judge(pkt *Packet) {
	if pkt.Copy == 0 {
		p.state = p.after(pkt.Word)
	}
	switch p.state {
	case 2:
		pkt.Bad = true
	case 3:
		pkt.Bad = true
		pkt.Lost = InBurst
	case 4:
		pkt.Lost = Alone
	}
}

// after returns the state that follows.
func (p *fourStateProcess) after(word uint64) uint8 {
	switch p.state {
	case 0:
		for i, below := range p.start {
			if below.Hit(word) {
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
func pick(word uint64, stays uint8, first random.Chance, a uint8, second random.Chance, b uint8) uint8 {
	switch {
	case first.Hit(word):
		return a
	case (first + second).Hit(word):
		return b
	}
	return stays
}

var fourStateKind = Kind{fourStateFrom, setting.ModelInfo{Name: "four-state",
	Source:  "S. Salsano, F. Ludovici, A. Ordine, Definition of a general and intuitive loss model, 2009; tc netem loss state",
	Summary: "bursts with arrivals in them, and single losses between",
	Params: []setting.ParamInfo{
		paramOf("p13", setting.Percent, "", "a burst begins"),
		paramOf("p31", setting.Percent, "", "a burst ends; 100% - p13 if not given"),
		paramOf("p32", setting.Percent, "0%", "from losses to arrivals within a burst"),
		paramOf("p23", setting.Percent, "100%", "from arrivals to losses within a burst"),
		paramOf("p14", setting.Percent, "0%", "a single loss between bursts"),
	},
}}

func fourStateFrom(t Table) (Model, error) {
	var s FourState
	err := t.read(given(&s.P13, "p13", setting.Percent))
	if err == nil {
		err = t.read(
			optional(&s.P31, "p31", setting.Percent, 1-s.P13),
			optional(&s.P32, "p32", setting.Percent, 0),
			optional(&s.P23, "p23", setting.Percent, 1),
			optional(&s.P14, "p14", setting.Percent, 0))
	}
	return s, err
}
