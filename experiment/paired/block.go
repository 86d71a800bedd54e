package paired

import "math"

// mostOfData is how much of the data a block may be. Data that drift, as after a
// change of the link in the middle, come to that limit, and their intervals are as
// wide as they should be.
const maxBlockShare = 0.35

// blockLength returns how long blocks of v should be: the rule of Politis and White
// (2004, corrected by Patton, Politis and White 2009) for the circular block
// bootstrap, which balances the bias of blocks too short to hold the dependence
// against the scatter of too few of them, but at least four times the lag at which
// v's autocorrelation dies out, and at least twice the memory of a process that
// forgets as fast as v does from one value to the next. The rule alone minimises the
// error of the variance; an interval that is too narrow is the worse mistake here.
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
	return int(math.Ceil(min(max(length, 1), maxBlockShare*float64(n))))
}

// persistence is how much of a value is left in the next one: the autocorrelation r
// of n values at lag 1 without its bias, (1+3r)/n (Marriott and Pope 1954).
func persistence(r float64, n int) float64 { return min(r+(1+3*max(r, 0))/float64(n), 0.99) }

// unseen is by how much blocks make intervals of v too narrow because what reaches
// from one to the next is lost: the standard deviation of a mean of values that
// forget as fast as v does, over that which blocks of this length see of it. At
// least 1.
func widening(v []float64, block int) float64 {
	r := autocovariance(v, 1)
	if block < 2 || r[0] <= 0 {
		return 1
	}
	phi, l := persistence(r[1]/r[0], len(v)), float64(block)
	if phi <= 0 {
		return 1
	}
	whole := (1 + phi) / (1 - phi)
	lost := 2 * phi * (1 - math.Pow(phi, l)) / (l * (1 - phi) * (1 - phi))
	return math.Sqrt(whole / (whole - lost))
}

// insignificant is how many lags in a row must look like chance for the
// autocorrelation to have died out.
const insignificant = 5

// maxLag is the furthest lag that blockLength looks at.
func maxLag(n int) int { return min(n-1, max(n/10, 10)+insignificant) }

// autocovariance returns that of v at lags 0 to most.
func autocovariance(v []float64, most int) []float64 {
	mean := sum(v) / float64(len(v))
	centred := make([]float64, len(v))
	for i, x := range v {
		centred[i] = x - mean
	}
	r := make([]float64, most+1)
	for k := range r {
		s := 0.0
		for i, x := range centred[k:] {
			s += float64(x * centred[i])
		}
		r[k] = s / float64(len(v))
		if k > 0 && k <= most && diedOut(r[:k+1], len(v)) {
			return r[:k+1] // nothing beyond is asked for
		}
	}
	return r
}

// died reports whether the last lags of r all look like chance.
func diedOut(r []float64, n int) bool {
	if len(r) <= insignificant {
		return false
	}
	bound := 2 * math.Sqrt(math.Log10(float64(n))/float64(n)) * r[0]
	for _, x := range r[len(r)-insignificant:] {
		if math.Abs(x) >= bound {
			return false
		}
	}
	return true
}

// lastLag is the last lag before the autocorrelation has died out; the last one
// known if it never does.
func lastLag(r []float64, n int) int {
	if diedOut(r, n) {
		return len(r) - 1 - insignificant
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

// influence is how much each pair moves the difference of two ratios, to first
// order: what has to be looked at for dependence.
func influence(a, b Ratio) []float64 {
	ra, rb := a.value(), b.value()
	n := float64(len(a.Num))
	ua, ub := sum(a.Den)/n, sum(b.Den)/n
	out := make([]float64, len(a.Num))
	for i := range out {
		out[i] = (a.Num[i]-float64(ra*a.Den[i]))/ua - (b.Num[i]-float64(rb*b.Den[i]))/ub
	}
	return out
}

// beyond is the same for quantiles: which of the two lies beyond its own.
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
