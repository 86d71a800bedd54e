package loss

import (
	"fmt"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/tracefile"
)

// Gilbert loses packets in bursts (E. N. Gilbert 1960, in the form that loses all packets in the
// bad state). A Markov chain of two states advances once per datagram. Mean is the long-run loss
// rate, Burst the mean number of packets lost in a row, at least 1. The bad state is left with
// probability r = 1/Burst and entered with p = r Mean/(1-Mean). With Mean 1 all packets are lost.
//
// Copies of a datagram have the state of the datagram, and fragments count as one packet, because
// a burst is a condition of the path at one time.
type Gilbert struct{ Mean, Burst float64 }

func (Gilbert) Model() string { return "gilbert" }

func (g Gilbert) LossRate() float64 { return g.Mean }

func (g Gilbert) Text() string { return units.FormatPercent(g.Mean) }

// rates returns the transition probabilities into and out of the bad state.
func (g Gilbert) rates() (enter, leave float64) {
	if g.Mean >= 1 { // the chain is always in the bad state
		return 1, 0
	}
	leave = 1 / g.Burst
	return leave * g.Mean / (1 - g.Mean), leave
}

// Check implements Model. Mean and Burst must be in range, and the burst long enough for the mean: otherwise
// the probability of entering the bad state would exceed 1.
func (g Gilbert) Check() error {
	if err := checkLossRate(g.Mean); err != nil {
		return err
	}
	if !(g.Burst >= 1 && g.Burst <= setting.MaxBurst) {
		return setting.Burst.Refuse("burst", units.FormatDecimal(g.Burst))
	}
	// The tolerance keeps decimal rounding from refusing the limit itself.
	if enter, _ := g.rates(); enter > 1+1e-9 {
		return &setting.KeyError{Key: "burst", Value: units.FormatDecimal(g.Burst), Expected: fmt.Sprintf(
			"at least %.4g packets at a mean loss of %s, because shorter bursts cannot reach that loss",
			g.Mean/(1-g.Mean), units.FormatPercent(g.Mean))}
	}
	return nil
}

func (g Gilbert) Process(prev Process, _ *tracefile.Library) Process {
	enter, leave := g.rates()
	const lostGood, lostBad = 0, 1
	return newTwoStates(prev, g.Mean, enter, leave, lostGood, lostBad)
}

// chain returns the chain of the good and the bad state.
func (g Gilbert) chain() markov { return gilbertChain(g.Mean, g.rates) }

// gilbertChain returns a chain that loses all packets in the bad state and none in the good state.
// With a mean of 1 it has the bad state only. rates returns the transition probabilities into and
// out of the bad state.
func gilbertChain(mean float64, rates func() (enter, leave float64)) markov {
	if mean >= 1 {
		return markov{states: 1, next: [4][4]float64{{1}}, loss: [4]float64{1}}
	}
	enter, leave := rates()
	return markov{states: 2, next: [4][4]float64{{1 - enter, enter}, {leave, 1 - leave}}, loss: [4]float64{0, 1}}
}

// gilbertParams are the parameters of the Gilbert models.
type gilbertParams struct {
	mean  float64
	burst BurstLength
}

// gilbertKind returns a Bernoulli model if the burst is "off", the default.
var gilbertKind = params[gilbertParams]{
	percent(func(g *gilbertParams) *float64 { return &g.mean }, "mean", "", "loss rate"),
	newParam(BurstLengthUnit, func(g *gilbertParams) *BurstLength { return &g.burst }, "burst", "off",
		"mean number of packets lost in a row, or mean duration of a burst such as 30ms; off: independent losses"),
}.newKind(func(g gilbertParams) Model { return WithBurst(WithMean(nil, g.mean), g.burst) }, setting.ModelInfo{
	Name: "gilbert", Source: "E. N. Gilbert, Capacity of a Burst-Noise Channel, 1960",
	Summary: "bursts in which all packets are lost"})
