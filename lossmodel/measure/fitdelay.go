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

// millisecond is one millisecond in nanoseconds, to convert durations to milliseconds.
const millisecond = float64(time.Millisecond)

// correctClocks removes the effects of clocks that differ. If the capture has send times and delays (timed), it
// removes a drift. If the minimum delay is negative or above lossmodel.MaxDelay, it shifts all delays so that
// the minimum is 0.
func (f *fitter) correctClocks(timed bool) {
	if timed {
		f.removeDrift()
	}
	fastest := time.Duration(math.MaxInt64) // stays so if nothing arrived
	for i := range f.datagrams {
		if d := &f.datagrams[i]; !d.Lost || len(d.Copies) > 0 {
			fastest = min(fastest, firstDelay(d))
		}
	}
	if fastest < 0 {
		f.shiftDelays(func(time.Duration) time.Duration { return -fastest })
		f.addNote("packets arrive up to %v before they are sent: the clocks differ and the latency is unknown; the minimum delay "+
			"counts as 0", -fastest)
	} else if fastest > lossmodel.MaxDelay && fastest < math.MaxInt64 {
		f.shiftDelays(func(time.Duration) time.Duration { return -fastest })
		f.addNote("all delays exceed %v: the clocks differ and the latency is unknown; the minimum delay "+
			"counts as 0", lossmodel.MaxDelay)
	}
}

// shiftDelays adds by(sent) to the delay of each packet that arrived and of its copies, where sent
// is the send time of the packet.
func (f *fitter) shiftDelays(by func(sent time.Duration) time.Duration) {
	for i := range f.datagrams {
		d := &f.datagrams[i]
		shift := by(d.Sent)
		if !d.Lost {
			d.Took += shift
		}
		for k := range d.Copies {
			d.Copies[k] += shift
		}
	}
}

// removeDrift subtracts a linear clock drift. It fits a line to the minimum delay of
// each of 32 intervals and takes the slope as a drift only if it is large compared with
// the scatter of the minima around the line: more than 1 ms and 12 standard deviations over the
// capture.
func (f *fitter) removeDrift() {
	const intervals = 32
	n := len(f.datagrams)
	const minPerInterval = 20 // packets, so that the minimum delay is close to the true minimum
	if n < intervals*minPerInterval {
		return
	}
	zero := f.datagrams[0].Took // subtracted from all delays, to keep the precision of float64
	var x, y []float64          // by interval: send time of its fastest packet, and that packet's delay, both in nanoseconds
	for part := range intervals {
		minimum, at := math.Inf(1), 0.0
		for i := part * n / intervals; i < (part+1)*n/intervals; i++ {
			if d := &f.datagrams[i]; !d.Lost && float64(d.Took-zero) < minimum {
				minimum, at = float64(d.Took-zero), float64(d.Sent-f.datagrams[0].Sent)
			}
		}
		if !math.IsInf(minimum, 0) {
			x, y = append(x, at), append(y, minimum)
		}
	}
	slope, scatter, ok := fitLine(x, y)
	if !ok || len(x) < intervals/2 {
		return
	}
	if total := math.Abs(slope) * (x[len(x)-1] - x[0]); total > millisecond && total > 12*scatter {
		first := f.datagrams[0].Sent
		f.shiftDelays(func(sent time.Duration) time.Duration { return -time.Duration(slope * float64(sent-first)) })
		f.addNote("the clocks drift by %.1f ppm; the drift was removed", slope*1e6)
	}
}

// fitLine fits y = a + slope*x by least squares. scatter is the standard deviation of the points from
// the line. ok is false with fewer than three points or if all x are equal.
func fitLine(x, y []float64) (slope, scatter float64, ok bool) {
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
		deviation := y[i] - my - slope*(x[i]-mx)
		scatter += deviation * deviation
	}
	return slope, math.Sqrt(scatter / float64(len(x))), true
}

// minSpread is the spread below which delays count as constant: scheduling and timers alone
// cause as much.
const minSpread = 100 * time.Microsecond

// fitDelay fits latency and jitter. If the delays form two clusters far apart, it fits latency
// and the reorder stage instead. timed means that the capture has send times.
func (f *fitter) fitDelay(timed bool) {
	var delays []time.Duration
	for i := range f.datagrams {
		if !f.datagrams[i].Lost {
			delays = append(delays, f.datagrams[i].Took)
		}
	}
	if len(delays) == 0 {
		f.addNote("only copies arrived: delays are not fitted")
		return
	}
	f.estimateMoments(delays)
	sorted := slices.Sorted(slices.Values(delays))
	middle := quantile.NextRank(sorted, 0.5)
	switch split, ok := twoClusters(sorted); {
	case quantile.NextRank(sorted, 0.99)-quantile.NextRank(sorted, 0.01) < minSpread:
		f.Spec.Delay.Latency = clampDelay(middle)
		f.addNote("98 %% of the delays are within %v: the delay is taken as constant", minSpread)
	case ok: // two clusters, divided at split
		f.fitReorder(sorted, split)
	default:
		f.fitJitter(sorted, timed)
	}
}

