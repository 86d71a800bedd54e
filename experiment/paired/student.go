package paired

import (
	"math"
	"sync"
)

// studentQuantile returns the 0.975 quantile of Student's t distribution with df degrees of
// freedom, at least 1: exact for 1 and 2, else by bisection of its distribution function,
// which for whole degrees of freedom is a finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4).
func studentQuantile(df int) float64 {
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
