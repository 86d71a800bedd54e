package chart

import "math"

// Reduce says how the values that share a column become one.
type Reduce uint8

// The ways to reduce.
const (
	Mean Reduce = iota // weighted by Series.Weights if there are any
	Max                // so that a single spike survives
)

// Columns gathers values, the newest of which has the index end-1 on an endless
// time line, into n columns of per values each. A bucket begins at a multiple of
// per, so that a picture drawn later shows the same buckets, one column further
// left. Columns without a usable value are NaN. Values that are not finite are
// left out, and so are values with a weight that is not positive.
func Columns(values, weights []float64, end int64, per, n int, how Reduce) []float64 {
	return grid{1, int64(max(per, 1))}.gather(values, weights, end, n, how)
}

// gather adds v to a column. For a mean, acc is the mean so far and sum the
// weight so far: nothing is ever larger than the values themselves.
func gather(acc, sum *float64, v, weight float64, how Reduce) {
	first := math.IsNaN(*acc)
	switch {
	case first:
		*acc = v
	case how == Max:
		*acc = math.Max(*acc, v)
	default:
		*acc += (v - *acc) * (weight / (*sum + weight))
	}
	*sum += weight
}

func weightOf(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	if i < len(weights) && weights[i] <= limit {
		return weights[i]
	}
	return 0
}

// limit bounds values so that no sum or difference of two overflows.
const limit = 1e18

func clampValue(v float64) float64 { return math.Min(math.Max(v, -limit), limit) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
