package netem

import (
	"math"
	"strconv"

	"wirelab/internal/units"
)

// probability is in units of 1/(2^32-1), as tc passes it to the kernel.
type probability uint32

// always is the probability 1.
const always probability = math.MaxUint32

// newProbability rounds to the nearest unit, as tc does.
func newProbability(p float64) probability { return probability(math.RoundToEven(p * math.MaxUint32)) }

// Float returns the probability as a number from 0 to 1.
func (s probability) Float() float64 { return float64(s) / math.MaxUint32 }

// String returns the shortest percentage that is parsed as the same value.
func (s probability) String() string {
	exact := 100 * s.Float()
	for digits := 1; ; digits++ {
		text := strconv.FormatFloat(exact, 'g', digits, 64)
		percent, err := strconv.ParseFloat(text, 64)
		if err == nil && newProbability(percent/100) == s || digits == 17 { // 17 digits identify any float64
			return units.FormatDecimal(percent) + "%"
		}
	}
}
