package rangecoder

// Counter is a probability that knows on how many bits it rests: a new one moves
// far, a settled one little. The upper 22 bits are the probability of a 1, the
// lower 10 the count. The zero Counter is none; start with NewCounter.
type Counter uint32

const (
	countBits = 10
	maxCount  = 1<<countBits - 1
	fineOne   = 1 << 22 // probability 1 at the counter's resolution
	fine      = fineOne / One
)

// NewCounter returns a counter that expects a 1 with probability p/65536,
// 1..65535, as if it had seen n bits, 0..1023.
func NewCounter(p uint32, n int) Counter {
	return Counter(min(max(p, 1), One-1)*fine<<countBits | uint32(min(max(n, 0), maxCount)))
}

// P returns the probability of a 1, 1..65535.
func (m Counter) P() uint32 { return uint32(m) >> (countBits + 6) }

// N returns on how many bits the probability rests.
func (m Counter) N() int { return int(m & maxCount) }

// steps holds 65536/(n+1.5): how far a counter moves that has seen n bits.
var steps = func() (t [maxCount + 1]int32) {
	for n := range int32(len(t)) {
		t[n] = 2 * One / (2*n + 3)
	}
	return t
}()

// Update moves m towards bit, 0 or 1, and counts it up to limit, at most 1023. Steps are
// rounded away from zero, so that no probability gets stuck.
func (m *Counter) Update(bit int, limit int) {
	n, p, one := uint32(*m)&maxCount, uint32(*m)>>countBits, -uint32(bit) // all ones or zero
	by := int64(int32(fineOne&one-p))*int64(steps[n]) + int64((One-1)&one)
	if p += uint32(by >> 16); p-fine > fineOne-2*fine {
		p = min(max(p, fine), fineOne-fine)
	}
	n += uint32(int32(n)-int32(limit)) >> 31 // one more below limit
	*m = Counter(p<<countBits | n)
}

// Code codes bit and learns from it.
func (m *Counter) Code(c *Coder, bit int, limit int) int {
	bit = c.Bit(bit, m.P())
	m.Update(bit, limit)
	return bit
}

// Fill makes every counter of a slice the one given.
func Fill(list []Counter, m Counter) {
	for i := range list {
		list[i] = m
	}
}
