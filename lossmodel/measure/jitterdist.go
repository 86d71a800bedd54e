package measure

import (
	"math"
	"strconv"
	"strings"

	"wirelab/lossmodel"
)

// jitterDist is a jitter distribution in closed form, in units of the jitter. It shares no code
// with the sampler that it tests.
type jitterDist struct {
	cdf      func(float64) float64
	quantile func(float64) float64 // inverse of cdf; nil if not available
	min, max float64               // range with all relevant probability
	mean, sd float64
}

// newJitterDist returns the distribution of a delay's jitter, in units of d.Jitter, with mean and standard
// deviation. min and max are the range over which it is integrated. ok is false if the distribution is a table in
// a file.
func newJitterDist(d *lossmodel.Delay) (dist jitterDist, ok bool) {
	switch d.Distribution {
	case lossmodel.Uniform:
		dist = jitterDist{cdf: func(x float64) float64 { return clamp((x + 1) / 2) }, min: -1, max: 1}
	case lossmodel.Normal:
		dist = jitterDist{cdf: normalCDF, min: -8, max: 8}
	case lossmodel.Pareto:
		dist = jitterDist{cdf: paretoCDF, min: -0.7, max: 4}
	case lossmodel.ParetoNormal:
		dist = jitterDist{cdf: paretonormalCDF, quantile: paretonormalQuantile, min: -3, max: 4}
	case lossmodel.Exponential:
		dist = jitterDist{cdf: func(x float64) float64 { return 1 - math.Exp(-max(0, x)) }, max: 40}
	case lossmodel.Gamma: // the gamma distribution is scaled to a standard deviation of 1
		k := d.Shape
		if k == 0 {
			k = lossmodel.DefaultShape
		}
		dist = jitterDist{cdf: func(x float64) float64 { return regularizedGamma(k, x*math.Sqrt(k)) }, max: 40}
	case lossmodel.Tabled:
		points := parseQuantiles(d.Table.Quantiles)
		if len(points) < 2 {
			return dist, false
		}
		dist = jitterDist{cdf: func(x float64) float64 { return tableCDF(points, x) }, min: points[0],
			max: points[len(points)-1]}
	}
	dist.integrate()
	return dist, dist.cdf != nil
}

// integrate computes the mean and the standard deviation of d and stores them in d. It integrates the quantile
// function, if d has one, otherwise the distribution function.
func (d *jitterDist) integrate() {
	const steps = 20_000 // steps of the numerical integration
	if d.quantile != nil {
		squares := 0.0
		for i := range steps {
			x := min(max(d.quantile((float64(i)+0.5)/steps), d.min), d.max)
			d.mean += x / steps
			squares += x * x / steps
		}
		d.sd = math.Sqrt(squares - d.mean*d.mean)
		return
	}
	d.mean, d.sd = integrate(d.cdf, d.min, d.max, steps)
}

// integrate returns the mean and standard deviation of a distribution on lo to hi, given by its
// distribution function, by the midpoint rule with the given number of steps. Integration by
// parts with F(lo) = 0 gives E[X] = hi - int F(x) dx and E[X^2] = hi^2 - int 2x F(x) dx.
func integrate(cdf func(float64) float64, lo, hi float64, steps int) (mean, sd float64) {
	width := (hi - lo) / float64(steps)
	first, squares := 0.0, 0.0
	for i := range steps {
		x := lo + (float64(i)+0.5)*width
		p := cdf(x) * width
		first += p
		squares += 2 * x * p
	}
	mean = hi - first
	return mean, math.Sqrt(max(0, hi*hi-squares-mean*mean))
}

// clamp limits a probability to 0 ... 1, against rounding errors.
func clamp(p float64) float64 { return min(max(p, 0), 1) }

// normalCDF is the distribution function of the standard normal distribution.
func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// paretoCDF is the distribution function of the kernel's pareto table: a Pareto distribution with
// shape 3 from 1, shifted by -1.5, scaled by 4/3 and cut off at 4.
func paretoCDF(x float64) float64 {
	if x >= 4 {
		return 1
	}
	return 1 - math.Pow(max(1, 0.75*x+1.5), -3)
}

// paretonormalQuantile mixes the quantiles of a normal distribution (1/4) and a Pareto
// distribution (3/4), like the kernel's paretonormal table.
func paretonormalQuantile(u float64) float64 {
	return math.Sqrt2*math.Erfinv(2*u-1)/4 + 3*min(4, (math.Pow(1-u, -1./3)-1.5)*4/3)/4
}

// paretonormalCDF is the distribution function of the kernel's paretonormal table. It inverts
// paretonormalQuantile by bisection.
func paretonormalCDF(x float64) float64 {
	if x >= 4 {
		return 1
	}
	lo, hi := 0.0, 1.0
	for range 40 {
		u := (lo + hi) / 2
		if paretonormalQuantile(u) < x {
			lo = u
		} else {
			hi = u
		}
	}
	return lo
}

// parseQuantiles parses the quantiles of a table; nil if it is a file name.
func parseQuantiles(text string) (points []float64) {
	for _, field := range strings.Fields(text) {
		x, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil
		}
		points = append(points, x)
	}
	return points
}

// tableCDF is the distribution function of a table: points are its quantiles at equal steps of
// probability, interpolated linearly.
func tableCDF(points []float64, x float64) float64 {
	n := float64(len(points) - 1)
	for i := len(points) - 1; i >= 0; i-- {
		switch {
		case points[i] > x: // continue with the point below
		case i == len(points)-1:
			return 1
		default:
			return (float64(i) + (x-points[i])/(points[i+1]-points[i])) / n
		}
	}
	return 0
}

// regularizedGamma returns the regularised lower incomplete gamma function P(a, x): by its series
// for x < a+1, otherwise by its continued fraction with Lentz's algorithm.
func regularizedGamma(a, x float64) float64 {
	if x <= 0 {
		return 0
	}
	lg, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lg)
	if x < a+1 {
		term, sum := 1/a, 1/a
		for n := 1.0; n < 1000 && term > sum*1e-16; n++ {
			term *= x / (a + n)
			sum += term
		}
		return clamp(front * sum)
	}
	b := x + 1 - a
	c, d := 1e300, 1/b // Lentz's ratios; 1e300 stands for infinity
	h := d             // value of the continued fraction so far
	for i := 1.0; i < 1000; i++ {
		an := -i * (i - a)
		b += 2
		d = 1 / (an*d + b)
		c = b + an/c
		h *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return clamp(1 - front*h)
}

// DelayDistribution is the distribution of delays due to latency and jitter, in milliseconds.
type DelayDistribution struct {
	Mean, SD float64
	Min, Max float64 // range with all relevant probability
	Rho      float64 // correlation with the next packet
}

// NewDelayDistribution returns the distribution of a delay in closed form; ok is false if the jitter is a
// table in a file. Delays that would be negative count as 0.
func NewDelayDistribution(d *lossmodel.Delay) (dist DelayDistribution, ok bool) {
	latency, unit := float64(d.Latency)/millisecond, float64(d.Jitter)/millisecond
	if d.Jitter == 0 {
		return DelayDistribution{Mean: latency, Min: latency, Max: latency}, true
	}
	jitter, ok := newJitterDist(d)
	if !ok {
		return DelayDistribution{}, false
	}
	dist = DelayDistribution{Min: max(latency+jitter.min*unit, 0), Max: max(latency+jitter.max*unit, 0), Rho: d.Correlation}
	dist.Mean, dist.SD = integrate(func(y float64) float64 { return jitter.cdf((y - latency) / unit) }, dist.Min, dist.Max, 4000)
	return dist, true
}
