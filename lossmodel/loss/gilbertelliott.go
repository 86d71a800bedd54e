package loss

import (
	"wirelab/internal/setting"
	"wirelab/lossmodel/tracefile"
)

// GilbertElliott is the full model of E. O. Elliott (1963): a good and a bad state with losses in
// both. Each datagram first advances the chain, from good to bad with probability P and back with
// R. It is then lost with probability 1-H in the bad state and 1-K in the good state. With H = 0
// and K = 1 it is the Gilbert model. tc calls it gemodel p r 1-h 1-k.
//
// A copy of a datagram has the state of the datagram but its own outcome; fragments count as one
// packet.
type GilbertElliott struct{ P, R, H, K float64 }

func (GilbertElliott) Model() string { return "gilbert-elliott" }

func (g GilbertElliott) LossRate() float64 {
	bad := g.badProbability()
	return float64(bad*(1-g.H)) + float64((1-bad)*(1-g.K))
}

// badProbability returns the stationary probability of the bad state.
func (g GilbertElliott) badProbability() float64 {
	if g.P+g.R == 0 { // the state never changes from good, the first one
		return 0
	}
	return g.P / (g.P + g.R)
}

func (g GilbertElliott) Text() string { return elliottParams.text("gilbert-elliott", g) }

// Check implements Model. All parameters must be probabilities, and R above 0.
func (g GilbertElliott) Check() error {
	if err := elliottParams.check(g); err != nil {
		return err
	}
	if g.R == 0 {
		return &setting.KeyError{Key: "loss.r", Value: "0%",
			Expected: "more than 0%, because the bad state would never end"}
	}
	return nil
}

// chain returns the chain of the good and the bad state.
func (g GilbertElliott) chain() markov {
	return markov{states: 2, next: [4][4]float64{{1 - g.P, g.P}, {g.R, 1 - g.R}}, loss: [4]float64{1 - g.K, 1 - g.H}}
}

func (g GilbertElliott) Process(prev Process, _ *tracefile.Library) Process {
	return newTwoStates(prev, g.badProbability(), g.P, g.R, 1-g.K, 1-g.H)
}

var elliottParams = params[GilbertElliott]{
	percent(func(g *GilbertElliott) *float64 { return &g.P }, "p", "", "probability of changing from good to bad, per packet"),
	percent(func(g *GilbertElliott) *float64 { return &g.R }, "r", "", "probability of changing from bad to good, per packet; above 0%"),
	percent(func(g *GilbertElliott) *float64 { return &g.H }, "h", "0%", "fraction that arrives in the bad state"),
	percent(func(g *GilbertElliott) *float64 { return &g.K }, "k", "100%", "fraction that arrives in the good state"),
}

var elliottKind = elliottParams.newKind(nil, setting.ModelInfo{
	Name: "gilbert-elliott", Source: "E. O. Elliott, Estimates of Error Rates for Codes on Burst-Noise Channels, 1963",
	Summary: "good and bad state, with losses in both"})
