package units

import (
	"math"
	"strings"
)

// conversions are the units that Factor converts: num/den is the size of one unit in the first unit of its kind.
var conversions = map[string]struct {
	kind     string
	num, den float64
}{
	"m": {"length", 1, 1}, "km": {"length", 1000, 1}, "dm": {"length", 1, 10}, "cm": {"length", 1, 100}, "mm": {"length", 1, 1000},
	"um": {"length", 1, 1e6}, "µm": {"length", 1, 1e6}, "in": {"length", 254, 1e4}, "ft": {"length", 3048, 1e4},
	"rad": {"angle", 1, 1}, "mrad": {"angle", 1, 1000}, "deg": {"angle", math.Pi, 180}, "°": {"angle", math.Pi, 180},
	"turn": {"angle", 2 * math.Pi, 1},
	// A component of a unit quaternion: four of them that are off by e turn by up to 4e rad.
	"quaternion": {"angle", 4, 1},
	"s":          {"time", 1, 1}, "ms": {"time", 1, 1000}, "us": {"time", 1, 1e6}, "µs": {"time", 1, 1e6}, "ns": {"time", 1, 1e9}, "sec": {"time", 1, 1}, "seconds": {"time", 1, 1}, "min": {"time", 60, 1}, "h": {"time", 3600, 1},
	"kg": {"mass", 1, 1}, "g": {"mass", 1, 1000}, "t": {"mass", 1000, 1},
}

// Factor returns the number by which a value in one unit is multiplied to have it in another: 0.01 from "cm" to
// "m". Quotients such as "cm/s" are converted too. It returns false if the units are unknown or of different kinds.
// Every unit, also an unknown one, converts to itself.
func Factor(from, to string) (float64, bool) {
	if from == to {
		return 1, true
	}
	fromDividend, fromDivisor, fromIsQuotient := strings.Cut(from, "/")
	toDividend, toDivisor, toIsQuotient := strings.Cut(to, "/")
	if fromIsQuotient || toIsQuotient {
		if !fromIsQuotient || !toIsQuotient {
			return 0, false
		}
		dividend, okDividend := Factor(fromDividend, toDividend)
		divisor, okDivisor := Factor(fromDivisor, toDivisor)
		return dividend / divisor, okDividend && okDivisor
	}
	a, okFrom := conversions[from]
	b, okTo := conversions[to]
	if !okFrom || !okTo || a.kind != b.kind {
		return 0, false
	}
	return float64(a.num*b.den) / float64(a.den*b.num), true
}
