package rangecoder

// The stretched domain is the logit ln(p/(1-p)) in steps of 1/2048, in which predictions are added
// (PAQ). A probability of 1/65536 has the value -22713.
const (
	stretchOne = 2048 // one nat
	// MaxStretch is the logit of the largest probability.
	MaxStretch = 22713

	squashStep = 32              // distance between table entries, in steps of 1/2048
	squashSpan = 12 * stretchOne // the table covers -squashSpan..squashSpan
)

// The tables of this package are computed when the program starts, in 0.2 ms, not on first use: the
// vector routines address them directly, and Stretch, Squash and Counter.Update, which a decision
// calls a dozen times, would have to check each time.

// Stretch returns the logit of the probability p/65536, for p from 1 to 65535, in steps of 1/2048.
func Stretch(p uint32) int32 {
	// Without branches, because processors cannot predict where a probability lies.
	upper := uint32(int32(One/2-p) >> 31)  // all ones if p is above one half, else zero
	smaller := (p ^ upper) + upper&(One+1) // the smaller of p and One-p
	// Entries for every coarseStep-th probability follow those for each probability below coarseStart.
	index := smaller/coarseStep + coarseStart - coarseStart/coarseStep
	index ^= (index ^ smaller) & uint32(int32(smaller-coarseStart)>>31) // smaller if below coarseStart
	x := int32(stretchTable[index&(2*coarseStart-1)])                   // the mask changes nothing, and saves the check of bounds
	return x ^ int32(upper) - int32(upper)                              // negated if p is above one half
}

// Below coarseStart, where a step of p matters, every p has an entry of stretchTable; above it every
// coarseStep-th.
const (
	coarseStart = 4096
	coarseStep  = 16
)

// stretchTable holds the logits of probabilities up to one half. Its size allows any index of 13
// bits, so that no bounds check is needed.
var stretchTable = func() (t [2 * coarseStart]int16) {
	for p := 1; p < coarseStart; p++ {
		t[p] = int16(computeStretch(float64(p)))
	}
	for i := coarseStart / coarseStep; i <= One/2/coarseStep; i++ {
		// The logit in the middle of the sixteen probabilities; one half itself is exact.
		t[i+coarseStart-coarseStart/coarseStep] = int16(computeStretch(min(float64(i*coarseStep)+(coarseStep-1)/2.0, One/2)))
	}
	return t
}()

// stretchUpper holds the logits of probabilities of which only the upper 12 of 16 bits are known,
// computed for the middle of the possible values.
var stretchUpper = func() (t [1 << 12]int16) {
	for i := range t {
		t[i] = int16(Stretch(uint32(i)<<4 + 8))
	}
	return t
}()

// computeStretch computes the logit of p/65536, p up to one half, rounded, in steps of 1/2048.
func computeStretch(p float64) int {
	if p <= 0 {
		return -MaxStretch
	}
	return max(int(float64(logarithm(p/(One-p))*stretchOne)-0.5), -MaxStretch) // rounded: the logit is at most 0
}

// Squash returns the probability, in 1..65535 of 65536, whose logit is x. It is the inverse of
// Stretch and accepts any x.
func Squash(x int32) uint32 {
	offset := uint32(min(max(x, squashMin), squashMax) + squashSpan)
	entries := (*[2]uint32)(squashTable[offset/squashStep:])
	// Linear interpolation between two entries; their difference is not negative.
	p := entries[0] + ((entries[1]-entries[0])*(offset%squashStep)+squashStep/2)/squashStep
	return (p + 1<<3) >> 4 // from units of 2^-20 to 2^-16, rounded
}

// The logits at which Squash reaches its bounds 1 and One-1.
const (
	squashMin = -24272
	squashMax = 24015
)

// squashTable holds 1/(1+exp(-x)) in units of 2^-20 for x from -12 to 12 nats, one entry every squashStep.
// Encoder and decoder need equal tables on every machine: exponential replaces math.Exp, and conversions to
// float64 keep products from being fused with additions.
var squashTable = func() (t [2*squashSpan/squashStep + 1]uint32) {
	step := exponential(1.0 / (stretchOne / squashStep))
	e := exponential(-12)
	for i := range t {
		t[i] = uint32(float64(e/(1+e)*(One<<4)) + 0.5)
		e = float64(e * step)
	}
	return t
}()

// exponential and logarithm use only + - * /, which IEEE 754 defines exactly. math.Exp and math.Log
// are assembly on some machines and differ in the last bit. Every product that is added is
// converted to float64, which forbids the compiler to fuse the operations.

// exponential returns e^x for small |x|: it halves x until the Taylor series converges fast, and
// squares the sum as often.
func exponential(x float64) float64 {
	halvings := 0
	for ; x > 0.125 || x < -0.125; halvings++ {
		x /= 2
	}
	sum, term := 1.0, 1.0
	for n := 1; n < 16; n++ {
		term = float64(term * x / float64(n))
		sum += term
	}
	for ; halvings > 0; halvings-- {
		sum = float64(sum * sum)
	}
	return sum
}

// logarithm returns ln(y) of a positive y. It halves or doubles y until it is near 1, where the series
// ln(y) = 2 (z + z^3/3 + z^5/5 + ...) with z = (y-1)/(y+1) converges fast.
func logarithm(y float64) float64 {
	const ln2 = 0.693147180559945309417232121458
	doublings := 0.0
	for ; y < 0.75; doublings-- {
		y *= 2
	}
	for ; y > 1.5; doublings++ {
		y /= 2
	}
	z := (y - 1) / (y + 1)
	square, power, sum := float64(z*z), z, 0.0
	for n := 1; n < 40; n += 2 {
		sum += float64(power / float64(n))
		power = float64(power * square)
	}
	return float64(2*sum) + float64(doublings*ln2)
}
