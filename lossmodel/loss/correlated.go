package loss

import (
	"fmt"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/tracefile"
)

// correlated loses the fraction Mean of packets, and the loss of a packet has exactly the
// correlation Rho with that of the packet before. (tc's correlation parameter does not achieve
// this.) It is a Gilbert chain: the loss probability is Mean + Rho (1-Mean) after a loss and Mean
// (1-Rho) after an arrival. A negative Rho makes successive losses rarer.
type correlated struct{ Mean, Rho float64 }

func (correlated) Model() string { return "correlated" }

func (c correlated) LossRate() float64 { return c.Mean }

func (c correlated) Text() string { return correlatedParams.text("correlated", c) }

// rates returns the probabilities of a loss after an arrival, and of an arrival after a loss.
func (c correlated) rates() (enter, leave float64) {
	return float64(c.Mean * (1 - c.Rho)), float64((1 - c.Mean) * (1 - c.Rho))
}

// Check implements Model. A negative correlation is possible only down to a bound that depends on the
// mean: beyond it, a transition probability would exceed 1. The 1e-9 allows for rounding.
func (c correlated) Check() error {
	if err := checkLossRate(c.Mean); err != nil {
		return err
	}
	if !correlationUnit.InRange(c.Rho) {
		return correlationUnit.Refuse("loss.rho", units.FormatPercent(c.Rho))
	}
	if enter, leave := c.rates(); enter > 1+1e-9 || leave > 1+1e-9 {
		minRho := 1 - 1/max(c.Mean, 1-c.Mean) // the correlation at which the larger transition probability is 1
		return &setting.KeyError{Key: "loss.rho", Value: units.FormatPercent(c.Rho), Expected: fmt.Sprintf(
			"at least %.4g%% at a mean loss of %s, because transition probabilities are at most 100%%", minRho*100, units.FormatPercent(c.Mean))}
	}
	return nil
}

// chain returns the Gilbert chain with the loss rate and the correlation.
func (c correlated) chain() markov { return gilbertChain(c.Mean, c.rates) }

func (c correlated) Process(prev Process, _ *tracefile.Library) Process {
	enter, leave := c.rates()
	const lostGood, lostBad = 0, 1
	return newTwoStates(prev, c.Mean, enter, leave, lostGood, lostBad)
}

var correlatedParams = params[correlated]{
	percent(func(c *correlated) *float64 { return &c.Mean }, "p", "", "loss rate"),
	newParam(correlationUnit, func(c *correlated) *float64 { return &c.Rho }, "rho", "",
		"correlation of successive losses; negative values make runs of losses rarer"),
}

var correlatedKind = correlatedParams.newKind(nil,
	setting.ModelInfo{Name: "correlated", Summary: "losses with an exact correlation between neighbours"})

// correlationUnit excludes 100%, with which a state would never end.
var correlationUnit = setting.Unit[float64]{
	Name: "%", Expected: `a correlation from -100% to 99.9999%, such as "25%"`, Min: "-100%", Max: "99.9999%",
	Parse: setting.Percent.Parse, Format: units.FormatPercent,
	Number:  func(p float64) float64 { return p * 100 },
	InRange: func(p float64) bool { return p >= -1 && p <= 0.999999 },
}
