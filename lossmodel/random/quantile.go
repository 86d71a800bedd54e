package random

import (
	"math/bits"
	"time"
)

// Quantiles of one-sided distributions, like the normal distribution in integer arithmetic with
// interpolated tables. A word w stands for the exceedance probability q = w/2^64, written as
// q = 2^-e (1+f), so that tables of -ln and x^(-1/3) are needed only for 1 to 2. Results are in
// units of 1/One = 2^-28 with an error below 0.00001.
const (
	unitBits = normalUnitBits
	// One is 1 in the unit of quantiles, 2^-28.
	One = 1 << unitBits
	// ln 2, and the cube roots of 2 and 4, in units of 1/One.
	ln2          = 186065279
	cubeRootOf2  = 338207482
	cubeRootOf4  = 426114725
	paretoLimit  = 4 * One // maximum of tc's tables
	quantileBits = 8       // base-2 logarithm of the number of intervals of a table
)

// splitWord splits a word into the exponent e >= 1 and the fraction f in units of 2^-64.
func splitWord(word uint64) (e int, f uint64) {
	word |= 1 // word 0 would have no exponent
	zeros := bits.LeadingZeros64(word)
	return zeros + 1, word << zeros << 1 // the second shift removes the leading one
}

// interpolate returns the value of a table, which covers 1 to 2 in equal steps, at 1+f. f is in
// units of 2^-64.
func interpolate(table *[257]uint32, f uint64) int64 {
	const blendBits = 24 // precision of the interpolation between two entries
	i := f >> (64 - quantileBits)
	blend := int64(f << quantileBits >> (64 - blendBits))
	here, next := int64(table[i]), int64(table[i+1])
	return here + (next-here)*blend>>blendBits
}

// Exponential returns the quantile -ln q of the exponential distribution with mean 1, in units of
// 1/One, where q is word/2^64.
func Exponential(word uint64) int64 {
	e, f := splitWord(word)
	return int64(e)*ln2 - interpolate(&logTable, f)
}

// Pareto returns the quantile of tc's pareto table: shape 3, scaled and shifted to start at -2/3
// with mean 0, cut off at 4. The cut-off changes the mean to -0.033 and the standard deviation to
// 0.82.
func Pareto(word uint64) int64 {
	e, f := splitWord(word)
	if e > 7 { // q < 2^-7, where the quantile exceeds the limit
		return paretoLimit
	}
	root := interpolate(&cubeRootTable, f) // (1+f)^(-1/3); q^(-1/3) is 2^(e/3) times that
	switch e % 3 {
	case 1:
		root = root * cubeRootOf2 >> unitBits
	case 2:
		root = root * cubeRootOf4 >> unitBits
	}
	root <<= e / 3
	return min((4*root-6*One)/3, paretoLimit) // 4/3 (root - 3/2)
}

// ParetoNormal returns a quarter of the normal quantile plus three quarters of the Pareto
// quantile at the same probability, as in tc's table, cut off at 4.
func ParetoNormal(word uint64) int64 {
	// NormalUnits takes the top bit of word as the sign. q is the probability, in units of 2^-64,
	// that a normal variable exceeds NormalUnits(word).
	q := ^word // the variable is negative: the other bits are the probability below it, 1-q
	if word>>63 == 1 {
		q = word << 1 >> 1 // the variable is positive: the other bits are q
	}
	return min((NormalUnits(word)+3*Pareto(q))/4, paretoLimit)
}

// Gamma returns a sample of the gamma distribution with shape twiceShape/2, scaled to a standard
// deviation of 1. It is a sum of independent samples: an exponential one for each whole of the
// shape, and half a squared normal one for a half. scale is 1/sqrt(shape) in units of 1/One.
func Gamma(word uint64, twiceShape int, scale int64) int64 {
	sum := int64(0)
	for i := range twiceShape / 2 {
		sum += Exponential(DeriveWord(word, i))
	}
	if twiceShape%2 == 1 {
		z := NormalUnits(DeriveWord(word, twiceShape/2))
		sum += z * z >> unitBits / 2 // (z*z) / One / 2
	}
	return Multiply(sum, scale)
}

// Scale multiplies a value in units of 1/One by a duration. It rounds towards zero.
func Scale(units int64, d time.Duration) time.Duration {
	return time.Duration(Multiply(units, int64(d)))
}

// Multiply returns the product of two values in units of 1/One, rounded towards zero. b must not
// be negative.
func Multiply(a, b int64) int64 {
	if a < 0 {
		return -Multiply(-a, b)
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(hi<<(64-unitBits) | lo>>unitBits)
}

// ExponentialGap converts a uniformly distributed word to an exponentially distributed duration,
// such as the gap between packets of Poisson traffic.
func ExponentialGap(word uint64, mean time.Duration) time.Duration {
	return Scale(Exponential(word), mean)
}