// estimateMoments adds estimates of the mean and standard deviation of delays, with intervals that
// allow for correlated neighbours. Below minDelays delays it adds a note instead. The interval of
// the standard deviation is computed on a logarithmic scale, where its distribution is closer to
// normal.
func (f *fitter) estimateMoments(delays []time.Duration) {
	if len(delays) < minDelays {
		f.addNote("%d packets arrived, too few for intervals of delays", len(delays))
		return
	}
	x := make([]float64, len(delays))
	for i, t := range delays {
		x[i] = float64(t) / millisecond
	}
	m, sd := meanSD(x)
	se, drifts := batchStdErr(x)
	f.addEstimate("mean delay", "ms", m, span{m - t95*se, m + t95*se})
	if sd == 0 {
		return
	}
	if drifts {
		f.addNote("the delay drifts slowly, and the capture is too short to average over it: the intervals of delays may be too narrow")
	}
	for i := range x { // squared deviations in units of the variance, whose mean is 1
		x[i] = (x[i] - m) / sd * (x[i] - m) / sd
	}
	se, _ = batchStdErr(x)           // relative standard error of the variance
	factor := math.Exp(t95 * se / 2) // half of the variance's logarithm is that of the standard deviation
	f.addEstimate("standard deviation of delay", "ms", sd, span{sd / factor, sd * factor})
}

// twoClusters reports whether delays, in ascending order, form two clusters, and where to split
// them. They do if the middle half of the range from the 1st to the 99th percentile contains less
// than 0.5 % of the packets, and each side of it more than 2 %.
func twoClusters(sorted []time.Duration) (split time.Duration, ok bool) {
	lo, hi := quantile.NextRank(sorted, 0.01), quantile.NextRank(sorted, 0.99)
	quarter := (hi - lo) / 4
	belowGap, _ := slices.BinarySearch(sorted, lo+quarter)
	aboveGap, _ := slices.BinarySearch(sorted, hi-quarter)
	n := len(sorted)
	ok = quarter > minSpread && aboveGap-belowGap < n/200 && belowGap > n/50 && aboveGap < n*49/50
	return lo + 2*quarter, ok
}

// fitReorder takes the median of the early cluster of delays as the latency and fits the reorder
// stage to the late cluster. split is the delay between the two.
func (f *fitter) fitReorder(sorted []time.Duration, split time.Duration) {
	firstLate, _ := slices.BinarySearch(sorted, split)
	early, late := quantile.NextRank(sorted[:firstLate], 0.5), quantile.NextRank(sorted[firstLate:], 0.5)
	lateCount, n := len(sorted)-firstLate, len(sorted)
	f.Spec.Delay.Latency = clampDelay(early)
	f.Spec.Reorder.P, f.Spec.Reorder.Delay = round5(ratio(lateCount, n)), clampDelay(late-early)
	f.addEstimate("reorder", "", ratio(lateCount, n), wilson(lateCount, n))
	f.addNote("delays form two clusters, at %v and %v: the later one is fitted by the reorder stage", early, late)
}

// fitJitter selects the distribution of the jitter. It is the candidate with the smallest rankingDistance, so
// the table of quantiles if no named distribution is close enough. sorted are the delays in ascending order;
// latency and jitter follow from their mean and standard deviation. timed means that the capture has send times.
func (f *fitter) fitJitter(sorted []time.Duration, timed bool) {
	mean, sd := moments(sorted)
	type fitted struct {
		Candidate
		delay lossmodel.Delay
	}
	var tried []fitted
	for _, d := range candidates(sorted, mean, sd) {
		dist, ok := newJitterDist(&d)
		if !ok || dist.sd == 0 {
			continue
		}
		jitter := sd / dist.sd // dist is in units of the jitter
		latency := mean - dist.mean*jitter
		if latency < 0 {
			continue // a link cannot have a negative latency
		}
		d.Jitter, d.Latency = clampDelay(time.Duration(jitter)), clampDelay(time.Duration(latency))
		tried = append(tried, fitted{Candidate{Name: d.Distribution.String(), D: distance(sorted, &d, &dist)}, d})
	}
	if len(tried) == 0 {
		f.Spec.Delay.Latency = clampDelay(quantile.NextRank(sorted, 0.5))
		f.addNote("no distribution fits, because the delays vary more than their mean: only the median is used")
		return
	}
	slices.SortStableFunc(tried, func(a, b fitted) int { return cmp.Compare(a.rankingDistance(), b.rankingDistance()) })
	for _, t := range tried {
		f.DelayModels = append(f.DelayModels, t.Candidate)
	}
	f.Spec.Delay = tried[0].delay
	f.fitCorrelation(timed)
}

// closeEnough is the distance up to which a named distribution is preferred to the table
// of quantiles.
const closeEnough = 0.02

// rankingDistance returns the distance by which fitJitter ranks candidates; the least is best.
// It is D, but at least closeEnough for the table of quantiles: the table fits every sample, so
// a named distribution that is close enough must rank before it.
func (c *Candidate) rankingDistance() float64 {
	if c.Name == lossmodel.Tabled.String() {
		return max(c.D, closeEnough)
	}
	return c.D
}

