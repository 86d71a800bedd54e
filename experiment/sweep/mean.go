package sweep

import (
	"math"
	"slices"
	"sync"
)

// Mean is a figure over the seeds of a point, with its 95 % interval. Without two seeds
// there is no interval: Lo and Hi are nil.
type Mean struct {
	N    int      `json:"n"` // seeds that have the figure
	Mean float64  `json:"mean"`
	Lo   *float64 `json:"lo"`
	Hi   *float64 `json:"hi"`
}

// MeanOf returns the mean of values with Student's interval.
func MeanOf(values []float64) Mean {
	m, half := meanAndHalf(values)
	return interval(len(values), m, half)
}

// RatioOf returns mean(x) / mean(y) of pairs, with the interval of the delta method: what
// x and y have in common, the luck of a seed, falls out of it.
func RatioOf(x, y []float64) Mean {
	my, _ := meanAndHalf(y)
	if my == 0 {
		return Mean{}
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

func interval(n int, mean, half float64) Mean {
	if mean-mean != 0 || half-half != 0 {
		return Mean{} // a figure that is no number: nothing can be said of it
	}
	m := Mean{N: n, Mean: mean}
	if n > 1 {
		lo, hi := mean-half, mean+half
		m.Lo, m.Hi = &lo, &hi
	}
	return m
}

// meanAndHalf returns the mean and half the width of its 95 % interval.
func meanAndHalf(v []float64) (mean, half float64) {
	n := float64(len(v))
	if n > 0 && slices.Min(v) == slices.Max(v) {
		return v[0], 0 // to the last bit
	}
	for _, x := range v {
		mean += x / n
	}
	squares := 0.0
	for _, x := range v {
		d := x - mean
		squares += float64(d * d)
	}
	if len(v) < 2 {
		return mean, 0
	}
	return mean, StudentT(len(v)-1) * math.Sqrt(squares/(n-1)/n)
}

// StudentT returns the 0.975 quantile of Student's t distribution with df degrees of
// freedom, at least 1: exact for 1 and 2, else by bisection of its distribution function,
// which for whole degrees of freedom is a finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4).
func StudentT(df int) float64 {
	if t, ok := quantiles.Load(df); ok {
		return t.(float64)
	}
	t := studentT(df)
	quantiles.Store(df, t)
	return t
}

// quantiles remembers those that were reckoned: a large grid asks for one half a million times.
var quantiles sync.Map

func studentT(df int) float64 {
	lo, hi := 1.9, 13.0
	for range 60 {
		mid := (lo + hi) / 2
		if withinT(mid, df) < 0.95 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// withinT is the chance that |t| is at most x.
func withinT(x float64, df int) float64 {
	theta := math.Atan(x / math.Sqrt(float64(df)))
	sin, cos := math.Sincos(theta)
	term, sum := 1.0, 0.0
	if df%2 == 1 {
		if df == 1 {
			return 2 * theta / math.Pi
		}
		term = cos
		for k := 3; ; k += 2 {
			sum += term
			if k > df-2 {
				break
			}
			term *= cos * cos * float64(k-1) / float64(k)
		}
		return 2 / math.Pi * (theta + sin*sum)
	}
	for k := 2; ; k += 2 {
		sum += term
		if k > df-2 {
			break
		}
		term *= cos * cos * float64(k-1) / float64(k)
	}
	return sin * sum
}
