package lossmodel

import "time"

// Bernoulli loses each IP packet by itself with probability P. A datagram in f
// fragments needs them all, so it is lost with 1-(1-P)^f, decided by one draw:
// it counts as Loss if it would have been lost in one piece too, and as Fragment
// if not.
type Bernoulli struct{ P float64 }

// Model implements LossModel.
func (Bernoulli) Model() string { return "bernoulli" }

func (b Bernoulli) mean() float64 { return b.P }

func (b Bernoulli) text() string { return formatPercent(b.P) }

func (b Bernoulli) check() error { return checkLoss(b.P) }

func (b Bernoulli) chain() markov {
	return markov{n: 1, next: [4][4]float64{{1}}, loss: [4]float64{b.P}}
}

func (b Bernoulli) process(lossProcess, *library) lossProcess {
	return &bernoulliProcess{one: chanceOf(b.P)}
}

type bernoulliProcess struct {
	one  chance // for a datagram in one piece
	many chance // for one in f pieces
	f    int
}

func (p *bernoulliProcess) judge(_ time.Duration, word uint64, f *Fate) {
	switch {
	case p.one.hit(word):
		f.lose(Loss)
	case f.Fragments > 1 && p.among(f.Fragments).hit(word):
		f.lose(Fragment)
	}
}

// among returns the chance for a datagram in n pieces; the last one is kept,
// since packets of a session are cut alike.
func (p *bernoulliProcess) among(n int) chance {
	if p.f != n {
		p.f, p.many = n, p.one.anyOf(n)
	}
	return p.many
}

func bernoulliFrom(t lossTable) (LossModel, error) {
	p, err := required(t, "p", percentUnit)
	return withMean(nil, p), err
}
