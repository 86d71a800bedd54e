package paired

import "math"

// minSkewed is the number of values from which MeanOf corrects intervals for skewness. With fewer, the estimate
// of the skewness is too uncertain.
const minSkewed = 10

// MeanOf returns the mean of independent values, such as one per seed, with its confidence interval: that of
// Student's t distribution, from minSkewed values on with Hall's correction for skewness. With a single value
// the interval is unknown; without values the mean is NaN. For differences between pairs of runs with the same
// seed it is the paired interval.
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
	t, stdErr := studentQuantile(n-1), math.Sqrt(m.variance()/float64(n))
	out.Lo, out.Hi = out.Estimate-float64(t*stdErr), out.Estimate+float64(t*stdErr)
	if n >= minSkewed && stdErr > 0 {
		g := skewness(values, &m) / math.Sqrt(float64(n))
		out.Lo = out.Estimate - float64(unskewed(t, g)*stdErr)
		out.Hi = out.Estimate - float64(unskewed(-t, g)*stdErr)
	}
	width := out.Hi - out.Lo
	out.Known = !math.IsNaN(width) && !math.IsInf(width, 0)
	return out
}

// skewness returns the adjusted Fisher-Pearson skewness of at least three values, whose moments are m.
func skewness(values []float64, m *moments) float64 {
	deviation, cubes := math.Sqrt(m.variance()), 0.0
	for _, v := range values {
		d := (v - m.mean) / deviation
		cubes += float64(d * d * d)
	}
	return cubes * m.n / ((m.n - 1) * (m.n - 2))
}

// unskewed returns the quantile of the studentized mean of skewed values that corresponds to the quantile t of
// symmetric ones: the inverse of the monotone transformation of Hall (1992, "On the removal of skewness by
// transformation"). g is the skewness divided by the square root of the number of values.
func unskewed(t, g float64) float64 {
	if math.Abs(g) < 1e-6 { // the correction is far below the rounding of t, and the formula divides by g
		return t
	}
	return (math.Cbrt(1+float64(g*(t-g/6))) - 1) * 3 / g
}