// candidates returns the distributions to try for delays, which are sorted and have the given mean and standard
// deviation. The shape of the gamma distribution follows from the skewness, which is 2/sqrt(shape). Without a
// positive skewness, the gamma distribution is left out.
func candidates(sorted []time.Duration, mean, sd float64) []lossmodel.Delay {
	skew := 0.0
	for _, t := range sorted {
		z := (float64(t) - mean) / sd
		skew += z * z * z / float64(len(sorted))
	}
	shape := min(max(math.Round(8/(skew*skew))/2, 0.5), 16) // 4/skew^2 in steps of 0.5
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
	return append(list, lossmodel.Delay{Distribution: lossmodel.Tabled, Table: newQuantileTable(sorted, mean, sd)})
}

// newQuantileTable returns a table of quantiles of delays, in standard deviations from the mean. It
// ends at the quantiles 0.001 and 0.999: interpolation up to an outlier would give the outlier too
// much weight.
func newQuantileTable(sorted []time.Duration, mean, sd float64) lossmodel.Table {
	const steps = 64
	words := make([]string, steps+1)
	for i := range words {
		p := 0.001 + 0.998*float64(i)/steps
		words[i] = units.Fixed((float64(quantile.NextRank(sorted, p))-mean)/sd, 3)
	}
	return lossmodel.Table{Quantiles: strings.Join(words, " ")}
}

// distance returns the Kolmogorov distance between the delays, in ascending order, and the
// distribution with the latency and jitter of d and the shape of dist. It is computed on at most
// about 4000 delays.
func distance(sorted []time.Duration, d *lossmodel.Delay, dist *jitterDist) float64 {
	const maxPoints = 4000
	n, worst := len(sorted), 0.0
	step := max(1, n/maxPoints)
	for i := 0; i < n; i += step {
		p := dist.cdf(float64(sorted[i]-d.Latency) / float64(d.Jitter))
		worst = max(worst, math.Abs(p-(float64(i)+0.5)/float64(n)))
	}
	return worst
}

// lag1Interval returns the 95 % interval of the lag-1 correlation r of delays. With delays z that have
// mean 0 and standard deviation 1, packet i contributes q*z[i]*z[i-1] - r*z[i]^2 to the error of r. q is the
// number of packets that arrived divided by the number of pairs of successive packets that both arrived. The
// standard error of the mean contribution is converted to Fisher's scale, atanh(r), which keeps the bounds within
// -1 to 1. The interval is -1 to 1 if there are fewer than minDelays pairs.
func (f *fitter) lag1Interval() span {
	d := &f.Measured.Delay
	z := func(i int) float64 { return float64(f.datagrams[i].Took-d.Mean) / float64(d.SD) }
	var contributions []float64
	pairs := 0.0
	for i := range f.datagrams {
		if i > 0 && !f.datagrams[i-1].Lost && !f.datagrams[i].Lost {
			pairs++
		}
	}
	if pairs < minDelays || d.SD == 0 || math.Abs(d.Lag1) >= 1 {
		return span{-1, 1}
	}
	for i := range f.datagrams {
		if f.datagrams[i].Lost {
			continue
		}
		v := -d.Lag1 * z(i) * z(i)
		if i > 0 && !f.datagrams[i-1].Lost {
			v += z(i) * z(i-1) * float64(d.Count) / pairs
		}
		contributions = append(contributions, v)
	}
	se, _ := batchStdErr(contributions)
	mid, half := math.Atanh(d.Lag1), t95*se/(1-d.Lag1*d.Lag1)
	return span{math.Tanh(mid - half), math.Tanh(mid + half)}
}

// fitCorrelation fits Correlation and KeepOrder of the delay stage. KeepOrder is set if no packet
// was overtaken although the delays vary by more than half of the interval between packets. This can
// be decided only if the capture has send times (timed).
func (f *fitter) fitCorrelation(timed bool) {
	rho, n := f.Measured.Delay.Lag1, f.Measured.Delay.Count
	f.addEstimate("jitter correlation", "", rho, f.lag1Interval())
	if gap := meanInterval(f.datagrams); timed && f.Measured.Reordering.Reordered == 0 &&
		f.Measured.Delay.SD > gap/2 && gap > 0 {
		f.Spec.Delay.KeepOrder = true
		f.addNote("no packet was overtaken although delays vary by more than half of the interval: keep_order is set; " +
			"if a queue caused this, fit a rate instead")
	}
	if rho > 5/math.Sqrt(float64(n)) { // rho is more than five standard errors above 0
		f.Spec.Delay.Correlation = min(round5(rho), 0.999)
	}
}

// clampDelay rounds d to microseconds and limits it to the range of a key that sets a delay: 0 to
// lossmodel.MaxDelay.
func clampDelay(d time.Duration) time.Duration {
	return min(max(d.Round(time.Microsecond), 0), lossmodel.MaxDelay)
}
