package chart

import "math"

// Reducer selects how the values of a column are reduced to one.
type Reducer uint8

// The reducers.
const (
	Mean Reducer = iota // weighted by Series.Weights, if set
	Max                 // keeps single spikes
)

// Columns reduces values, the last of which has index end-1 on an endless time line, to n columns of
// per values each. Columns begin at multiples of per, so that a later picture has the same columns
// further left. Values that are not finite and values without a positive weight are ignored; columns
// without values are NaN.
func Columns(values, weights []float64, end int64, per, n int, how Reducer) []float64 {
	return grid{dots: 1, values: int64(max(per, 1))}.gather(values, weights, end, n, how)
}

// addValue adds v to a column: *reduced is the maximum or the running mean, NaN before the first value, and
// *weightSum the weight so far. A running mean cannot overflow.
func addValue(reduced, weightSum *float64, v, weight float64, how Reducer) {
	switch {
	case math.IsNaN(*reduced):
		*reduced = v
	case how == Max:
		*reduced = max(*reduced, v)
	default:
		*reduced += (v - *reduced) * (weight / (*weightSum + weight))
	}
	*weightSum += weight
}

// slidingMean returns the weighted mean of the n values that end with values[last], or of fewer at the start; NaN if
// none of them counts. See weightOf for the weights.
func slidingMean(values, weights []float64, last, n int) float64 {
	mean, weightSum := math.NaN(), 0.0
	for i := max(last+1-n, 0); i <= last; i++ {
		if weight := weightOf(weights, i); isFinite(values[i]) && weight > 0 {
			addValue(&mean, &weightSum, clampValue(values[i]), weight, Mean)
		}
	}
	return mean
}

// weightOf returns the weight of value i: 1 without weights, 0 if it is missing or too large.
func weightOf(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	if i < len(weights) && weights[i] <= limit {
		return weights[i]
	}
	return 0
}

// limit bounds values so that sums and differences do not overflow.
const limit = 1e18

func clampValue(v float64) float64 { return min(max(v, -limit), limit) }

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
