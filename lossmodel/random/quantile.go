package random

import (
	"math/bits"
	"time"
)

// The quantiles of the one-sided distributions, like the normal one's in integers
// and by interpolation of a table. A word w stands for the probability q = w/2^64
// that something is exceeded, taken apart as q = 2^-e (1+f): -ln q and q^(-1/3)
// then need tables over 1..2 only. Results are in units of 2^-28, off by less than
// 0.00001.
const (
	unitBits = normalUnitBits
	// One is 1 in the unit of quantiles, 2^-28.
	One = 1 << unitBits
	// ln 2, and the cube roots of 2 and 4.
	ln2          = 186065279
	cubeRootOf2  = 338207482
	cubeRootOf4  = 426114725
	paretoLimit  = 4 * One // tc's tables end there
	quantileBits = 8       // of the tables
)

// split takes a word apart as the exponent e >= 1 and f in units of 2^-64.
func split(word uint64) (e int, f uint64) {
	zeros := bits.LeadingZeros64(word | 1)
	return zeros + 1, (word | 1) << zeros << 1
}

// lookUp interpolates a table at f.
func lookUp(table *[257]uint32, f uint64) int64 {
	const blendBits = 24
	i := f >> (64 - quantileBits)
	blend := int64(f << quantileBits >> (64 - blendBits))
	here, next := int64(table[i]), int64(table[i+1])
	return here + (next-here)*blend>>blendBits
}

// Exponential returns the quantile of the exponential distribution with mean 1:
// -ln q.
func Exponential(word uint64) int64 {
	e, f := split(word)
	return int64(e)*ln2 - lookUp(&logTable, f)
}

// Pareto returns the quantile that tc tabulates: shape 3, scaled and shifted to
// start at -2/3 with mean 0 and cut at 4, which takes the mean to -0.033 and the
// standard deviation to 0.82.
func Pareto(word uint64) int64 {
	e, f := split(word)
	if e > 7 {
		return paretoLimit
	}
	root := lookUp(&cubeRootTable, f) // q^(-1/3)
	switch e % 3 {
	case 1:
		root = root * cubeRootOf2 >> unitBits
	case 2:
		root = root * cubeRootOf4 >> unitBits
	}
	root <<= e / 3
	return min((4*root-6*One)/3, paretoLimit)
}

// ParetoNormal returns a quarter of the normal quantile and three of Pareto's at
// the same q, as tc mixes them, cut at 4.
func ParetoNormal(word uint64) int64 {
	q := ^word // below the middle: 1-q is word/2^64
	if word>>63 == 1 {
		q = word << 1 >> 1 // above it
	}
	return min((NormalUnits(word)+3*Pareto(q))/4, paretoLimit)
}

// Gamma returns a sample of the gamma distribution of shape halves/2, scaled to
// mean shape: each whole of the shape is an exponential, a half is half a squared
// normal. scale is 1/sqrt(shape), which makes the standard deviation 1.
func Gamma(word uint64, halves int, scale int64) int64 {
	sum := int64(0)
	for i := range halves / 2 {
		sum += Exponential(Further(word, i))
	}
	if halves%2 == 1 {
		z := NormalUnits(Further(word, halves/2))
		sum += z * z >> unitBits / 2
	}
	return Product(sum, scale)
}

// Times scales a quantile by a time, rounding towards zero.
func Times(units int64, d time.Duration) time.Duration {
	return time.Duration(Product(units, int64(d)))
}

// Product returns a*b in units of 2^-28, rounding towards zero; b is not negative.
func Product(a, b int64) int64 {
	if a < 0 {
		return -Product(-a, b)
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(hi<<(64-unitBits) | lo>>unitBits)
}

// ExponentialGap turns a uniform word into a time with an exponential distribution,
// alike on every machine: the gap between two packets of Poisson traffic.
func ExponentialGap(word uint64, mean time.Duration) time.Duration {
	return Times(Exponential(word), mean)
}
