package figures

// minSeeds is the number of seeds from which the interval of a mean is corrected for skewness well
// enough. It was chosen by simulation; see TestCoverageOverSeeds of package sweep.
const minSeeds = 30

// IsApproximate reports whether the 95 % interval of the mean of values, a figure of one run per seed,
// may contain the true mean in clearly less or more than 95 % of all sweeps. That is so with fewer than
// minSeeds values, for percentiles, extremes and counts of rare events, whose distribution over the
// seeds is skewed or has few values, and if more than half of the values are equal. The rule does not
// depend on the skewness of values: samples of a skewed figure that look symmetric are those whose
// intervals miss the mean.
func IsApproximate(key string, values []float64) bool {
	if len(values) < minSeeds || !Find(key).Common {
		return true
	}
	counts := map[float64]int{}
	for _, v := range values {
		counts[v]++
		if counts[v] > len(values)/2 {
			return true
		}
	}
	return false
}
