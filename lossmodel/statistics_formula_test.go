package lossmodel

import (
	"math"
	"slices"
	"testing"
)

// sigmas is the tolerance in standard errors. A correct model fails for one of two million seeds.
const sigmas = 5

// checkClose checks that got is within sigmas standard errors of want.
func checkClose(t *testing.T, what string, got, want, stdErr float64) {
	t.Helper()
	if d := math.Abs(got - want); !(d <= sigmas*stdErr) {
		t.Errorf("%s: %.6g, want %.6g: %.1f standard errors of %.3g off", what, got, want, d/stdErr, stdErr)
	} else {
		t.Logf("%s: %.6g, closed form %.6g, %.1f standard errors", what, got, want, d/stdErr)
	}
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// covariance returns the covariance at a lag around a known mean, and its standard error by the
// method of batch means.
func covariance(x []float64, mu float64, lag int) (c, se float64) {
	const batches = 100
	var stageContext [batches]float64
	size := (len(x) - lag) / batches
	for b := range stageContext {
		for i := b * size; i < (b+1)*size; i++ {
			stageContext[b] += (x[i] - mu) * (x[i+lag] - mu) / float64(size)
		}
	}
	c = mean(stageContext[:])
	for _, p := range stageContext {
		se += (p - c) * (p - c)
	}
	return c, math.Sqrt(se / batches / (batches - 1))
}

// kolmogorov returns sqrt(N) times the largest difference between the empirical distribution of x
// and cdf. It sorts x.
func kolmogorov(x []float64, cdf func(float64) float64) float64 {
	slices.Sort(x)
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		p := cdf(v)
		d = max(d, p-float64(i)/n, float64(i+1)/n-p)
	}
	return math.Sqrt(n) * d
}
