package paired

import (
	"math"
	"sync"
)

// studentQuantile returns the 0.975 quantile of Student's t distribution with df degrees of
// freedom, at least 1. It caches the results.
func studentQuantile(df int) float64 {
	if t, ok := quantileCache.Load(df); ok {
		return t.(float64)
	}
	t := studentT(df)
	quantileCache.Store(df, t)
	return t
}

// quantileCache maps degrees of freedom to quantiles. A large grid needs half a million quantiles.
var quantileCache sync.Map

// studentT computes the 0.975 quantile of Student's t distribution with df degrees of freedom. It bisects the
// distribution function, which is a finite sum for integer df (Abramowitz and Stegun, 26.7.3 and 26.7.4).
func studentT(df int) float64 {
	lo, hi := 1.9, 13.0 // the quantile is between 1.96 (many degrees of freedom) and 12.71 (one)
	for range 60 {
		mid := (lo + hi) / 2
		if centralProbability(mid, df) < 0.95 { // |t| is at most the 0.975 quantile with probability 0.95
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// centralProbability returns the probability that |t| is at most x, where t has Student's distribution with df
// degrees of freedom. The sums are those of Abramowitz and Stegun for odd and for even df.
func centralProbability(x float64, df int) float64 {
	theta := math.Atan(x / math.Sqrt(float64(df)))
	sin, cos := math.Sincos(theta)
	term, series := 1.0, 0.0
	if df%2 == 1 {
		if df == 1 {
			return 2 * theta / math.Pi
		}
		term = cos
		for k := 3; ; k += 2 {
			series += term
			if k > df-2 {
				break
			}
			term *= cos * cos * float64(k-1) / float64(k)
		}
		return 2 / math.Pi * (theta + sin*series)
	}
	for k := 2; ; k += 2 {
		series += term
		if k > df-2 {
			break
		}
		term *= cos * cos * float64(k-1) / float64(k)
	}
	return sin * series
}
