package rangecoder

// MaxInputs bounds the predictions that a Mixer takes.
const MaxInputs = 16

// Weights are the factors of the predictions, in units of 1/65536. A codec has a set for
// each class of decisions.
type Weights []int32

// Unit is a weight of 1.
const Unit = 1 << 16

// Mixer combines several probabilities: it adds their logits, weighted, and squashes the
// sum (Mattern, "Mixing strategies in data compression", 2012; the logistic mixing of
// Mahoney's PAQ). It holds only the inputs of the present decision; the weights are the
// caller's.
type Mixer struct {
	inputs [MaxInputs]int32
	n      int
	p      uint32
}

// Reset removes all inputs.
func (m *Mixer) Reset() { m.n = 0 }

// Add adds an input: the logit of a probability, by Stretch.
func (m *Mixer) Add(stretch int32) {
	m.inputs[m.n] = stretch
	m.n++
}

// P returns the mixed probability, 1..65535. There must be as many weights as inputs.
func (m *Mixer) P(w Weights) uint32 {
	w = w[:m.n]
	var sum int64
	for i, x := range m.inputs[:m.n] {
		sum += int64(x) * int64(w[i])
	}
	sum >>= 16
	m.p = Squash(int32(min(max(sum, -squashReach), squashReach)))
	return m.p
}

// Update moves the weights against the error of the last P: by rate/65536 times error
// times input. A rate of 0 leaves them alone.
func (m *Mixer) Update(w Weights, bit int, rate int32) {
	if rate == 0 {
		return
	}
	w = w[:m.n]
	// error in 1/65536, input in 1/2048, rate in 1/65536, weight in 1/65536
	const shift = 16 + 11
	wrong := (int64(bit)<<16 - int64(m.p)) * int64(rate)
	for i, x := range m.inputs[:m.n] {
		moved := int64(w[i]) + (int64(x)*wrong+1<<(shift-1))>>shift
		w[i] = int32(min(max(moved, -maxWeight), maxWeight))
	}
}

// maxWeight keeps sums far from overflow.
const maxWeight = 64 * Unit

// Code codes bit with the inputs added since Reset and updates the weights.
func (m *Mixer) Code(c *Coder, w Weights, bit int, rate int32) int {
	bit = c.Bit(bit, m.P(w))
	m.Update(w, bit, rate)
	return bit
}
