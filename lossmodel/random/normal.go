package random

import (
	"math/bits"
	"time"
)

// Normal variables are computed by table lookup of the quantile function in integer arithmetic,
// because math.Log and similar functions differ between processors in the last bit.
//
// normalTable contains the negated quantile -Q(p) for p from 2^-34 to 1/2. Each octave of p is
// divided into 32 equal parts, so the tail has the same relative resolution as the middle. With
// linear interpolation the error is below 0.0001 standard deviations. The largest value is 6.44
// standard deviations, which a normal variable exceeds with a probability of 1.2e-10.
const (
	normalOctaves   = 33
	normalParts     = 32 // intervals per octave, 2^normalPartBits
	normalPartBits  = 5
	normalUnitBits  = 28 // entries are in units of 2^-28 standard deviations
	normalBlendBits = 24 // precision of the interpolation between two entries
)

// Normal converts a uniformly distributed word to a normally distributed time with mean 0 and
// standard deviation sd.
func Normal(word uint64, sd time.Duration) time.Duration { return Scale(NormalUnits(word), sd) }

// NormalUnits returns the normal quantile of a word in units of 1/One. The top bit of word is the
// sign; the other bits are p in units of 2^-64.
func NormalUnits(word uint64) int64 {
	z := uint64(normalTable[0]) // the largest value, for p below the table
	rest := word << 1           // word without the sign bit: p = rest / 2^65
	// The table divides each octave of p, a range from 2^-k to 2^-(k-1), into equal parts.
	if octave := bits.LeadingZeros64(rest); octave < normalOctaves {
		part := rest << (octave + 1) // rest without its leading one: the position within the octave
		i := (normalOctaves-1-octave)*normalParts + int(part>>(64-normalPartBits))
		blend := part << normalPartBits >> (64 - normalBlendBits)
		here, next := uint64(normalTable[i]), uint64(normalTable[i+1])
		z = here - (here-next)*blend>>normalBlendBits
	}
	if word>>63 == 1 {
		return int64(z)
	}
	return -int64(z)
}
