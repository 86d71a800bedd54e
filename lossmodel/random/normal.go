package random

import (
	"math/bits"
	"time"
)

// The normal distribution by inversion of a table, in integers, so that every
// machine draws the same delays: math.Log and its kin differ between processors in
// the last bit.
//
// normalTable holds -Q(p), the quantile below the mean with its sign turned, for
// p from 2^-34 to 1/2. Each halving of p is cut into 32 equal parts, so the tail
// is as fine as the middle. Between entries the quantile is interpolated: the
// result is within 0.0001 of the standard deviation, and ends at 6.44 of them,
// which one packet in 8.6 thousand million would exceed.
const (
	normalOctaves   = 33
	normalParts     = 32
	normalPartBits  = 5
	normalUnitBits  = 28 // entries are in units of 2^-28 standard deviations
	normalBlendBits = 24
)

// Normal turns a uniform word into a normal offset with standard deviation sd.
func Normal(word uint64, sd time.Duration) time.Duration { return Times(NormalUnits(word), sd) }

// NormalUnits returns the normal quantile in units. The top bit of word is the
// sign, the rest is p: p = rest / 2^64.
func NormalUnits(word uint64) int64 {
	z := uint64(normalTable[0])
	rest := word << 1 // drops the sign; now p = rest / 2^65
	if octave := bits.LeadingZeros64(rest); octave < normalOctaves {
		part := rest << (octave + 1) // drops the leading one
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
