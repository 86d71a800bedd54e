package rangecoder

// MaxInputs is the most opinions a Mixer hears.
const MaxInputs = 16

// Weights say how much each opinion counts, in units of 1/65536. There is a set
// of them for each situation that a codec tells apart.
type Weights []int32

// Unit is a weight of 1.
const Unit = 1 << 16

// Mixer makes one probability of several: it adds up their stretches, weighted,
// and squashes the sum (Mattern, "Mixing strategies in data compression", 2012;
// the logistic mixing of Mahoney's PAQ). It holds nothing but the opinions on the
// decision at hand; what is learnt is in the weights, which are the caller's.
type Mixer struct {
	inputs [MaxInputs]int32
	n      int
	p      uint32
}

// Reset forgets all opinions.
func (m *Mixer) Reset() { m.n = 0 }

// Add hears an opinion, as the stretch of a probability.
func (m *Mixer) Add(stretch int32) {
	m.inputs[m.n] = stretch
	m.n++
}

// P returns what the opinions make of it, 1..65535. There must be as many weights
// as opinions.
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

// Update moves the weights against the error of the last P: by rate/65536 times
// error times opinion. A rate of 0 leaves them alone.
func (m *Mixer) Update(w Weights, bit int, rate int32) {
	if rate == 0 {
		return
	}
	w = w[:m.n]
	// error in 1/65536, opinion in 1/2048, rate in 1/65536, weight in 1/65536
	const shift = 16 + 11
	wrong := (int64(bit)<<16 - int64(m.p)) * int64(rate)
	for i, x := range m.inputs[:m.n] {
		moved := int64(w[i]) + (int64(x)*wrong+1<<(shift-1))>>shift
		w[i] = int32(min(max(moved, -maxWeight), maxWeight))
	}
}

// maxWeight keeps sums far from overflow.
const maxWeight = 64 * Unit

// Code codes bit by the opinions added since Reset and moves the weights.
func (m *Mixer) Code(c *Coder, w Weights, bit int, rate int32) int {
	bit = c.Bit(bit, m.P(w))
	m.Update(w, bit, rate)
	return bit
}
