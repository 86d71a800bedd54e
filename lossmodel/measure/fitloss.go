package measure

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"wirelab/lossmodel/loss"
)

// z95 is the 97.5 % quantile of the standard normal distribution.
const z95 = 1.96

// fitLoss fits the Bernoulli, Gilbert and Gilbert-Elliott models and selects the one with the lowest
// Bayesian information criterion (BIC), which penalises parameters. If no packet or every packet was
// lost, there is nothing to select.
func (f *fitter) fitLoss() {
	lost, n := make([]bool, len(f.datagrams)), len(f.datagrams)
	for i := range f.datagrams {
		lost[i] = f.datagrams[i].Lost
	}
	f.RunsP = 1 // p-value of testBurstLengths; 1 means that the test was not made
	t := countTransitions(lost)
	switch f.Measured.Lost {
	case 0:
		f.addEstimate("loss", "", 0, span{0, t.lossInterval().high})
		// The rule of three: if no event occurred in n trials, 3/n, or 300/n percent, is the 95 % bound of
		// its probability.
		f.addNote("no packet was lost: the loss rate is at most %.2g%% if losses are independent; the interval allows for bursts "+
			"of unknown length", 300/float64(n))
		return
	case n:
		f.Spec.Loss = loss.Bernoulli{P: 1}
		f.addEstimate("loss", "", 1, span{t.lossInterval().low, 1})
		f.addNote("all packets were lost: no other parameter can be estimated")
		return
	}
	gilbert := fitGilbert(&t)
	rate := f.Measured.LossRate
	independent := elliott{p: rate, r: 1 - rate, eB: 1} // independent losses as a chain without memory
	independent.logLikelihood = float64(f.Measured.Lost)*math.Log(rate) + float64(n-f.Measured.Lost)*math.Log(1-rate)
	const minLost, minRuns = 50, 20              // the fewest losses, and runs of losses, from which four parameters can be estimated
	full := elliott{logLikelihood: math.Inf(-1)} // -Inf means that the model was not fitted
	if f.Measured.Lost >= minLost && f.Measured.Bursts >= minRuns {
		full = fitElliott(lost, gilbert)
	} else {
		f.addNote("%d losses in %d runs are too few for the gilbert-elliott model; expected at least %d in %d",
			f.Measured.Lost, f.Measured.Bursts, minLost, minRuns)
	}
	bic := func(m *elliott, parameters float64) float64 {
		return parameters*math.Log(float64(n)) - 2*m.logLikelihood
	}
	f.LossModels = []Candidate{{Name: "bernoulli", BIC: bic(&independent, 1)}, {Name: "gilbert", BIC: bic(&gilbert, 2)}}
	if !math.IsInf(full.logLikelihood, 0) {
		f.LossModels = append(f.LossModels, Candidate{Name: "gilbert-elliott", BIC: bic(&full, 4)})
	}
	slices.SortStableFunc(f.LossModels, func(a, b Candidate) int { return cmp.Compare(a.BIC, b.BIC) })
	switch f.LossModels[0].Name {
	case "bernoulli":
		f.setBernoulli(&independent, &t)
	case "gilbert":
		f.setGilbert(&gilbert, &t)
	default:
		f.setElliott(&full, &t, lost)
	}
}

// fitGilbert returns the Gilbert model with the highest likelihood: its transition probabilities
// are the observed frequencies.
func fitGilbert(t *transitions) elliott {
	m := elliott{p: ratio(t.changes[0], t.total[0]), r: ratio(t.changes[1], t.total[1]), eB: 1}
	for from, p := range [2]float64{m.p, m.r} { // state 0 is good, 1 bad
		k, n := float64(t.changes[from]), float64(t.total[from])
		if p > 0 && p < 1 {
			m.logLikelihood += k*math.Log(p) + (n-k)*math.Log(1-p)
		}
	}
	m.p, m.r = max(m.p, 1e-9), max(m.r, 1e-9) // keeps the probabilities positive even if no run of losses began or ended in the capture
	return m
}

// setBernoulli selects the model of independent losses and adds its estimates. It uses the
// intervals of the Gilbert chain, which are valid for any burst length and not wider if losses are
// independent.
func (f *fitter) setBernoulli(m *elliott, t *transitions) {
	f.Spec.Loss = loss.Bernoulli{P: round5(f.Measured.LossRate)}
	f.addChainIntervals(t)
	f.testBurstLengths(m)
}

