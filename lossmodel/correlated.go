package lossmodel

import "fmt"

// Correlated loses the share Mean of packets, and the loss of a packet has the
// correlation Rho with that of the one before it, exactly: what people mean when
// they give tc a percentage and a correlation, and do not get. It is Gilbert's
// chain with lambda = Rho: lost after a loss with Mean + Rho (1-Mean), lost after
// an arrival with Mean (1-Rho). A negative Rho spreads losses out.
type Correlated struct{ Mean, Rho float64 }

// Model implements LossModel.
func (Correlated) Model() string { return "correlated" }

func (c Correlated) mean() float64 { return c.Mean }

func (c Correlated) text() string {
	return words("correlated", "p", formatPercent(c.Mean), "rho", formatPercent(c.Rho))
}

// rates returns the probabilities of a loss after an arrival and of an arrival
// after a loss.
func (c Correlated) rates() (enter, leave float64) {
	return float64(c.Mean * (1 - c.Rho)), float64((1 - c.Mean) * (1 - c.Rho))
}

func (c Correlated) check() error {
	if err := checkLoss(c.Mean); err != nil {
		return err
	}
	if !correlationUnit.in(c.Rho) {
		return correlationUnit.refuse("loss.rho", formatPercent(c.Rho))
	}
	if enter, leave := c.rates(); enter > 1+1e-9 || leave > 1+1e-9 {
		least := 1 - 1/max(c.Mean, 1-c.Mean)
		return &KeyError{Key: "loss.rho", Value: formatPercent(c.Rho), Expected: fmt.Sprintf(
			"at least %.4g%% at a mean loss of %s: losses cannot be spread out further", least*100, formatPercent(c.Mean))}
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

func (c Correlated) process(prev lossProcess, _ *library) lossProcess {
	p, ok := prev.(*gilbertProcess)
	if !ok {
		p = &gilbertProcess{}
	}
	enter, leave := c.rates()
	p.enter, p.leave, p.start = chanceOf(enter), chanceOf(leave), chanceOf(c.Mean)
	return p
}

func correlatedFrom(t lossTable) (LossModel, error) {
	var c Correlated
	err := t.read(number(&c.Mean, "p", percentUnit), number(&c.Rho, "rho", correlationUnit))
	return c, err
}

// correlationUnit: 100% is left out, since what begins would never end.
var correlationUnit = unit[float64]{
	name: "%", expected: `a correlation from -100% to 99.9999%, such as "25%"`, min: "-100%", max: "99.9999%",
	parse: parsePercent, format: formatPercent,
	number: func(p float64) float64 { return p * 100 },
	in:     func(p float64) bool { return p >= -1 && p <= 0.999999 },
}
