package measure

import (
	"math"
	"strconv"
	"strings"

	"wirelab/lossmodel"
)

// jitterLaw is a distribution of jitter in closed form, in units of the jitter. It
// shares nothing with the sampler that it is held against.
type jitterLaw struct {
	cdf      func(float64) float64
	quantile func(float64) float64 // nil, unless cdf inverts it
	lo, hi   float64               // between which all of it lies that matters
	mean, sd float64
}

// lawOfJitter returns the law of a delay's jitter; ok is false for a table in a
// file.
func lawOfJitter(d *lossmodel.Delay) (law jitterLaw, ok bool) {
	switch d.Distribution {
	case lossmodel.Uniform:
		law = jitterLaw{cdf: func(x float64) float64 { return clamp((x + 1) / 2) }, lo: -1, hi: 1}
	case lossmodel.Normal:
		law = jitterLaw{cdf: normalCDF, lo: -8, hi: 8}
	case lossmodel.Pareto:
		law = jitterLaw{cdf: paretoCDF, lo: -0.7, hi: 4}
	case lossmodel.ParetoNormal:
		law = jitterLaw{cdf: paretonormalCDF, quantile: paretonormalQuantile, lo: -3, hi: 4}
	case lossmodel.Exponential:
		law = jitterLaw{cdf: func(x float64) float64 { return 1 - math.Exp(-max(0, x)) }, hi: 40}
	case lossmodel.Gamma:
		k := d.Shape
		if k == 0 {
			k = lossmodel.DefaultShape
		}
		law = jitterLaw{cdf: func(x float64) float64 { return gammaP(k, x*math.Sqrt(k)) }, hi: 40}
	case lossmodel.Tabled:
		points := quantilesOf(d.Table.Quantiles)
		if len(points) < 2 {
			return law, false
		}
		law = jitterLaw{cdf: func(x float64) float64 { return tableCDF(points, x) }, lo: points[0], hi: points[len(points)-1]}
	}
	law.integrate()
	return law, law.cdf != nil
}

// integrate sets mean and standard deviation. Quantiles are averaged directly.
func (l *jitterLaw) integrate() {
	const steps = 20_000
	if l.quantile != nil {
		second := 0.0
		for i := range steps {
			x := min(max(l.quantile((float64(i)+0.5)/steps), l.lo), l.hi)
			l.mean += x / steps
			second += x * x / steps
		}
		l.sd = math.Sqrt(second - l.mean*l.mean)
		return
	}
	l.mean, l.sd = integrate(l.cdf, l.lo, l.hi, steps)
}

// integrate returns mean and standard deviation of a distribution between lo and hi: with
// F(lo) = 0, E[X] = hi - int F and E[X^2] = hi^2 - int 2x F.
func integrate(cdf func(float64) float64, lo, hi float64, steps int) (mean, sd float64) {
	width := (hi - lo) / float64(steps)
	first, second := 0.0, 0.0
	for i := range steps {
		x := lo + (float64(i)+0.5)*width
		p := cdf(x) * width
		first += p
		second += 2 * x * p
	}
	mean = hi - first
	return mean, math.Sqrt(max(0, hi*hi-second-mean*mean))
}

// reordered returns RFC 4737's ratio for independent jitter of each packet, sent
// evenly at a spacing in units of the jitter: 1 - E[prod_k P(d'+kT >= d)].
func (l *jitterLaw) reordered(spacing float64) float64 {
	const steps = 4000
	if !(spacing > 0) {
		return math.NaN()
	}
	width, stays := (l.hi-l.lo)/steps, 0.0
	for i := range steps {
		x := l.lo + (float64(i)+0.5)*width
		p := l.cdf(x+width/2) - l.cdf(x-width/2)
		if i == steps-1 {
			p = 1 - l.cdf(x-width/2) // with what stands at the end
		}
		for k := 1.0; k*spacing < x-l.lo && p > 1e-12; k++ {
			p *= 1 - l.cdf(x-k*spacing)
		}
		stays += p
	}
	return 1 - stays
}

func clamp(p float64) float64 { return min(max(p, 0), 1) }

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func paretoCDF(x float64) float64 {
	if x >= 4 {
		return 1
	}
	return 1 - math.Pow(max(1, 0.75*x+1.5), -3)
}

// paretonormalQuantile mixes the quantiles of a normal and a Pareto distribution.
func paretonormalQuantile(u float64) float64 {
	return math.Sqrt2*math.Erfinv(2*u-1)/4 + 3*min(4, (math.Pow(1-u, -1./3)-1.5)*4/3)/4
}

// paretonormalCDF inverts the mixture of quantiles by halving.
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

func quantilesOf(text string) (points []float64) {
	for _, field := range strings.Fields(text) {
		x, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil
		}
		points = append(points, x)
	}
	return points
}

// tableCDF is the share below x of a distribution whose quantiles at equal steps
// are points, straight between them.
func tableCDF(points []float64, x float64) float64 {
	n := float64(len(points) - 1)
	for i := len(points) - 1; i >= 0; i-- {
		switch {
		case points[i] > x:
		case i == len(points)-1:
			return 1
		default:
			return (float64(i) + (x-points[i])/(points[i+1]-points[i])) / n
		}
	}
	return 0
}

// gammaP is the regularised lower incomplete gamma function, by its series below
// the mean and by its continued fraction (Lentz) above.
func gammaP(a, x float64) float64 {
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
	c, d := 1e300, 1/b
	h := d
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

// DelayLaw is how long packets take by latency and jitter alone, in milliseconds.
type DelayLaw struct {
	Mean, SD float64
	Lo, Hi   float64 // between which all delays lie that matter
	Rho      float64 // correlation with the next packet
}

// DelayLawOf returns the law of a delay in closed form; ok is false for a table in a file. What
// would come before it was sent takes no time.
func DelayLawOf(d *lossmodel.Delay) (law DelayLaw, ok bool) {
	latency, unit := float64(d.Latency)/millisecond, float64(d.Jitter)/millisecond
	if d.Jitter == 0 {
		return DelayLaw{Mean: latency, Lo: latency, Hi: latency}, true
	}
	jitter, ok := lawOfJitter(d)
	if !ok {
		return DelayLaw{}, false
	}
	law = DelayLaw{Lo: max(latency+jitter.lo*unit, 0), Hi: max(latency+jitter.hi*unit, 0), Rho: d.Correlation}
	law.Mean, law.SD = integrate(func(y float64) float64 { return jitter.cdf((y - latency) / unit) }, law.Lo, law.Hi, 4000)
	return law, true
}
