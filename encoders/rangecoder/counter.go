package rangecoder

// Counter is an adaptive probability that counts its updates: the more updates, the smaller the
// steps. The upper 22 bits are the probability of a 1, the lower 10 the number of updates up to a
// limit. Start with NewCounter: the zero Counter is not valid.
type Counter uint32

const (
	countBits = 10
	maxCount  = 1<<countBits - 1
	fineOne   = 1 << 22       // probability 1 at the counter's resolution
	fineScale = fineOne / One // fineOne/One; also the smallest probability of a counter
)

// NewCounter returns a counter that predicts a 1 with probability p/65536, p in 1..65535, as if it
// had been updated n times, 0..1023. Arguments outside of the ranges are limited to them.
func NewCounter(p uint32, n int) Counter {
	return Counter(min(max(p, 1), One-1)*fineScale<<countBits | uint32(min(max(n, 0), maxCount)))
}

// P returns the probability of a 1, in 1..65535 of 65536.
func (m Counter) P() uint32 {
	return uint32(m) >> (countBits + 6) // the upper 16 bits of the probability, which has 22; see fineScale
}

// N returns the number of updates, up to the limit of Update.
func (m Counter) N() int { return int(m & maxCount) }

// adaptationRates holds the adaptation rate after n updates: 65536/(n+1.5). With rates near 1/n a
// counter is the average of all bits so far.
var adaptationRates = func() (t [maxCount + 1]int32) {
	for n := range int32(len(t)) {
		t[n] = 2 * One / (2*n + 3)
	}
	return t
}()

// Update moves the probability towards bit, 0 or 1, and counts the update up to limit, at most
// 1023: the lower the limit, the faster the counter adapts. Steps are rounded away from zero, so
// that no probability gets stuck.
func (m *Counter) Update(bit int, limit int) {
	n, p, allOnes := uint32(*m)&maxCount, uint32(*m)>>countBits, -uint32(bit) // all ones if bit is 1, else zero
	// The distance to 0 or 1 times the rate; One-1 rounds up the steps towards 1, the shift those towards 0.
	step := int64(int32(fineOne&allOnes-p))*int64(adaptationRates[n]) + int64((One-1)&allOnes)
	p += uint32(step >> 16)
	if p-fineScale > fineOne-2*fineScale { // outside of both bounds, in one unsigned comparison
		p = min(max(p, fineScale), fineOne-fineScale)
	}
	n += uint32(int32(n)-int32(limit)) >> 31 // adds 1 if n < limit
	*m = Counter(p<<countBits | n)
}

// Code codes bit with the counter's probability, updates the counter and returns the bit. limit is
// that of Update.
func (m *Counter) Code(c *Coder, bit int, limit int) int {
	bit = c.Bit(bit, m.P())
	m.Update(bit, limit)
	return bit
}

// Fill sets every element of a slice to v.
func Fill[T any](list []T, v T) {
	for i := range list {
		list[i] = v
	}
}

// A StateCounter is an adaptive probability in 16 bits: the upper 12 bits hold P(1), the lower
// 4 the confidence state, an index into stateCounts. Two bytes rather than four, because where
// memory is scarce twice as many counters gain more than a finer probability.
type StateCounter uint16

// NewStateCounter is a StateCounter without updates, of probability 1/2.
const NewStateCounter = StateCounter(1 << 15)

// stateCounts holds the number of updates that a confidence state stands for. Small numbers are
// exact, because the first updates matter most.
var stateCounts = [16]int32{0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 34, 46, 60}

// maxState returns the highest confidence state that stands for at most n updates.
func maxState(n int) (state int32) {
	for state < 15 && int(stateCounts[state+1]) <= n {
		state++
	}
	return state
}

// Tables by confidence state: the adaptation rate 5/(5n+8), rounded to an even number, and the probability
// of a transition to the next state, both in units of 1/65536, and the factor of the logit, n/(n+0.4), in
// units of 1/256.
var stateRates, stateAdvances, confidences = func() (rate, advance, confidence [16]int32) {
	for i, n := range stateCounts {
		rate[i] = 1 << 16 * 5 / (5*n + 8) &^ 1
		if i+1 < len(stateCounts) {
			advance[i] = min(1<<16/(stateCounts[i+1]-n), One-1)
		}
		confidence[i] = n * 2560 / (10*n + 4)
	}
	return rate, advance, confidence
}()

// state returns the confidence state.
func (k StateCounter) state() int32 { return int32(k & 15) }

// logit returns the logit of the probability, scaled down while the counter has seen few updates, because
// such a counter is a weak prediction.
func (k StateCounter) logit() int32 {
	return (int32(stretchUpper[k>>4])*confidences[k.state()] + 128) >> 8
}

// update moves the probability towards bit. rnd is a pseudo-random number in [0, 65536) for
// stochastic rounding, because 12 bits are too coarse for small steps; encoder and decoder
// draw the same. limit is the highest confidence state.
func (k *StateCounter) update(bit int, rnd, limit int32) {
	state, p := int32(*k&15), int32(*k>>4)
	p += ((int32(-bit)&(1<<12-1)-p)*stateRates[state] + rnd) >> 16
	state -= (state - limit) >> 31 & ((rnd - stateAdvances[state]) >> 31) // adds 1 if state < limit and rnd < stateAdvances[state]
	*k = StateCounter(p<<4 | state)
}
