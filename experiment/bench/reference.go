package bench

import (
	"runtime"
	"time"

	"wirelab/internal/quantile"
)

// referenceSteps is the number of iterations: about 12 us on a processor of 2024.
const referenceSteps = 1 << 13

// runReference is the reference loop: dependent multiplications, random access to a table of 16 KB, and
// an unpredictable branch. It must never change, because figures of different versions would no longer
// be comparable; a test checks the result. It does not allocate.
func runReference() uint64 {
	var table [2048]uint64
	x, sum := uint64(0x9e3779b97f4a7c15), uint64(0)
	for range referenceSteps {
		x = x*6364136223846793005 + 1442695040888963407 // Knuth's linear congruential generator
		e := &table[x>>53]
		if x&(1<<40) != 0 {
			*e += x >> 17
		} else {
			*e ^= x
		}
		sum += *e
	}
	return sum
}

// referencePasses is the number of passes of the loop for one measurement.
const referencePasses = 51

// referenceTime returns the median time of a pass in microseconds.
func referenceTime(clock func() time.Duration) float64 {
	times := make([]float64, referencePasses)
	for i := range times {
		from := clock()
		runtime.KeepAlive(runReference()) // uses the result, so that the loop is not optimised away
		times[i] = float64(clock()-from) / 1e3
	}
	return quantile.Median(times)
}