// setGilbert selects the Gilbert model m and adds its estimates, with intervals from the counts t.
func (f *fitter) setGilbert(m *elliott, t *transitions) {
	// With H = 0 and K = 1 this is the Gilbert model, given by its transition probabilities.
	f.Spec.Loss = loss.GilbertElliott{P: round5(m.p), R: round5(m.r), H: 0, K: 1}
	f.addChainIntervals(t)
	p, r := t.enterPosterior(), t.leavePosterior()
	f.addEstimate("p", noUnit, m.p, p.interval())
	f.addEstimate("r", noUnit, m.r, r.interval())
	f.testBurstLengths(m)
}

// noUnit is the unit of estimates that are probabilities.
const noUnit = ""

// addChainIntervals adds the estimates of loss and mean burst with the intervals of the Gilbert
// chain.
func (f *fitter) addChainIntervals(t *transitions) {
	f.addEstimate("loss", noUnit, f.Measured.LossRate, t.lossInterval())
	f.addEstimate("mean burst", "packets", f.Measured.MeanBurst, t.burstInterval())
}

// setElliott selects the Gilbert-Elliott model and adds its estimates, with intervals from the
// curvature of the likelihood if it has a maximum.
func (f *fitter) setElliott(m *elliott, t *transitions, lost []bool) {
	f.Spec.Loss = loss.GilbertElliott{P: round5(m.p), R: round5(m.r), H: round5(1 - m.eB), K: round5(1 - m.eG)}
	defer f.testBurstLengths(m)
	u, ok := m.uncertainty(lost)
	if !ok {
		f.addChainIntervals(t)
		f.addNote("the likelihood has no clear maximum: there are no intervals for p, r, k and h; " +
			"loss and mean burst have the intervals of the Gilbert chain")
		return
	}
	for _, e := range elliottFigures(f.Measured.LossRate, f.Measured.MeanBurst, m) {
		f.addEstimate(e.name, e.unit, e.value, u.interval(&e))
	}
}

// testBurstLengths compares the observed lengths of loss bursts (runs of consecutive losses) with those that
// model m predicts, by a chi-square test. The bins of the test are the lengths, from 1, that are expected
// at least five times, and all longer ones together. It sets RunsP, the p-value, and adds a note if the
// model does not fit. It does nothing if there are too few bursts for a test.
func (f *fitter) testBurstLengths(m *elliott) {
	// At the start of round k of the loop, g and b are the probabilities that a burst has at least k+1 losses
	// and that loss k+1 occurred in the good or the bad state; left is the probability that a burst is longer
	// than the lengths tested so far.
	g, b := m.afterArrival()
	total := g + b
	g, b = g/total, b/total
	n, left, seen := float64(f.Measured.Bursts), 1.0, 0
	chi, bins := 0.0, 0
	for k := range maxRuns - 1 {
		ng, nb := g*(1-m.p)+b*m.r, g*m.p+b*(1-m.r) // states at the next packet
		ends := ng*(1-m.eG) + nb*(1-m.eB)          // probability of exactly k+1 losses
		g, b = ng*m.eG, nb*m.eB
		const minExpected = 5 // bursts in a bin; the usual rule for the chi-square test
		if n*ends < minExpected || n*(left-ends) < minExpected {
			break
		}
		count := 0
		if k < len(f.Measured.Runs) {
			count = f.Measured.Runs[k]
		}
		chi += (float64(count) - n*ends) * (float64(count) - n*ends) / (n * ends)
		left, seen, bins = left-ends, seen+count, bins+1
	}
	if bins == 0 {
		return
	}
	rest := float64(f.Measured.Bursts-seen) - n*left // all longer bursts are one more bin
	chi += rest * rest / (n * left)
	f.RunsP = 1 - regularizedGamma(float64(bins)/2, chi/2)
	if f.RunsP < 0.01 {
		f.addNote("the run lengths do not fit this model (p = %.2g), so its intervals are unreliable; "+
			"compare the figures, or replay the capture", f.RunsP)
	}
}

// wilson returns Wilson's 95 % score interval of a probability after k hits in n independent
// trials; 0 to 1 if n is 0.
func wilson(k, n int) span {
	if n == 0 {
		return span{0, 1}
	}
	m, p := float64(n), ratio(k, n)
	mid := (p + z95*z95/(2*m)) / (1 + z95*z95/m)
	half := z95 / (1 + z95*z95/m) * math.Sqrt(p*(1-p)/m+z95*z95/(4*m*m))
	return span{max(0, mid-half), min(1, mid+half)}
}

// round5 rounds a probability to five significant digits, more than any capture determines. Within
// 1e-9 of 0 or 1 it returns 0 or 1.
func round5(p float64) float64 {
	if p < 1e-9 {
		return 0
	}
	if p > 1-1e-9 {
		return 1
	}
	v, err := strconv.ParseFloat(strconv.FormatFloat(p, 'g', 5, 64), 64)
	if err != nil {
		return p
	}
	return v
}
