package measure

import (
	"math"
)

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

func meanSD(x []float64) (m, sd float64) {
	m = mean(x)
	sum := 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return m, math.Sqrt(sum / float64(len(x)))
}

// batchMeans returns the mean of x and its standard error by the method of batch
// means, which needs no model of how neighbours hang together.
func batchMeans(x []float64) (m, se float64) {
	const most = 100
	batches := min(most, len(x))
	size := len(x) / batches
	means := make([]float64, batches)
	for b := range means {
		means[b] = mean(x[b*size : (b+1)*size])
	}
	_, sd := meanSD(means)
	return mean(x), sd / math.Sqrt(float64(max(batches-1, 1)))
}

// leastDelays is how many batches longRun takes. Fewer values have no interval.
const leastDelays = 40

// longRun returns the standard error of the mean of x by batch means, of which
// neighbours may still hang together: their covariance counts too. What hangs
// together for longer than a batch or two is not seen; drifts warns of it.
func longRun(x []float64) (se float64, drifts bool) {
	batches := min(leastDelays, len(x))
	size, all := len(x)/batches, mean(x)
	var own, next, was float64
	for b := range batches {
		off := mean(x[b*size:(b+1)*size]) - all
		own, next, was = own+off*off, next+off*was, off
	}
	n := float64(batches)
	next += own / n // of batches that are independent it is -own/n
	return math.Sqrt(max(own/2, own+2*next) / max(n-1, 1) / n), next > 0.4*own
}

// t95 is how many standard errors of longRun hold 95 of 100: Student's for 13 degrees
// of freedom, a third of the batches, since with the covariance of neighbours the
// variance is three times as uncertain.
const t95 = 2.16

// covariance of neighbours about a known mean, and its standard error.
func covariance(x []float64, mu float64) (c, se float64) {
	if len(x) < 2 {
		return 0, math.Inf(1)
	}
	products := make([]float64, len(x)-1)
	for i := range products {
		products[i] = (x[i] - mu) * (x[i+1] - mu)
	}
	return batchMeans(products)
}

// runsOf returns the lengths of the runs of ones.
func runsOf(lost []float64) (lengths []float64) {
	n := 0.0
	for i, v := range lost {
		if v == 1 {
			n++
		}
		if n > 0 && (v != 1 || i == len(lost)-1) {
			lengths, n = append(lengths, n), 0
		}
	}
	return lengths
}

// number returns 1 for true and 0 for false.
func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
