package paired

import "math"

// maxBlockFraction is the maximum length of a block as a fraction of the data. Data
// with a trend, as after a change of the link during the run, reach the limit; their
// intervals are correctly wide.
const maxBlockFraction = 0.35

// blockLength returns the block length for v. It follows the rule of Politis and
// White (2004, corrected by Patton, Politis and White 2009) for the circular block
// bootstrap. The rule balances the bias of short blocks, which miss part of the
// dependence, against the scatter of few long blocks. It minimises the error of the
// variance, but here an interval that is too narrow is worse than one that is too
// wide. So there are two lower limits: four times the lag at which v's
// autocorrelation dies out, and twice the correlation time of a first-order
// autoregressive process with v's autocorrelation at lag 1.
func blockLength(v []float64) int {
	n := len(v)
	r := autocovariance(v, maxLag(n))
	if r[0] <= 0 {
		return 1
	}
	lag := lastLag(r, n)
	if lag == 0 {
		return 1
	}
	// The rule: block length = (2 g^2 n / d)^(1/3) with d = 4/3 spectrum^2. g is the sum of |k| r[k] and spectrum
	// that of r[k] (the spectral density at frequency 0), over all lags k from -m to m with the weights flatTop.
	m := min(2*lag, len(r)-1)
	g, spectrum := 0.0, r[0]
	for k := 1; k <= m; k++ {
		w := flatTop(float64(k) / float64(m))
		g += 2 * float64(w*float64(k)*r[k])
		spectrum += 2 * float64(w*r[k])
	}
	best := 0.0
	if d := 4.0 / 3 * spectrum * spectrum; d > 0 {
		best = math.Cbrt(2 * g * g / d * float64(n))
	}
	phi := persistence(r[1]/r[0], n)
	length := max(best, float64(4*lag), 2*(1+phi)/(1-phi))
	return int(math.Ceil(min(max(length, 1), maxBlockFraction*float64(n))))
}

// persistence returns the autocorrelation at lag 1, corrected for the bias (1+3r)/n
// of its estimate r from n values (Marriott and Pope 1954).
func persistence(r float64, n int) float64 { return min(r+(1+3*max(r, 0))/float64(n), 0.99) }

// wideningFactor returns the factor by which blocks of the given length make intervals of
// the mean of v too narrow, because they miss the dependence between blocks. For a
// first-order autoregressive process with v's autocorrelation at lag 1, it is the true
// standard deviation of the mean divided by the standard deviation that a bootstrap with
// such blocks estimates. The factor is at least 1.
func wideningFactor(v []float64, block int) float64 {
	r := autocovariance(v, 1)
	if block < 2 || r[0] <= 0 {
		return 1
	}
	phi, l := persistence(r[1]/r[0], len(v)), float64(block)
	if phi <= 0 {
		return 1
	}
	// total is the variance of the mean, and lost the part of it that blocks of length l do not show. Both are
	// relative to the variance that the mean of independent values has.
	total := (1 + phi) / (1 - phi)
	lost := 2 * phi * (1 - math.Pow(phi, l)) / (l * (1 - phi) * (1 - phi))
	return math.Sqrt(total / (total - lost))
}

// lagsWithinNoise is how many successive lags must have an autocorrelation within the
// noise before it counts as died out.
const lagsWithinNoise = 5

// maxLag returns the largest lag that blockLength uses for n values.
func maxLag(n int) int { return min(n-1, max(n/10, 10)+lagsWithinNoise) }

// autocovariance returns the autocovariance of v by lag. The lags are 0 to largest, or fewer
// if the autocorrelation dies out before.
func autocovariance(v []float64, largest int) []float64 {
	mean := sum(v) / float64(len(v))
	centred := make([]float64, len(v))
	for i, x := range v {
		centred[i] = x - mean
	}
	r := make([]float64, largest+1)
	for k := range r {
		s := 0.0
		for i, x := range centred[k:] {
			s += float64(x * centred[i])
		}
		r[k] = s / float64(len(v))
		if k > 0 && k <= largest && diedOut(r[:k+1], len(v)) {
			return r[:k+1] // larger lags are not needed
		}
	}
	return r
}

// diedOut reports whether the autocovariances r of n values are within the noise at the
// last lagsWithinNoise lags.
func diedOut(r []float64, n int) bool {
	if len(r) <= lagsWithinNoise {
		return false
	}
	bound := 2 * math.Sqrt(math.Log10(float64(n))/float64(n)) * r[0] // noise by the rule of Politis and White
	for _, x := range r[len(r)-lagsWithinNoise:] {
		if math.Abs(x) >= bound {
			return false
		}
	}
	return true
}

// lastLag returns the last lag before the autocorrelation dies out; the largest known
// lag if it does not.
func lastLag(r []float64, n int) int {
	if diedOut(r, n) {
		return len(r) - 1 - lagsWithinNoise
	}
	return len(r) - 1
}

// flatTop is the lag window of Politis and Romano (1995).
func flatTop(t float64) float64 {
	if t <= 0.5 {
		return 1
	}
	return 2 * (1 - t)
}

// influence returns how much each pair shifts the difference of two ratios, to first
// order. The block length follows from the dependence among these values.
func influence(a, b Ratio) []float64 {
	ratioA, ratioB := a.Value(), b.Value()
	n := float64(len(a.Num))
	meanDenA, meanDenB := sum(a.Den)/n, sum(b.Den)/n
	out := make([]float64, len(a.Num))
	for i := range out {
		out[i] = (a.Num[i]-float64(ratioA*a.Den[i]))/meanDenA - (b.Num[i]-float64(ratioB*b.Den[i]))/meanDenB
	}
	return out
}

// exceedances returns for each pair how much it shifts the difference of the quantiles of a
// and b, up to a factor: 1 if only a exceeds its quantile qa, -1 if only b exceeds its
// quantile qb, otherwise 0. The block length follows from the dependence among these values.
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
