package measure

import (
	"math"
	"slices"
	"strconv"

	"wirelab/lossmodel/loss"
)

// z95 is how many standard errors hold 95 of 100.
const z95 = 1.96

// loss fits Bernoulli's model, Gilbert's and the full Gilbert-Elliott, and takes
// the one with the least BIC: a parameter more must earn its keep.
func (f *fitter) loss() error {
	lost, n := make([]bool, len(f.all)), len(f.all)
	for i := range f.all {
		lost[i] = f.all[i].Lost
	}
	f.RunsP = 1
	low, high := wilson(f.Measured.Lost, n)
	f.estimate("loss", "", f.Measured.LossRate, low, high)
	switch f.Measured.Lost {
	case 0:
		f.note("nothing was lost: the loss is at most %.2g%%", 300/float64(n))
		return nil
	case n:
		f.Spec.Loss = loss.Bernoulli{P: 1}
		f.note("everything was lost: nothing else can be known")
		return nil
	}
	gilbert, after := fitGilbert(lost)
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
	slices.SortStableFunc(f.LossModels, func(a, b Candidate) int { return compare(a.BIC, b.BIC) })
	switch f.LossModels[0].Name {
	case "bernoulli":
		f.Spec.Loss = loss.Bernoulli{P: tidy(rate)}
		f.runs(&independent)
	case "gilbert":
		f.setGilbert(&gilbert, after)
	default:
		f.setElliott(&full, lost)
	}
	return nil
}

// fitGilbert counts transitions, which is the most likely model; after[i] is how
// many packets followed an arrival (0) or a loss (1).
func fitGilbert(lost []bool) (m elliott, after [2]int) {
	var flips [2]int
	for i := 1; i < len(lost); i++ {
		from := 0
		if lost[i-1] {
			from = 1
		}
		after[from]++
		if lost[i] != lost[i-1] {
			flips[from]++
		}
	}
	m = elliott{p: ratio(flips[0], after[0]), r: ratio(flips[1], after[1]), eB: 1}
	for from, p := range [2]float64{m.p, m.r} {
		k, n := float64(flips[from]), float64(after[from])
		if p > 0 && p < 1 {
			m.evidence += k*math.Log(p) + (n-k)*math.Log(1-p)
		}
	}
	m.p, m.r = max(m.p, 1e-9), max(m.r, 1e-9) // a single run that never began or never ended
	return m, after
}

func (f *fitter) setGilbert(m *elliott, after [2]int) {
	f.Spec.Loss = loss.GilbertElliott{P: tidy(m.p), R: tidy(m.r), H: 0, K: 1}
	for i, e := range []struct {
		name  string
		value float64
	}{{"p", m.p}, {"r", m.r}} {
		low, high := wilson(int(math.Round(e.value*float64(after[i]))), after[i])
		f.estimate(e.name, "", e.value, low, high)
	}
	f.runs(m)
}

func (f *fitter) setElliott(m *elliott, lost []bool) {
	f.Spec.Loss = loss.GilbertElliott{P: tidy(m.p), R: tidy(m.r), H: tidy(1 - m.eB), K: tidy(1 - m.eG)}
	se := m.spread(lost)
	for i, e := range []struct {
		name  string
		value float64
		flip  bool
	}{{"p", m.p, false}, {"r", m.r, false}, {"k", m.eG, true}, {"h", m.eB, true}} {
		low, high := e.value, e.value
		if !math.IsNaN(se[i]) {
			low, high = logistic(logit(e.value)-z95*se[i]), logistic(logit(e.value)+z95*se[i])
		}
		if e.flip {
			e.value, low, high = 1-e.value, 1-high, 1-low
		}
		f.estimate(e.name, "", e.value, low, high)
	}
	f.runs(m)
}

// runs compares the lengths of runs of losses with those the model expects, by chi
// square over lengths that are expected five times at least.
func (f *fitter) runs(m *elliott) {
	g, b := m.start()
	// After an arrival: the chance of each state, and then of a loss there.
	g, b = g*(1-m.eG), b*(1-m.eB)
	g, b = (g*(1-m.p)+b*m.r)*m.eG, (g*m.p+b*(1-m.r))*m.eB
	total := g + b
	g, b = g/total, b/total
	n, left, seen := float64(f.Measured.Bursts), 1.0, 0
	chi, bins := 0.0, 0
	for k := range MaxRuns - 1 {
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
		f.note("the runs of losses do not look like this model's (p = %.2g): judge by the figures, or replay the capture itself", f.RunsP)
	}
}

// wilson returns Wilson's 95 % interval for k hits of n.
func wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	m, p := float64(n), ratio(k, n)
	mid := (p + z95*z95/(2*m)) / (1 + z95*z95/m)
	half := z95 / (1 + z95*z95/m) * math.Sqrt(p*(1-p)/m+z95*z95/(4*m*m))
	return max(0, mid-half), min(1, mid+half)
}

// tidy keeps five digits of a share: what nobody can know is not printed.
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

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
