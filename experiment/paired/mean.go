package paired

import "math"

// MeanOf returns the mean of independent values, such as one per seed, with the confidence interval of
// Student's t distribution. With a single value the interval is unknown; without values the mean is NaN.
// If the values are differences between pairs of runs with the same seed, the result is the interval of the
// paired t-test.
func MeanOf(values []float64) Interval {
	n := len(values)
	if n == 0 {
		return Interval{Estimate: math.NaN()}
	}
	var m moments
	for _, v := range values {
		m.add(v)
	}
	out := Interval{Estimate: m.mean, Block: 1} // blocks of 1, because the values are independent
	if n < 2 {
		return out
	}
	half := studentQuantile(n-1) * math.Sqrt(m.variance()/float64(n))
	out.Lo, out.Hi, out.Known = out.Estimate-half, out.Estimate+half, !math.IsNaN(half) && !math.IsInf(half, 0)
	return out
}
