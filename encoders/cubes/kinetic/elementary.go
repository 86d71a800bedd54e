package kinetic

import (
	"math"
	"sync"
)

// Encoder and decoder must compute the same probabilities on every machine, to the bit. Package
// math does not guarantee that: some of its functions are assembly on some processors. This package
// uses only its square root, floor and float bits, which are exact everywhere. A compiler may fuse
// a product with the sum it belongs to (the Go specification allows it), which rounds differently.
// An explicit conversion float64(x*y) prevents that, so every product that is added is converted,
// and so is every product that a function returns, because the function may be inlined.

const ln2 = 0.6931471805599453

// exp returns e^x with a relative error of at most 1e-11; x is clamped to [-60, 60].
//
// e^x = 2^k e^r, where |r| <= ln(2)/2. The Taylor series of e^r is evaluated by Horner's scheme.
func exp(x float64) float64 {
	x = min(max(x, -60), 60)
	k := math.Floor(float64(x*(1/ln2)) + 0.5)
	r := x - float64(k*ln2)
	sum := 1.0 / 362880 // 1/9!
	for _, c := range inverseFactorials {
		sum = c + float64(sum*r)
	}
	return float64(sum * math.Float64frombits(uint64(1023+int64(k))<<52)) // the bits are those of 2^k
}

// exps replaces each element of x by exp of it.
func exps(x *[4 * components]float64) {
	if hasAVX2 {
		expsAVX2(&x[0], len(x)/4, &expConstants)
		return
	}
	for i := range x {
		x[i] = exp(x[i])
	}
}

// expConstants are the constants of exp in the order that expsAVX2 expects: the bound of x, 1/ln2,
// 1/2, ln2, 1/9! and then inverseFactorials.
var expConstants = [4 + 1 + len(inverseFactorials)]float64{60, 1 / ln2, 0.5, ln2, 1.0 / 362880,
	1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1}

// inverseFactorials are 1/8!, 1/7!, ... 1/0!.
var inverseFactorials = [...]float64{1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1}

// lnSteps is the number of steps of lnTable, which ln finds by the upper 8 bits of the mantissa.
const lnSteps = 256

var (
	lnTable       [lnSteps + 1]float64                       // ln(1 + i/lnSteps)
	logisticTable [2*logisticLimit*logisticSteps + 2]float64 // 1/(1+exp(x)) for x = -24, -24 + 1/32, ... 24
)

// prepareTables computes lnTable and logisticTable. newCoder calls it. The tables are arrays and not
// results of sync.OnceValue because the assembly addresses logisticTable by name.
var prepareTables = sync.OnceFunc(func() {
	for i := range lnTable {
		// ln(y) = 2 atanh(z) = 2 (z + z^3/3 + z^5/5 + ...), z = (y-1)/(y+1), y = 1 + i/lnSteps.
		z := float64(i) / (2*lnSteps + float64(i))
		square, power := float64(z*z), z
		for n := 1.0; n < 30; n += 2 {
			lnTable[i] += float64(2*power) / n
			power *= square
		}
	}
	for i := range logisticTable {
		logisticTable[i] = 1 / (1 + exp(float64(float64(i)/logisticSteps)-logisticLimit))
	}
})

// ln returns the natural logarithm of x, a normal number larger than 0, with an error of at most
// 2e-6: it interpolates lnTable linearly. Codes need no more, because a logit has 2048 steps to 1.
func ln(x float64) float64 {
	b := math.Float64bits(x)
	exponent := float64(int64(b>>52) - 1023)
	i := b >> 44 & (lnSteps - 1)                                    // the upper 8 bits of the mantissa
	fraction := math.Float64frombits(b<<8&(1<<52-1)|1023<<52) - 1.0 // the lower 44, as a number in [0, 1)
	return float64(exponent*ln2) + lnTable[i] + float64(fraction*(lnTable[i+1]-lnTable[i]))
}

const (
	logisticLimit = 24 // beyond it the curve is treated as flat; exp(-24) is 4e-11
	logisticSteps = 32 // table entries for an interval of length 1
)

// logisticTails replaces each element of x by logisticTail of it.
func logisticTails(x *[12]float64) {
	if hasAVX2 {
		tailsAVX2(&x[0], len(x)/4)
		return
	}
	for i := range x {
		x[i] = logisticTail(x[i])
	}
}

// logisticTail returns 1/(1+exp(x)): the probability that a value of the standard logistic
// distribution is larger than x. It interpolates logisticTable, never rises with x, and has a
// relative error of at most 1.3e-4 up to x = 24. NaN counts as infinity.
func logisticTail(x float64) float64 {
	if !(x < logisticLimit) {
		x = logisticLimit
	}
	if x < -logisticLimit {
		x = -logisticLimit
	}
	index := float64((x + logisticLimit) * logisticSteps)
	i := int(index)
	a := logisticTable[i]
	return a - float64((index-float64(i))*(a-logisticTable[i+1]))
}
