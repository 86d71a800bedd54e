package stats

import "wirelab/internal/quantile"

// endRun adds *length, the length of a run that has ended, to the distribution lengths and sets it to 0. A
// length of 0 is not a run and not added.
func endRun(lengths *quantile.Counts, length *int64) {
	if *length > 0 {
		lengths.Add(*length)
		*length = 0
	}
}

// countFrom returns the number and the sum of the counted values that are at least low.
func countFrom(c *quantile.Counts, low int) (n, sum int64) {
	for v := low; v < len(c.Occurrences); v++ {
		n += c.Occurrences[v]
		sum += c.Occurrences[v] * int64(v)
	}
	return n, sum
}

// share returns a/b, or 0 if b is 0.
func share(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
