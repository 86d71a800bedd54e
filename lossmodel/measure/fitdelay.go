package measure

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"wirelab/internal/quantile"
	"wirelab/internal/units"
	"wirelab/lossmodel"
)

// clocks takes out what only clocks that differ explain: delays below 0, and a
// drift.
func (f *fitter) clocks(timed bool) {
	if timed {
		f.drift()
	}
	least := time.Duration(math.MaxInt64)
	for i := range f.all {
		if d := &f.all[i]; !d.Lost || len(d.Copies) > 0 {
			least = min(least, soonest(d))
		}
	}
	if least < 0 {
		f.shift(func(time.Duration) time.Duration { return -least })
		f.note("packets arrive up to %v before they are sent: the clocks differ, and latency cannot be told from that; the "+
			"least delay counts as 0", -least)
	} else if least > lossmodel.MaxDelay && least < math.MaxInt64 {
		f.shift(func(time.Duration) time.Duration { return -least })
		f.note("every packet takes more than %v: the clocks differ, and latency cannot be told from that; the least delay "+
			"counts as 0", lossmodel.MaxDelay)
	}
}

// shift adds to all delays.
func (f *fitter) shift(by func(sent time.Duration) time.Duration) {
	for i := range f.all {
		d := &f.all[i]
		more := by(d.Sent)
		if !d.Lost {
			d.Took += more
		}
		for k := range d.Copies {
			d.Copies[k] += more
		}
	}
}

// drift looks at the least delay of each of 32 stretches. Clocks that run apart
// move it along a straight line; anything else leaves it where it is or scatters
// it.
func (f *fitter) drift() {
	const stretches = 32
	n := len(f.all)
	if n < stretches*20 {
		return
	}
	zero := f.all[0].Took // what is large in all of them costs no digits
	var x, y []float64
	for s := range stretches {
		least, at := math.Inf(1), 0.0
		for i := s * n / stretches; i < (s+1)*n/stretches; i++ {
			if d := &f.all[i]; !d.Lost && float64(d.Took-zero) < least {
				least, at = float64(d.Took-zero), float64(d.Sent-f.all[0].Sent)
			}
		}
		if !math.IsInf(least, 0) {
			x, y = append(x, at), append(y, least)
		}
	}
	slope, scatter, ok := line(x, y)
	if !ok || len(x) < stretches/2 {
		return
	}
	if total := math.Abs(slope) * (x[len(x)-1] - x[0]); total > millisecond && total > 12*scatter {
		first := f.all[0].Sent
		f.shift(func(sent time.Duration) time.Duration { return -time.Duration(slope * float64(sent-first)) })
		f.note("the clocks run apart by %.1f parts in a million; that drift is taken out", slope*1e6)
	}
}

// line fits y = a + slope x and returns the standard deviation of the points from it.
func line(x, y []float64) (slope, scatter float64, ok bool) {
	if len(x) < 3 {
		return 0, 0, false
	}
	mx, my := mean(x), mean(y)
	var xx, xy float64
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		xy += (x[i] - mx) * (y[i] - my)
	}
	if xx == 0 {
		return 0, 0, false
	}
	slope = xy / xx
	for i := range x {
		off := y[i] - my - slope*(x[i]-mx)
		scatter += off * off
	}
	return slope, math.Sqrt(scatter / float64(len(x))), true
}

// quiet is how little spread is none: what a machine's own clockwork does.
const quiet = 100 * time.Microsecond

// delay fits latency and jitter, or, where delays come in two heaps far apart, the
// reorder stage.
func (f *fitter) delay(timed bool) {
	var took []time.Duration
	for i := range f.all {
		if !f.all[i].Lost {
			took = append(took, f.all[i].Took)
		}
	}
	if len(took) == 0 {
		f.note("only copies arrived: delays are not fitted")
		return
	}
	f.spreadOf(took)
	sorted := slices.Sorted(slices.Values(took))
	middle := quantile.NextRank(sorted, 0.5)
	switch split, ok := twoClusters(sorted); {
	case quantile.NextRank(sorted, 0.99)-quantile.NextRank(sorted, 0.01) < quiet:
		f.Spec.Delay.Latency = limit(middle)
		f.note("delays vary by less than %v but for one packet in a hundred: taken as constant", quiet)
	case ok:
		f.clusters(sorted, split)
	default:
		f.jitter(sorted, timed)
	}
}

