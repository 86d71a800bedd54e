package kinetic

import (
	"math"
	"sync"
)

// Both ends must compute the same probabilities on every machine. So this package uses of package
// math only the square root and the bits of floats, which are the same everywhere. Every product
// that is added is converted so that no compiler fuses it, and so is one that a function returns,
// which may be inlined.

const ln2 = 0.6931471805599453

// exp returns e^x, to 1e-11 of itself; x is clamped to [-60, 60].
func exp(x float64) float64 {
	x = min(max(x, -60), 60)
	k := math.Floor(float64(x*(1/ln2)) + 0.5)
	r := x - float64(k*ln2)
	sum := 1.0 / 362880
	for _, c := range inverseFactorials {
		sum = c + float64(sum*r)
	}
	return float64(sum * math.Float64frombits(uint64(1023+int64(k))<<52))
}

// exps replaces each of x by its exp.
func exps(x *[4 * components]float64) {
	if hasVectors {
		expsAVX2(&x[0], len(x)/4, &expConstants)
		return
	}
	for i := range x {
		x[i] = exp(x[i])
	}
}

// expConstants are the constants of exp for vector instructions; the last are inverseFactorials.
var expConstants = [4 + 1 + len(inverseFactorials)]float64{60, 1 / ln2, 0.5, ln2, 1.0 / 362880,
	1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1}

// inverseFactorials are 1/8!, 1/7!, ... 1/0!.
var inverseFactorials = [...]float64{1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1}

const lnSteps = 256

var (
	lnTable       [lnSteps + 1]float64                       // ln(1 + i/lnSteps)
	logisticTable [2*logisticReach*logisticSteps + 2]float64 // 1/(1+exp(x)) for x = -24, -24 + 1/32, ... 24
)

// prepareTables computes the tables. Every coder calls it before it begins; the vector routines
// address them.
var prepareTables = sync.OnceFunc(func() {
	for i := range lnTable {
		// ln(y) = 2 atanh((y-1)/(y+1))
		z := float64(i) / (2*lnSteps + float64(i))
		square, power := float64(z*z), z
		for n := 1.0; n < 30; n += 2 {
			lnTable[i] += float64(2*power) / n
			power *= square
		}
	}
	for i := range logisticTable {
		logisticTable[i] = 1 / (1 + exp(float64(float64(i)/logisticSteps)-logisticReach))
	}
})

// ln returns the natural logarithm of a normal x > 0, to 2e-6.
func ln(x float64) float64 {
	b := math.Float64bits(x)
	exponent := float64(int64(b>>52) - 1023)
	i := b >> 44 & (lnSteps - 1)                                // the mantissa's highest bits
	part := math.Float64frombits(b<<8&(1<<52-1)|1023<<52) - 1.0 // and the others
	return float64(exponent*ln2) + lnTable[i] + float64(part*(lnTable[i+1]-lnTable[i]))
}

const (
	logisticReach = 24 // beyond it the curve is taken for flat
	logisticSteps = 32 // table entries to one
)

// logisticTails replaces each of x by its logisticTail.
func logisticTails(x *[12]float64) {
	if hasVectors {
		tailsAVX2(&x[0], len(x)/4)
		return
	}
	for i := range x {
		x[i] = logisticTail(x[i])
	}
}

// logisticTail returns 1/(1+exp(x)), what a logistic distribution has beyond x. It never
// rises, and is right to 1.3e-4 of itself up to x = 24.
func logisticTail(x float64) float64 {
	if !(x < logisticReach) {
		x = logisticReach
	}
	if x < -logisticReach {
		x = -logisticReach
	}
	at := float64((x + logisticReach) * logisticSteps)
	i := int(at)
	a := logisticTable[i]
	return a - float64((at-float64(i))*(a-logisticTable[i+1]))
}
