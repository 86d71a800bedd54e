package loss

import (
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// Bernoulli loses each IP packet by itself with probability P. A datagram in f
// fragments needs them all, so it is lost with 1-(1-P)^f, decided by one draw: as
// Alone if it would have been lost in one piece too, otherwise as InFragment.
type Bernoulli struct{ P float64 }

// Model implements Model.
func (Bernoulli) Model() string { return "bernoulli" }

// LossRate implements Model.
func (b Bernoulli) LossRate() float64 { return b.P }

// Text implements Model.
func (b Bernoulli) Text() string { return units.FormatPercent(b.P) }

// Check implements Model.
func (b Bernoulli) Check() error { return checkRate(b.P) }

func (b Bernoulli) chain() markov {
	return markov{n: 1, next: [4][4]float64{{1}}, loss: [4]float64{b.P}}
}

// Process implements Model.
func (b Bernoulli) Process(Process, *tracefile.Library) Process {
	return &bernoulliProcess{one: random.ChanceOf(b.P)}
}

type bernoulliProcess struct {
	one  random.Chance // for a datagram in one piece
	many random.Chance // for one in f pieces
	f    int
}

func (p *bernoulliProcess) Fork() Process { c := *p; return &c }

func (p *bernoulliProcess) Judge(pkt *Packet) {
	switch {
	case p.one.Hit(pkt.Word):
		pkt.Lost = Alone
	case pkt.Fragments > 1 && p.among(pkt.Fragments).Hit(pkt.Word):
		pkt.Lost = InFragment
	}
}

// among returns the chance for a datagram in n pieces. It keeps the last result,
// since most datagrams of a session have as many pieces.
func (p *bernoulliProcess) among(n int) random.Chance {
	if p.f != n {
		p.f, p.many = n, p.one.AnyOf(n)
	}
	return p.many
}

var bernoulliKind = params[Bernoulli]{
	percent(func(b *Bernoulli) *float64 { return &b.P }, "p", "", "share lost"),
}.kind(func(b Bernoulli) Model { return WithMean(nil, b.P) },
	setting.ModelInfo{Name: "bernoulli", Summary: "each packet is lost by itself"})