// spreadOf states mean and standard deviation, with intervals that allow for
// neighbours that hang together: that of the standard deviation on a logarithmic
// scale, on which it is more nearly normal.
func (f *fitter) spreadOf(took []time.Duration) {
	if len(took) < leastDelays {
		f.note("only %d packets arrived: too few for intervals of delays", len(took))
		return
	}
	x := make([]float64, len(took))
	for i, t := range took {
		x[i] = float64(t) / millisecond
	}
	m, sd := meanSD(x)
	se, drifts := longRun(x)
	f.estimate("mean delay", "ms", m, span{m - t95*se, m + t95*se})
	if sd == 0 {
		return
	}
	if drifts {
		f.note("delays rise and fall more slowly than a capture so short can tell: the intervals of delays may be too narrow")
	}
	for i := range x {
		x[i] = (x[i] - m) / sd * (x[i] - m) / sd
	}
	se, _ = longRun(x)
	factor := math.Exp(t95 * se / 2)
	f.estimate("standard deviation of delay", "ms", sd, span{sd / factor, sd * factor})
}

// twoClusters reports whether delays form two clusters, and where to split them:
// the middle half of the range, but for one packet in a hundred at each end, is
// empty but for one in two hundred.
func twoClusters(sorted []time.Duration) (split time.Duration, ok bool) {
	lo, hi := quantile.NextRank(sorted, 0.01), quantile.NextRank(sorted, 0.99)
	quarter := (hi - lo) / 4
	from, _ := slices.BinarySearch(sorted, lo+quarter)
	to, _ := slices.BinarySearch(sorted, hi-quarter)
	return lo + 2*quarter, quarter > quiet && to-from < len(sorted)/200 && from > len(sorted)/50 && to < len(sorted)*49/50
}

// clusters: the later heap is held back.
func (f *fitter) clusters(sorted []time.Duration, split time.Duration) {
	at, _ := slices.BinarySearch(sorted, split)
	early, late := quantile.NextRank(sorted[:at], 0.5), quantile.NextRank(sorted[at:], 0.5)
	held, n := len(sorted)-at, len(sorted)
	f.Spec.Delay.Latency = limit(early)
	f.Spec.Reorder.P, f.Spec.Reorder.Delay = tidy(ratio(held, n)), limit(late-early)
	f.estimate("reorder", "", ratio(held, n), wilson(held, n))
	f.note("delays come in two heaps, about %v and %v: the later ones are held back by the reorder stage", early, late)
}

// jitter takes the distribution that comes closest, with latency and jitter from
// mean and standard deviation; if none comes close, the quantiles themselves.
func (f *fitter) jitter(sorted []time.Duration, timed bool) {
	mean, sd := moments(sorted)
	type fitted struct {
		Candidate
		delay lossmodel.Delay
	}
	var tried []fitted
	for _, d := range candidates(sorted, mean, sd) {
		law, ok := lawOfJitter(&d)
		if !ok || law.sd == 0 {
			continue
		}
		jitter := sd / law.sd
		latency := mean - law.mean*jitter
		if latency < 0 {
			continue // it would have to send before it is sent
		}
		d.Jitter, d.Latency = limit(time.Duration(jitter)), limit(time.Duration(latency))
		tried = append(tried, fitted{Candidate{Name: d.Distribution.String(), D: distance(sorted, &d, &law)}, d})
	}
	if len(tried) == 0 {
		f.Spec.Delay.Latency = limit(quantile.NextRank(sorted, 0.5))
		f.note("no distribution fits delays that vary more than they last: only the median is taken")
		return
	}
	slices.SortStableFunc(tried, func(a, b fitted) int { return cmp.Compare(a.merit(), b.merit()) })
	for _, t := range tried {
		f.DelayModels = append(f.DelayModels, t.Candidate)
	}
	f.Spec.Delay = tried[0].delay
	f.correlatedNeighbours(timed)
}

// closeEnough is the distance that a named distribution may have before the table
// of quantiles is taken.
const closeEnough = 0.02

// merit orders candidates: a table fits anything, so it counts only where nothing
// else comes close.
func (c *Candidate) merit() float64 {
	if c.Name == lossmodel.Tabled.String() {
		return max(c.D, closeEnough)
	}
	return c.D
}

