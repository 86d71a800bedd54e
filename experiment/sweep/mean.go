package sweep

import (
	"wirelab/experiment/figures"
	"wirelab/experiment/paired"
)

// MeanOf returns the mean of values with Student's interval.
func MeanOf(values []float64) figures.Mean {
	m, half := meanAndHalf(values)
	return interval(len(values), m, half)
}

// RatioOf returns mean(x) / mean(y) of pairs, with the interval of the delta method: what
// x and y have in common, the luck of a seed, falls out of it.
func RatioOf(x, y []float64) figures.Mean {
	my, _ := meanAndHalf(y)
	if my == 0 {
		return figures.Mean{}
	}
	mx, _ := meanAndHalf(x)
	ratio := mx / my
	rest := make([]float64, len(x))
	for i := range x {
		rest[i] = (x[i] - float64(ratio*y[i])) / my
	}
	_, half := meanAndHalf(rest)
	return interval(len(x), ratio, half)
}

func interval(n int, mean, half float64) figures.Mean {
	if mean-mean != 0 || half-half != 0 {
		return figures.Mean{} // a figure that is no number: nothing can be said of it
	}
	m := figures.Mean{N: n, Mean: mean}
	if n > 1 {
		lo, hi := mean-half, mean+half
		m.Lo, m.Hi = &lo, &hi
	}
	return m
}

// meanAndHalf returns the mean and half the width of its 95 % interval, 0 without one.
func meanAndHalf(v []float64) (mean, half float64) {
	m := paired.MeanOf(v)
	if !m.Known {
		return m.Diff, 0
	}
	return m.Diff, m.Hi - m.Diff
}
