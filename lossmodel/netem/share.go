package netem

import (
	"math"
	"strconv"

	"wirelab/internal/units"
)

// share is a probability in units of 1/(2^32-1), as tc hands it to the kernel: 0
// never, 2^32-1 always.
type share uint32

// always is the share that is all.
const always share = math.MaxUint32

// shareOf rounds a probability to the nearest threshold, as tc does.
func shareOf(p float64) share { return share(math.RoundToEven(p * math.MaxUint32)) }

// Float returns the probability.
func (s share) Float() float64 { return float64(s) / math.MaxUint32 }

// String writes the shortest percentage that reads as the same threshold.
func (s share) String() string {
	exact := 100 * s.Float()
	for digits := 1; ; digits++ {
		text := strconv.FormatFloat(exact, 'g', digits, 64)
		percent, err := strconv.ParseFloat(text, 64)
		if err == nil && shareOf(percent/100) == s || digits == 17 {
			return units.FormatDecimal(percent) + "%"
		}
	}
}
