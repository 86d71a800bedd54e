package measure

import (
	"math"
)

// mean returns the mean of x; NaN if x is empty.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// meanSD returns the mean m and the population standard deviation sd of x, which must not be empty.
func meanSD(x []float64) (m, sd float64) {
	m = mean(x)
	sum := 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return m, math.Sqrt(sum / float64(len(x)))
}

// minDelays is the number of batches of batchStdErr, and the smallest number of delays that get an interval.
const minDelays = 40

// batchStdErr returns the standard error of the mean of x, estimated from the means of batches. It accounts for
// correlation between neighbouring batches by their lag-1 covariance, but not for correlation over more
// batches. drifting reports that a correlation over more batches is likely, as in a slow drift, because the
// covariance of neighbouring batches exceeds 0.4 times their variance; then se, the standard error, may be too
// small. x must not be empty.
func batchStdErr(x []float64) (se float64, drifting bool) {
	batches := min(minDelays, len(x))
	size, overall := len(x)/batches, mean(x)
	var variance, covariance, previous float64
	for b := range batches {
		deviation := mean(x[b*size:(b+1)*size]) - overall
		// Sums of squares and of products with the previous batch.
		variance, covariance, previous = variance+deviation*deviation, covariance+deviation*previous, deviation
	}
	n := float64(batches)
	covariance += variance / n // corrects the bias: for independent batches the expected sum is -variance/n
	// A negative covariance reduces the variance of the mean at most by half; it may be chance.
	se = math.Sqrt(max(variance/2, variance+2*covariance) / max(n-1, 1) / n)
	return se, covariance > 0.4*variance
}

// t95 is the 97.5 % quantile of Student's t distribution with 13 degrees of freedom. batchStdErr
// has a third of minDelays, because including the covariance makes the variance estimate three
// times as uncertain.
const t95 = 2.16
