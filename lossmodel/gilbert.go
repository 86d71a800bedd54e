package lossmodel

import (
	"fmt"
	"time"
)

// Gilbert loses packets in bursts (E. N. Gilbert 1960, in the form that loses
// everything in the bad state): a chain of two states, advanced once for each
// datagram. Mean is the share lost in the long run, Burst the mean number of
// packets lost in a row, at least 1. So the bad state is left with r = 1/Burst and
// entered with p = r Mean/(1-Mean). Mean 1 loses everything.
//
// A burst is a condition of the path at one moment: a copy of a datagram finds
// the state that the datagram found, and fragments count as one.
type Gilbert struct{ Mean, Burst float64 }

// Model implements LossModel.
func (Gilbert) Model() string { return "gilbert" }

func (g Gilbert) mean() float64 { return g.Mean }

func (g Gilbert) text() string { return formatPercent(g.Mean) }

// rates returns the probabilities of entering and of leaving the bad state.
func (g Gilbert) rates() (enter, leave float64) {
	if g.Mean >= 1 {
		return 1, 0
	}
	leave = 1 / g.Burst
	return leave * g.Mean / (1 - g.Mean), leave
}

func (g Gilbert) check() error {
	if err := checkLoss(g.Mean); err != nil {
		return err
	}
	if !(g.Burst >= 1 && g.Burst <= MaxBurst) {
		return burstUnit.refuse("burst", formatNumber(g.Burst))
	}
	// The rounding of the text's decimals must not refuse the very limit.
	if enter, _ := g.rates(); enter > 1+1e-9 {
		return &KeyError{Key: "burst", Value: formatNumber(g.Burst), Expected: fmt.Sprintf(
			"at least %.4g packets at a mean loss of %s: shorter bursts cannot lose so much",
			g.Mean/(1-g.Mean), formatPercent(g.Mean))}
	}
	return nil
}

func (g Gilbert) process(prev lossProcess, _ *library) lossProcess {
	p, ok := prev.(*gilbertProcess)
	if !ok {
		p = &gilbertProcess{}
	}
	enter, leave := g.rates()
	p.enter, p.leave, p.start = chanceOf(enter), chanceOf(leave), chanceOf(g.Mean)
	return p
}

type gilbertProcess struct {
	enter, leave chance
	start        chance // of being in the bad state at first: the chain starts stationary
	bad, begun   bool
}

func (p *gilbertProcess) judge(_ time.Duration, word uint64, f *Fate) {
	p.advance(word, f)
	if p.bad {
		f.lose(Burst)
	}
}

// advance moves the chain for a datagram, and tells the later stages of the state.
func (p *gilbertProcess) advance(word uint64, f *Fate) {
	if f.Copy == 0 {
		switch {
		case !p.begun:
			p.begun, p.bad = true, p.start.hit(word)
		case p.bad:
			p.bad = !p.leave.hit(word)
		default:
			p.bad = p.enter.hit(word)
		}
	}
	f.Bad = p.bad
}

func (g Gilbert) chain() markov {
	if g.Mean >= 1 {
		return markov{n: 1, next: [4][4]float64{{1}}, loss: [4]float64{1}}
	}
	enter, leave := g.rates()
	return markov{n: 2, next: [4][4]float64{{1 - enter, enter}, {leave, 1 - leave}}, loss: [4]float64{0, 1}}
}

// gilbertFrom reads mean and burst. Without a burst, or with "off", it is that of
// independent losses, 1/(1-mean), which is Bernoulli's model.
func gilbertFrom(t lossTable) (LossModel, error) {
	mean, err := required(t, "mean", percentUnit)
	if err != nil {
		return nil, err
	}
	value, ok := t["burst"]
	if !ok {
		return withMean(nil, mean), nil
	}
	burst, err := burstUnit.read("loss.burst", value)
	return withBurst(withMean(nil, mean), burst), err
}
