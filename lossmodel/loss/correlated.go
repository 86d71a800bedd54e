package loss

import (
	"fmt"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// Correlated loses the share Mean of packets, and the loss of a packet has the
// correlation Rho with that of the one before it, exactly: what people mean when
// they give tc a percentage and a correlation, and do not get. It is Gilbert's
// chain with lambda = Rho: lost after a loss with Mean + Rho (1-Mean), lost after
// an arrival with Mean (1-Rho). A negative Rho spreads losses out.
type Correlated struct{ Mean, Rho float64 }

// Model implements Model.
func (Correlated) Model() string { return "correlated" }

// LossRate implements Model.
func (c Correlated) LossRate() float64 { return c.Mean }

// Text implements Model.
func (c Correlated) Text() string {
	return modelText("correlated", "p", units.FormatPercent(c.Mean), "rho", units.FormatPercent(c.Rho))
}

// rates returns the probabilities of a loss after an arrival and of an arrival
// after a loss.
func (c Correlated) rates() (enter, leave float64) {
	return float64(c.Mean * (1 - c.Rho)), float64((1 - c.Mean) * (1 - c.Rho))
}

// Check implements Model.
func (c Correlated) Check() error {
	if err := checkRate(c.Mean); err != nil {
		return err
	}
	if !correlationUnit.In(c.Rho) {
		return correlationUnit.Refuse("loss.rho", units.FormatPercent(c.Rho))
	}
	if enter, leave := c.rates(); enter > 1+1e-9 || leave > 1+1e-9 {
		least := 1 - 1/max(c.Mean, 1-c.Mean)
		return &setting.KeyError{Key: "loss.rho", Value: units.FormatPercent(c.Rho), Expected: fmt.Sprintf(
			"at least %.4g%% at a mean loss of %s: losses cannot be spread out further", least*100, units.FormatPercent(c.Mean))}
	}
	return nil
}

func (c Correlated) chain() markov {
	if c.Mean >= 1 {
		return markov{n: 1, next: [4][4]float64{{1}}, loss: [4]float64{1}}
	}
	enter, leave := c.rates()
	return markov{n: 2, next: [4][4]float64{{1 - enter, enter}, {leave, 1 - leave}}, loss: [4]float64{0, 1}}
}

// Process implements Model.
func (c Correlated) Process(prev Process, _ *tracefile.Library) Process {
	p := prior[gilbertProcess](prev)
	enter, leave := c.rates()
	p.enter, p.leave, p.start = random.ChanceOf(enter), random.ChanceOf(leave), random.ChanceOf(c.Mean)
	return p
}

var correlatedKind = Kind{correlatedFrom, setting.ModelInfo{Name: "correlated",
	Summary: "each loss has an exact correlation with the one before it",
	Params: []setting.ParamInfo{
		paramOf("p", setting.Percent, "", "share lost"),
		paramOf("rho", correlationUnit, "", "correlation of neighbours; below 0% spreads losses out"),
	},
}}

func correlatedFrom(t Table) (Model, error) {
	var c Correlated
	err := t.read(given(&c.Mean, "p", setting.Percent), given(&c.Rho, "rho", correlationUnit))
	return c, err
}

// correlationUnit: 100% is left out, since what begins would never end.
var correlationUnit = setting.Unit[float64]{
	Name: "%", Expected: `a correlation from -100% to 99.9999%, such as "25%"`, Min: "-100%", Max: "99.9999%",
	Parse: setting.Percent.Parse, Format: units.FormatPercent,
	Number: func(p float64) float64 { return p * 100 },
	In:     func(p float64) bool { return p >= -1 && p <= 0.999999 },
}
