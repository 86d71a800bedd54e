package paired

import "math"

// student holds the critical values of Student's t at 95 %, two-sided, for 1 to 30 degrees
// of freedom.
var student = [...]float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042}

// MeanOf returns the mean of independent values, of one seed each, with Student's interval.
// Of a single value the interval is unknown. Of differences between pairs of runs with the
// same seed it is the paired interval.
func MeanOf(values []float64) Interval {
	n := len(values)
	if n == 0 {
		return Interval{Diff: math.NaN()}
	}
	var m moments
	for _, v := range values {
		m.add(v)
	}
	out := Interval{Diff: m.mean, Block: 1}
	if n < 2 {
		return out
	}
	t := 1.96 + 2.45/float64(n-1) // within 0.001 beyond the table
	if n-1 <= len(student) {
		t = student[n-2]
	}
	half := t * math.Sqrt(m.variance()/float64(n))
	out.Lo, out.Hi, out.Known = out.Diff-half, out.Diff+half, !math.IsNaN(half) && !math.IsInf(half, 0)
	return out
}
