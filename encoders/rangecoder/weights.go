package rangecoder

// maxInputs bounds the predictions that Weights mix.
const maxInputs = 8

// Inputs are the predictions of a decision: logits as Stretch returns them, or others below
// 1<<16. Unused inputs are zero and have no effect.
type Inputs [maxInputs]int32

// Weights are the factors of the predictions, in units of 1/65536. A codec has a set for
// each class of decisions.
type Weights [maxInputs]int32

// Unit is a weight of 1.
const Unit = 1 << 16

// p combines several probabilities into one, 1..65535: it adds their logits, weighted,
// and squashes the sum (Mattern, "Mixing strategies in data compression", 2012; the
// logistic mixing of Mahoney's PAQ).
func (w *Weights) p(in *Inputs) uint32 {
	// Unrolled, and in two sums that do not wait for each other.
	a := int64(in[0])*int64(w[0]) + int64(in[1])*int64(w[1])
	b := int64(in[2])*int64(w[2]) + int64(in[3])*int64(w[3])
	a += int64(in[4])*int64(w[4]) + int64(in[5])*int64(w[5])
	b += int64(in[6])*int64(w[6]) + int64(in[7])*int64(w[7])
	return Squash(int32((a + b) >> 16)) // far from overflow: see maxWeight
}

// moved returns a weight moved by its input times the scaled error.
func moved(w, in, errScaled int32) int32 {
	// error in 1/65536, input in 1/2048, rate in 1/65536, weight in 1/65536
	const shift = 16 + 11
	return min(max(w+int32((int64(in)*int64(errScaled)+1<<(shift-1))>>shift), -maxWeight), maxWeight)
}

// maxWeight keeps sums far from overflow: with maxInputs of MaxStretch, they are below
// 1<<41.
const maxWeight = 64 * Unit

// Code codes bit with the mixed probability of the inputs, and moves the weights against its
// error: by rate/65536 times error times input. The rate, the learning rate, is below 1<<15; a
// rate of 0 keeps the weights.
func (w *Weights) Code(c *Coder, in *Inputs, bit int, rate int32) int {
	if !hasVectors || rate == 0 {
		return w.codeScalar(c, in, bit, rate)
	}
	bit = codeAVX2(w, c, in, bit, rate)
	if c.rng < minRange {
		c.widen()
	}
	return bit
}

// codeScalar is Code in plain Go.
func (w *Weights) codeScalar(c *Coder, in *Inputs, bit int, rate int32) int {
	p := w.p(in)
	bit = c.Bit(bit, p)
	if rate != 0 {
		errScaled := (int32(bit)<<16 - int32(p)) * rate
		for i, x := range in {
			w[i] = moved(w[i], x, errScaled)
		}
	}
	return bit
}
