package lossmodel

import (
	"fmt"
	"time"
)

// GilbertElliott is the full model of E. O. Elliott (1963): two states, good and
// bad, and losses in both. Each datagram first moves the chain, from good to bad
// with P and back with R, and is then lost with 1-H in the bad state and with 1-K
// in the good one. H = 0 and K = 1 is Gilbert by its transitions. tc writes
// it as gemodel p r 1-h 1-k.
//
// A copy of a datagram finds the state that the datagram found, but is lost or
// not by itself; fragments count as one.
type GilbertElliott struct{ P, R, H, K float64 }

// Model implements LossModel.
func (GilbertElliott) Model() string { return "gilbert-elliott" }

func (g GilbertElliott) mean() float64 {
	bad := g.bad()
	return float64(bad*(1-g.H)) + float64((1-bad)*(1-g.K))
}

// bad returns the share of time in the bad state.
func (g GilbertElliott) bad() float64 {
	if g.P+g.R == 0 {
		return 0
	}
	return g.P / (g.P + g.R)
}

func (g GilbertElliott) text() string {
	return words("gilbert-elliott", "p", formatPercent(g.P), "r", formatPercent(g.R),
		"h", formatPercent(g.H), "k", formatPercent(g.K))
}

func (g GilbertElliott) check() error {
	if err := shares("p", g.P, "r", g.R, "h", g.H, "k", g.K); err != nil {
		return err
	}
	if g.R == 0 {
		return &KeyError{Key: "loss.r", Value: "0%", Expected: "more than 0%: the bad state would never be left"}
	}
	return nil
}

func (g GilbertElliott) chain() markov {
	return markov{n: 2, next: [4][4]float64{{1 - g.P, g.P}, {g.R, 1 - g.R}}, loss: [4]float64{1 - g.K, 1 - g.H}}
}

func (g GilbertElliott) process(prev lossProcess, _ *library) lossProcess {
	p, ok := prev.(*elliottProcess)
	if !ok {
		p = &elliottProcess{}
	}
	p.gilbertProcess.enter, p.gilbertProcess.leave = chanceOf(g.P), chanceOf(g.R)
	p.start = chanceOf(g.bad())
	p.inGood, p.inBad = chanceOf(1-g.K), chanceOf(1-g.H)
	return p
}

// elliottProcess is the chain of Gilbert's with losses that are not certain.
type elliottProcess struct {
	gilbertProcess
	inGood, inBad chance
}

func (p *elliottProcess) judge(_ time.Duration, word uint64, f *Fate) {
	p.advance(word, f)
	own := further(word, 0)
	switch {
	case p.bad && p.inBad.hit(own):
		f.lose(Burst)
	case !p.bad && p.inGood.hit(own):
		f.lose(Loss)
	}
}

func elliottFrom(t lossTable) (LossModel, error) {
	var g GilbertElliott
	err := t.read(
		number(&g.P, "p", percentUnit),
		number(&g.R, "r", percentUnit),
		optional(&g.H, "h", percentUnit, 0),
		optional(&g.K, "k", percentUnit, 1))
	return g, err
}

// words writes a model with its parameters.
func words(model string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		model += " " + pairs[i] + "=" + pairs[i+1]
	}
	return model
}

// shares checks that parameters, given by name and value, are from 0 to 1.
func shares(pairs ...any) error {
	for i := 0; i < len(pairs); i += 2 {
		if v := pairs[i+1].(float64); !percentUnit.in(v) {
			return percentUnit.refuse(fmt.Sprint("loss.", pairs[i]), formatPercent(v))
		}
	}
	return nil
}