// candidates returns the distributions to try. Gamma's shape follows from the
// skewness, 2/sqrt(shape).
func candidates(sorted []time.Duration, mean, sd float64) []lossmodel.Delay {
	skew := 0.0
	for _, t := range sorted {
		z := (float64(t) - mean) / sd
		skew += z * z * z / float64(len(sorted))
	}
	shape := min(max(math.Round(8/(skew*skew))/2, 0.5), 16)
	list := []lossmodel.Delay{
		{Distribution: lossmodel.Uniform}, {Distribution: lossmodel.Normal}, {Distribution: lossmodel.Pareto},
		{Distribution: lossmodel.ParetoNormal}, {Distribution: lossmodel.Exponential},
	}
	if skew > 0 {
		gamma := lossmodel.Delay{Distribution: lossmodel.Gamma}
		if shape != lossmodel.DefaultShape {
			gamma.Shape = shape
		}
		list = append(list, gamma)
	}
	return append(list, lossmodel.Delay{Distribution: lossmodel.Tabled, Table: tableOf(sorted, mean, sd)})
}

// tableOf writes quantiles in standard deviations from the mean. The ends are those
// of all but a thousandth: a straight line to an outlier would count for too much.
func tableOf(sorted []time.Duration, mean, sd float64) lossmodel.Table {
	const steps = 64
	words := make([]string, steps+1)
	for i := range words {
		p := 0.001 + 0.998*float64(i)/steps
		words[i] = units.Fixed((float64(quantile.NextRank(sorted, p))-mean)/sd, 3)
	}
	return lossmodel.Table{Quantiles: strings.Join(words, " ")}
}

// distance is Kolmogorov's, on a part of the sample that is plenty.
func distance(sorted []time.Duration, d *lossmodel.Delay, law *jitterLaw) float64 {
	const most = 4000
	n, worst := len(sorted), 0.0
	step := max(1, n/most)
	for i := 0; i < n; i += step {
		p := law.cdf(float64(sorted[i]-d.Latency) / float64(d.Jitter))
		worst = max(worst, math.Abs(p-(float64(i)+0.5)/float64(n)))
	}
	return worst
}

// lag1Interval returns the interval of the correlation of neighbours: that of the
// mean of what each packet adds to it, on Fisher's scale, which keeps it within -1
// to 1.
func (f *fitter) lag1Interval() span {
	d := &f.Measured.Delay
	z := func(i int) float64 { return float64(f.all[i].Took-d.Mean) / float64(d.SD) }
	var pull []float64
	pairs := 0.0
	for i := range f.all {
		if i > 0 && !f.all[i-1].Lost && !f.all[i].Lost {
			pairs++
		}
	}
	if pairs < leastDelays || d.SD == 0 || math.Abs(d.Lag1) >= 1 {
		return span{-1, 1}
	}
	for i := range f.all {
		if f.all[i].Lost {
			continue
		}
		v := -d.Lag1 * z(i) * z(i)
		if i > 0 && !f.all[i-1].Lost {
			v += z(i) * z(i-1) * float64(d.Count) / pairs
		}
		pull = append(pull, v)
	}
	se, _ := longRun(pull)
	mid, half := math.Atanh(d.Lag1), t95*se/(1-d.Lag1*d.Lag1)
	return span{math.Tanh(mid - half), math.Tanh(mid + half)}
}

// correlatedNeighbours fits the correlation of neighbours, and whether order is kept.
func (f *fitter) correlatedNeighbours(timed bool) {
	rho, n := f.Measured.Delay.Lag1, f.Measured.Delay.Count
	f.estimate("jitter correlation", "", rho, f.lag1Interval())
	if gap := interval(f.all); timed && f.Measured.Reordering.Reordered == 0 && f.Measured.Delay.SD > gap/2 && gap > 0 {
		f.Spec.Delay.KeepOrder = true
		f.note("nothing was overtaken though delays vary by more than packets are apart: keep_order; with a queue before the " +
			"line, fit a rate instead")
	}
	if rho > 5/math.Sqrt(float64(n)) {
		f.Spec.Delay.Correlation = min(tidy(rho), 0.999)
	}
}

// limit keeps a time within what a key takes, in whole microseconds.
func limit(d time.Duration) time.Duration {
	return min(max(d.Round(time.Microsecond), 0), lossmodel.MaxDelay)
}
