package bench

import (
	"runtime"
	"time"

	"wirelab/internal/quantile"
)

// referenceSteps makes the loop take some 12 us on a core of 2024.
const referenceSteps = 1 << 13

// runReference is the fixed loop: a chain of multiplications, a table of 16 KB that is read and
// written where nobody can foretell, and a branch that goes either way. It is never changed,
// or figures of other days mean nothing; a test holds its result. It allocates nothing.
func runReference() uint64 {
	var table [2048]uint64
	x, sum := uint64(0x9e3779b97f4a7c15), uint64(0)
	for range referenceSteps {
		x = x*6364136223846793005 + 1442695040888963407
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

// passes is how many times the loop runs for one figure.
const passes = 51

// reference returns the median time of a pass, in microseconds.
func reference(clock func() time.Duration) float64 {
	times := make([]float64, passes)
	for i := range times {
		from := clock()
		runtime.KeepAlive(runReference())
		times[i] = float64(clock()-from) / 1e3
	}
	return quantile.Median(times)
}
