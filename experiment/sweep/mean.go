package sweep

import (
	"wirelab/experiment/figures"
	"wirelab/experiment/paired"
)

// EstimateMean returns the mean of values with its 95 % confidence interval; see paired.MeanOf. The result has
// N = 0 if values is empty or has a NaN or an infinity.
func EstimateMean(values []float64) figures.Mean {
	return toMean(len(values), 0, paired.MeanOf(values))
}

// EstimateRatio returns mean(x) / mean(y) of the pairs x[i], y[i] with its 95 % confidence interval by the
// delta method. Variation that both values of a pair share, such as that of their seed, cancels. The
// result has N = 0 if mean(y) is 0.
func EstimateRatio(x, y []float64) figures.Mean {
	my := paired.MeanOf(y).Estimate
	if my == 0 {
		return figures.Mean{}
	}
	ratio := paired.MeanOf(x).Estimate / my
	residuals := make([]float64, len(x))
	for i := range x {
		residuals[i] = (x[i] - float64(ratio*y[i])) / my // the conversion prevents a fused multiply-subtract
	}
	return toMean(len(x), ratio, paired.MeanOf(residuals))
}

// toMean returns the interval i of n values, shifted by offset. It returns the zero Mean if the mean or a bound
// is NaN or infinite. With fewer than two values the bounds are nil.
func toMean(n int, offset float64, i paired.Interval) figures.Mean {
	m := figures.Mean{N: n, Mean: offset + i.Estimate}
	if m.Mean-m.Mean != 0 || n > 1 && !i.Known { // NaN or infinite
		return figures.Mean{}
	}
	if n > 1 {
		lo, hi := offset+i.Lo, offset+i.Hi
		m.Lo, m.Hi = &lo, &hi
	}
	return m
}
