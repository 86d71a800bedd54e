package kinetic

import "math"

// Both ends must compute the same probabilities on every machine. So this
// package uses of package math only the square root and the bits of floats,
// which are the same everywhere; and every product that is added is converted,
// lest a compiler fuse it.

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
	return sum * math.Float64frombits(uint64(1023+int64(k))<<52)
}

// inverseFactorials are 1/8!, 1/7!, ... 1/0!.
var inverseFactorials = [...]float64{1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1}

const lnSteps = 256

// lnTable holds ln(1 + i/lnSteps).
var lnTable = func() (t [lnSteps + 1]float64) {
	for i := range t {
		// ln(y) = 2 atanh((y-1)/(y+1))
		z := float64(i) / (2*lnSteps + float64(i))
		square, power := float64(z*z), z
		for n := 1.0; n < 30; n += 2 {
			t[i] += float64(2*power) / n
			power *= square
		}
	}
	return t
}()

// ln returns the natural logarithm of a normal x > 0, to 2e-6.
func ln(x float64) float64 {
	b := math.Float64bits(x)
	exponent := float64(int64(b>>52) - 1023)
	mantissa := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	at := float64((mantissa - 1) * lnSteps)
	i := int(at)
	part := at - float64(i)
	return float64(exponent*ln2) + lnTable[i] + float64(part*(lnTable[i+1]-lnTable[i]))
}

const (
	logisticReach = 24 // beyond it the curve is taken for flat
	logisticSteps = 64 // table entries to one
)

// logisticTable holds 1/(1+exp(x)) for x = 0, 1/64, ... 24.
var logisticTable = func() (t [logisticReach*logisticSteps + 2]float64) {
	for i := range t {
		t[i] = 1 / (1 + exp(float64(i)/logisticSteps))
	}
	return t
}()

// tail returns 1/(1+exp(x)), what a logistic distribution has beyond x. It never
// rises, is exactly symmetric, and to 4e-5 of itself right up to x = 24.
func tail(x float64) float64 {
	if x < 0 {
		return 1 - tail(-x)
	}
	if x >= logisticReach {
		return logisticTable[logisticReach*logisticSteps]
	}
	at := float64(x * logisticSteps)
	i := int(at)
	a := logisticTable[i]
	return a - float64((at-float64(i))*(a-logisticTable[i+1]))
}

// vec is a position in units of 1/512 m, a motion in the same, or a turn: the
// axis times the angle in units of turnUnit.
type vec [3]float64

func (v vec) plus(w vec) vec  { return vec{v[0] + w[0], v[1] + w[1], v[2] + w[2]} }
func (v vec) minus(w vec) vec { return vec{v[0] - w[0], v[1] - w[1], v[2] - w[2]} }
func (v vec) times(s float64) vec {
	return vec{float64(v[0] * s), float64(v[1] * s), float64(v[2] * s)}
}
func (v vec) square() float64      { return float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2]) }
func (v vec) length() float64      { return math.Sqrt(v.square()) }
func (v vec) sum() float64         { return abs(v[0]) + abs(v[1]) + abs(v[2]) }
func abs(x float64) float64        { return math.Float64frombits(math.Float64bits(x) &^ (1 << 63)) }
func boolean(b bool) (one float64) { return float64(number(b)) }
func number(b bool) (one int) {
	if b {
		one = 1
	}
	return one
}
