package kinetic

import "wirelab/encoders/rangecoder"

// A decision's probability is a logistic regression. Its logit is the sum of the logit of the
// mixture's probability times a slope, of one trained weight for each context, and of a few
// adaptive weights, which the memo carries. Decisions about flags have no mixture.

// Logits have 2048 steps to a nat, as in package rangecoder.
const (
	nat         = 2048
	slopeUnit   = 4096
	adaptiveMax = 3 * nat
	// Learning rates of the adaptive weights. The nets predict values well on all
	// recordings; the statistics of flags differ between them.
	valueRate = 8
	flagRate  = 80
)

// contexts lists the weights of one decision: trained ones and adaptive ones.
type contexts struct {
	slope    int32 // index of its slope
	weights  [6]int32
	n        int
	adapted  [2]int32
	adaptedN int
	rate     int32 // learning rate of the adaptive ones
}

// reset begins a decision.
func (c *contexts) reset(slope int, rate int32) {
	c.slope, c.n, c.adaptedN, c.rate = int32(slope), 0, 0, rate
}

// use adds a trained weight.
func (c *contexts) use(table contextTable, at int) {
	c.weights[c.n] = table.index(at)
	c.n++
}

// adaptive adds an adaptive weight.
func (c *contexts) adaptive(table contextTable, at int) {
	c.adapted[c.adaptedN] = table.index(at)
	c.adaptedN++
}

// decide codes one decision. z is the logit of its probability by the mixture, 0 without one.
func (e *coder) decide(bit int, z int32, c *contexts) int {
	if e.learner != nil {
		return e.learner.decide(bit, z, c)
	}
	sum := z * int32(e.model.slopes[c.slope]) / slopeUnit
	for _, w := range c.weights[:c.n] {
		sum += int32(e.model.weights[w])
	}
	for _, l := range c.adapted[:c.adaptedN] {
		sum += int32(e.memo.adaptive[l])
	}
	p := rangecoder.Squash(sum)
	bit = e.Bit(bit, p)
	for _, l := range c.adapted[:c.adaptedN] {
		adapt(&e.memo.adaptive[l], adaptation(bit, p, c.rate))
	}
	return bit
}

// adaptation returns the change of adaptive weights after a bit of probability p.
func adaptation(bit int, p uint32, rate int32) int32 {
	return ((int32(bit<<16)-int32(p))*rate + 1<<15) >> 16
}

// adapt changes an adaptive weight.
func adapt(v *int16, by int32) { *v = int16(min(max(int32(*v)+by, -adaptiveMax), adaptiveMax)) }

// stretch returns the logit, in steps, of num/(num+rest).
func stretch(num, rest float64) int32 {
	const tiny = 1e-9
	z := ln(max(num, 0)+tiny) - ln(max(rest, 0)+tiny)
	return int32(z * nat)
}

// contextTable is a range of contexts within all trained, or all adaptive, weights.
type contextTable struct{ at, size int }

// index returns the index, among all weights, of a context of the table.
func (t contextTable) index(at int) int32 {
	if uint(at) >= uint(t.size) {
		panic("kinetic: a context outside its table")
	}
	return int32(t.at + at)
}

// tableLayout allocates context tables one after the other.
type tableLayout struct{ size int }

func (l *tableLayout) take(n int) contextTable {
	r := contextTable{l.size, n}
	l.size += n
	return r
}
