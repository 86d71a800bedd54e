package measure

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"wirelab/lossmodel/loss"
)

// z95 is how many standard errors hold 95 of 100.
const z95 = 1.96

// loss fits Bernoulli's model, Gilbert's and the full Gilbert-Elliott, and takes
// the one with the least BIC: a parameter more must earn its keep.
func (f *fitter) loss() {
	lost, n := make([]bool, len(f.all)), len(f.all)
	for i := range f.all {
		lost[i] = f.all[i].Lost
	}
	f.RunsP = 1
	t := transitionsOf(lost)
	switch f.Measured.Lost {
	case 0:
		f.estimate("loss", "", 0, span{0, t.lossInterval().high})
		f.note("nothing was lost: the loss is at most %.2g%% if each packet is lost by itself; the interval allows for bursts of "+
			"unknown length", 300/float64(n))
		return
	case n:
		f.Spec.Loss = loss.Bernoulli{P: 1}
		f.estimate("loss", "", 1, span{t.lossInterval().low, 1})
		f.note("everything was lost: nothing else can be known")
		return
	}
	gilbert := fitGilbert(&t)
	rate := f.Measured.LossRate
	independent := elliott{p: rate, r: 1 - rate, eB: 1}
	independent.evidence = float64(f.Measured.Lost)*math.Log(rate) + float64(n-f.Measured.Lost)*math.Log(1-rate)
	full := elliott{evidence: math.Inf(-1)}
	if f.Measured.Lost >= 50 && f.Measured.Bursts >= 20 {
		full = fitElliott(lost, gilbert)
	} else {
		f.note("only %d losses in %d runs: too few for losses within both states", f.Measured.Lost, f.Measured.Bursts)
	}
	bic := func(m *elliott, parameters float64) float64 { return parameters*math.Log(float64(n)) - 2*m.evidence }
	f.LossModels = []Candidate{{Name: "bernoulli", BIC: bic(&independent, 1)}, {Name: "gilbert", BIC: bic(&gilbert, 2)}}
	if !math.IsInf(full.evidence, 0) {
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

// fitGilbert takes the shares of the transitions, which is the most likely model.
func fitGilbert(t *transitions) elliott {
	m := elliott{p: ratio(t.flips[0], t.after[0]), r: ratio(t.flips[1], t.after[1]), eB: 1}
	for from, p := range [2]float64{m.p, m.r} {
		k, n := float64(t.flips[from]), float64(t.after[from])
		if p > 0 && p < 1 {
			m.evidence += k*math.Log(p) + (n-k)*math.Log(1-p)
		}
	}
	m.p, m.r = max(m.p, 1e-9), max(m.r, 1e-9) // a single run that never began or never ended
	return m
}

// setBernoulli states the intervals of the chain, not those of independent losses:
// they hold in any case, and where losses are independent they are no wider.
func (f *fitter) setBernoulli(m *elliott, t *transitions) {
	f.Spec.Loss = loss.Bernoulli{P: tidy(f.Measured.LossRate)}
	f.chainIntervals(t)
	f.runs(m)
}

func (f *fitter) setGilbert(m *elliott, t *transitions) {
	f.Spec.Loss = loss.GilbertElliott{P: tidy(m.p), R: tidy(m.r), H: 0, K: 1}
	f.chainIntervals(t)
	p, r := t.enter(), t.leave()
	f.estimate("p", "", m.p, p.interval())
	f.estimate("r", "", m.r, r.interval())
	f.runs(m)
}

// chainIntervals states the loss and the mean burst, as Gilbert's chain leaves them
// open.
func (f *fitter) chainIntervals(t *transitions) {
	f.estimate("loss", "", f.Measured.LossRate, t.lossInterval())
	f.estimate("mean burst", "packets", f.Measured.MeanBurst, t.burstInterval())
}

func (f *fitter) setElliott(m *elliott, t *transitions, lost []bool) {
	f.Spec.Loss = loss.GilbertElliott{P: tidy(m.p), R: tidy(m.r), H: tidy(1 - m.eB), K: tidy(1 - m.eG)}
	defer f.runs(m)
	u, ok := m.uncertainty(lost)
	if !ok {
		f.chainIntervals(t)
		f.note("the likelihood has no clear top: nothing is known of how far p, r, k and h may be off, and the loss and the mean " +
			"burst have the intervals of Gilbert's chain")
		return
	}
	for _, e := range elliottFigures(f.Measured.LossRate, f.Measured.MeanBurst, m) {
		f.estimate(e.name, e.unit, e.value, u.interval(&e))
	}
}

// runs compares the lengths of runs of losses with those the model expects, by chi
// square over lengths that are expected five times at least.
func (f *fitter) runs(m *elliott) {
	g, b := m.afterArrival()
	total := g + b
	g, b = g/total, b/total
	n, left, seen := float64(f.Measured.Bursts), 1.0, 0
	chi, bins := 0.0, 0
	for k := range maxRuns - 1 {
		ng, nb := g*(1-m.p)+b*m.r, g*m.p+b*(1-m.r)
		ends := ng*(1-m.eG) + nb*(1-m.eB)
		g, b = ng*m.eG, nb*m.eB
		if n*ends < 5 || n*(left-ends) < 5 {
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
	rest := float64(f.Measured.Bursts-seen) - n*left
	chi += rest * rest / (n * left)
	f.RunsP = 1 - gammaP(float64(bins)/2, chi/2)
	if f.RunsP < 0.01 {
		f.note("the runs of losses do not look like this model's (p = %.2g): the intervals lean on it; judge by the "+
			"figures, or replay the capture itself", f.RunsP)
	}
}

// wilson returns Wilson's 95 % interval for k hits of n.
func wilson(k, n int) span {
	if n == 0 {
		return span{0, 1}
	}
	m, p := float64(n), ratio(k, n)
	mid := (p + z95*z95/(2*m)) / (1 + z95*z95/m)
	half := z95 / (1 + z95*z95/m) * math.Sqrt(p*(1-p)/m+z95*z95/(4*m*m))
	return span{max(0, mid-half), min(1, mid+half)}
}

// tidy rounds a share to five digits, more than any capture determines.
func tidy(p float64) float64 {
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
