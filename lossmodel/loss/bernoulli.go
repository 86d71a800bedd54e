package loss

import (
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// Bernoulli loses each IP packet independently with probability P. A datagram of f fragments is
// lost if any fragment is, with probability 1-(1-P)^f. One random word decides: the outcome is
// Independent if the datagram would also have been lost without fragmentation, otherwise
// Fragment.
type Bernoulli struct{ P float64 }

func (Bernoulli) Model() string { return "bernoulli" }

func (b Bernoulli) LossRate() float64 { return b.P }

func (b Bernoulli) Text() string { return units.FormatPercent(b.P) }

func (b Bernoulli) Check() error { return checkLossRate(b.P) }

// chain returns a chain with a single state.
func (b Bernoulli) chain() markov {
	return markov{states: 1, next: [4][4]float64{{1}}, loss: [4]float64{b.P}} // the state always follows itself
}

func (b Bernoulli) Process(Process, *tracefile.Library) Process {
	return &bernoulliProcess{datagramChance: random.NewChance(b.P)}
}

// bernoulliProcess has no state except a cached probability.
type bernoulliProcess struct {
	datagramChance   random.Chance // loss probability of an unfragmented datagram
	fragmentedChance random.Chance // loss probability of a datagram with the number of fragments in the field fragments
	fragments        int           // number of fragments to which fragmentedChance belongs
}

func (p *bernoulliProcess) Fork() Process { c := *p; return &c }

// Judge implements Process. A fragmented datagram is lost with a larger probability, that of losing any fragment.
// Both cases compare the same random word, so that Fragment marks only the losses which the fragmentation adds.
func (p *bernoulliProcess) Judge(pkt *Packet) {
	pkt.Draw = random.Draw{Chance: p.datagramChance, Word: pkt.Word}
	switch {
	case p.datagramChance.Hit(pkt.Word):
		pkt.Lost = Independent
	case pkt.Fragments > 1 && p.chanceFor(pkt.Fragments).Hit(pkt.Word):
		pkt.Lost = Fragment
		pkt.Draw.Chance = p.fragmentedChance
	}
}

// chanceFor returns the loss probability of a datagram with n fragments. It caches the last
// result, because most datagrams of a session have the same size.
func (p *bernoulliProcess) chanceFor(n int) random.Chance {
	if p.fragments != n {
		p.fragments, p.fragmentedChance = n, p.datagramChance.AnyOf(n)
	}
	return p.fragmentedChance
}

// bernoulliKind describes this model to the configuration. Its model is nil, no losses, for a rate of 0.
var bernoulliKind = params[Bernoulli]{
	percent(func(b *Bernoulli) *float64 { return &b.P }, "p", "", "loss rate"),
}.newKind(func(b Bernoulli) Model { return WithMean(nil, b.P) },
	setting.ModelInfo{Name: "bernoulli", Summary: "independent losses"})
