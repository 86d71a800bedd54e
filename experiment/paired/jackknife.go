package paired

import "math"

// blockBounds returns the first pair of block k of n pairs, and the first pair after it.
func blockBounds(n, k int) (from, to int) { return k * n / blocks, (k + 1) * n / blocks }

// jackknife returns the interval of a figure. all is the figure of all pairs, without[k] the figure without block
// k, and shares[k] the share of block k in the traffic; only the proportions of the shares matter. influences
// has an entry for each pair; see influence. The interval is unknown if a figure in without is not finite.
func jackknife(all float64, without, shares *[blocks]float64, influences []float64) Interval {
	var m moments
	for _, figure := range without {
		m.add(figure)
	}
	out := Interval{Estimate: all, Block: len(influences) / blocks}
	stdErr := math.Sqrt(m.squares * (blocks - 1) / blocks)
	half := wideningFactor(influences, out.Block) * studentQuantile(degreesOfFreedom(shares)) * stdErr
	if math.IsNaN(half) || math.IsInf(half, 0) {
		return out
	}
	out.Lo, out.Hi, out.Known = all-half, all+half, true
	return out
}

// degreesOfFreedom returns the degrees of freedom of the variance that blocks with the given shares of the traffic
// give. For equal shares it is the number of blocks less one. If a few blocks carry most of the traffic, these
// determine the figure. If the noise were proportional to the traffic, the variance would have as many degrees of
// freedom as one of n-1 equal blocks, with n = (sum of w^2)^2 / sum of w^4 for shares w (Satterthwaite 1946). Part
// of the noise is independent of the traffic, so the result is the mean of both.
func degreesOfFreedom(shares *[blocks]float64) int {
	squares, fourth := 0.0, 0.0
	for _, w := range shares {
		squares += float64(w * w)
		fourth += float64(w * w * w * w)
	}
	if fourth == 0 { // no traffic
		return blocks - 1
	}
	equal := squares * squares / fourth
	return int(math.Round((equal + blocks - 2) / 2))
}

// wideningFactor returns the factor by which blocks of block pairs make intervals of the mean of v too narrow, because
// they depend on their neighbours. It is at least 1. The factor follows from the dependence between successive values of v,
// or between successive means of 2, 4 or 8 values if these give a larger factor: fast noise hides slow changes, but not in means.
func wideningFactor(v []float64, block int) float64 {
	factor := 1.0
	for _, length := range []int{1, 2, 4, 8} {
		sums := make([]float64, len(v)/length)
		for i := range sums {
			sums[i] = sum(v[i*length : (i+1)*length])
		}
		factor = max(factor, neighbourFactor(persistence(sums), float64(block)/float64(length)))
	}
	return factor
}

// neighbourFactor returns wideningFactor for a first-order autoregressive process whose autocorrelation at lag 1 is
// phi: the true standard deviation of the mean divided by the standard deviation that blocks of the given length show.
func neighbourFactor(phi, block float64) float64 {
	if phi <= 0 {
		return 1
	}
	// total is the variance of the mean, and lost the part of it that blocks do not show. Both are
	// relative to the variance that the mean of independent values has.
	total := (1 + phi) / (1 - phi)
	lost := 2 * phi * (1 - math.Pow(phi, block)) / (block * (1 - phi) * (1 - phi))
	return math.Sqrt(total / (total - lost))
}

// persistence returns the autocorrelation of v at lag 1, at most 0.99, corrected for the bias (1+3r)/n of its
// estimate r from n values (Marriott and Pope 1954). It is 0 for constant values.
func persistence(v []float64) float64 {
	n := float64(len(v))
	mean := sum(v) / n
	variance, product := 0.0, 0.0
	for i, x := range v {
		variance += float64((x - mean) * (x - mean))
		if i > 0 {
			product += float64((x - mean) * (v[i-1] - mean))
		}
	}
	if variance == 0 {
		return 0
	}
	r := product / variance
	return min(r+(1+3*max(r, 0))/n, 0.99)
}

// influence returns, for each pair, how much a figure of the ratios a and b changes if the pair gets more weight (the
// first derivative). slopeA and slopeB are the derivatives of the figure by the logarithms of the ratios. The
// dependence among the pairs is that among these values.
func influence(a, b Ratio, slopeA, slopeB float64) []float64 {
	n := float64(len(a.Num))
	out := make([]float64, len(a.Num))
	for _, side := range []struct {
		r     Ratio
		slope float64
	}{{a, slopeA}, {b, slopeB}} {
		num, den := sum(side.r.Num)/n, sum(side.r.Den)/n
		if num == 0 { // the ratio has no logarithm, and no pair contributes to it
			continue
		}
		for i := range out {
			out[i] += float64(side.slope * (side.r.Num[i]/num - side.r.Den[i]/den))
		}
	}
	return out
}

// exceedances returns for each pair how much it shifts the quotient of the quantiles of a and b, up to a factor:
// 1 if only a exceeds its quantile qa, -1 if only b exceeds its quantile qb, otherwise 0.
func exceedances(a, b []float64, qa, qb float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		if a[i] > qa {
			out[i]++
		}
		if b[i] > qb {
			out[i]--
		}
	}
	return out
}

// moments holds the mean and the sum of squared deviations of the added values
// (Welford 1962).
type moments struct{ n, mean, squares float64 }

// add adds a value.
func (m *moments) add(v float64) {
	m.n++
	d := v - m.mean
	m.mean += d / m.n
	m.squares += float64(d * (v - m.mean))
}

// variance returns the unbiased estimate of the variance.
func (m *moments) variance() float64 { return m.squares / (m.n - 1) }
