package sweep

import (
	"wirelab/experiment/figures"
	"wirelab/experiment/paired"
)

// EstimateMean returns the mean of values with its 95 % confidence interval (Student's t). The result has
// N = 0 if values is empty or has a NaN or an infinity.
func EstimateMean(values []float64) figures.Mean {
	m, half := meanAndHalfWidth(values)
	return interval(len(values), m, half)
}

// EstimateRatio returns mean(x) / mean(y) of the pairs x[i], y[i] with its 95 % confidence interval by the
// delta method. Variation that both values of a pair share, such as that of their seed, cancels. The
// result has N = 0 if mean(y) is 0.
func EstimateRatio(x, y []float64) figures.Mean {
	my, _ := meanAndHalfWidth(y)
	if my == 0 {
		return figures.Mean{}
	}
	mx, _ := meanAndHalfWidth(x)
	ratio := mx / my
	residuals := make([]float64, len(x))
	for i := range x {
		residuals[i] = (x[i] - float64(ratio*y[i])) / my // the conversion prevents a fused multiply-subtract
	}
	_, half := meanAndHalfWidth(residuals)
	return interval(len(x), ratio, half)
}

// interval returns a figures.Mean with the bounds mean ± half, or the zero Mean if mean or half is
// NaN or infinite. With fewer than two values the bounds are nil.
func interval(n int, mean, half float64) figures.Mean {
	if mean-mean != 0 || half-half != 0 { // NaN or infinite
		return figures.Mean{}
	}
	m := figures.Mean{N: n, Mean: mean}
	if n > 1 {
		lo, hi := mean-half, mean+half
		m.Lo, m.Hi = &lo, &hi
	}
	return m
}

// meanAndHalfWidth returns the mean of v and half the width of its 95 % interval. half is 0 if the
// interval is unknown; mean is NaN if v is empty.
func meanAndHalfWidth(v []float64) (mean, half float64) {
	m := paired.MeanOf(v) // the mean is in Diff
	if !m.Known {
		return m.Estimate, 0
	}
	return m.Estimate, m.Hi - m.Estimate
}
