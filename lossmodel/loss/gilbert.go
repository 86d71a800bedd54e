package loss

import (
	"fmt"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/tracefile"
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

// Model implements Model.
func (Gilbert) Model() string { return "gilbert" }

// LossRate implements Model.
func (g Gilbert) LossRate() float64 { return g.Mean }

// Text implements Model.
func (g Gilbert) Text() string { return units.FormatPercent(g.Mean) }

// rates returns the probabilities of entering and of leaving the bad state.
func (g Gilbert) rates() (enter, leave float64) {
	if g.Mean >= 1 {
		return 1, 0
	}
	leave = 1 / g.Burst
	return leave * g.Mean / (1 - g.Mean), leave
}

// Check implements Model.
func (g Gilbert) Check() error {
	if err := checkRate(g.Mean); err != nil {
		return err
	}
	if !(g.Burst >= 1 && g.Burst <= setting.MaxBurst) {
		return setting.Burst.Refuse("burst", units.FormatDecimal(g.Burst))
	}
	// The rounding of the text's decimals must not refuse the very limit.
	if enter, _ := g.rates(); enter > 1+1e-9 {
		return &setting.KeyError{Key: "burst", Value: units.FormatDecimal(g.Burst), Expected: fmt.Sprintf(
			"at least %.4g packets at a mean loss of %s: shorter bursts cannot lose so much",
			g.Mean/(1-g.Mean), units.FormatPercent(g.Mean))}
	}
	return nil
}

// Process implements Model.
func (g Gilbert) Process(prev Process, _ *tracefile.Library) Process {
	enter, leave := g.rates()
	return newTwoStates(prev, g.Mean, enter, leave, 0, 1)
}

func (g Gilbert) chain() markov { return gilbertChain(g.Mean, g.rates) }

// gilbertChain is a chain that loses everything in the bad state and nothing in the good one.
func gilbertChain(mean float64, rates func() (enter, leave float64)) markov {
	if mean >= 1 {
		return markov{n: 1, next: [4][4]float64{{1}}, loss: [4]float64{1}}
	}
	enter, leave := rates()
	return markov{n: 2, next: [4][4]float64{{1 - enter, enter}, {leave, 1 - leave}}, loss: [4]float64{0, 1}}
}

// gilbertKind: a burst of "off", the default, makes the model Bernoulli's.
var gilbertKind = params[Gilbert]{
	percent(func(g *Gilbert) *float64 { return &g.Mean }, "mean", "", "share lost"),
	newParam(setting.Burst, func(g *Gilbert) *float64 { return &g.Burst }, "burst", "off",
		"mean number of packets lost in a row; off: that of independent losses"),
}.kind(func(g Gilbert) Model { return WithBurst(WithMean(nil, g.Mean), g.Burst) }, setting.ModelInfo{
	Name: "gilbert", Source: "E. N. Gilbert, Capacity of a Burst-Noise Channel, 1960",
	Summary: "bursts, in which everything is lost"})
