package kinetic

import "wirelab/encoders/rangecoder"

// A decision's probability is a logistic regression: its stretch is the sum of
// that of the mixture's probability, if there is one, times a slope, and of one
// weight for each context. The weights are trained. Those of some contexts, few
// and small, are adjusted by every packet: the lessons, carried in the memo.

// Stretches have 2048 steps to a nat, as in package rangecoder.
const (
	nat         = 2048
	slopeUnit   = 4096
	adaptiveMax = 3 * nat
	// Steps that a lesson moves for a complete surprise: the nets' opinions are
	// good everywhere, while the habits of flags differ between recordings.
	valueRate = 8
	flagRate  = 80
)

// contexts of one decision: where its weights and lessons are.
type contexts struct {
	slope    int32 // index of its slope
	weights  [6]int32
	n        int
	adapted  [2]int32
	adaptedN int
	rate     int32 // at which lessons are learnt
}

func (c *contexts) reset(slope int, rate int32) {
	c.slope, c.n, c.adaptedN, c.rate = int32(slope), 0, 0, rate
}

func (c *contexts) use(table contextTable, at int) {
	if uint(at) >= uint(table.size) {
		panic("kinetic: a context outside its table")
	}
	c.weights[c.n] = int32(table.at + at)
	c.n++
}

func (c *contexts) adaptive(table contextTable, at int) {
	if uint(at) >= uint(table.size) {
		panic("kinetic: a lesson outside its table")
	}
	c.adapted[c.adaptedN] = int32(table.at + at)
	c.adaptedN++
}

// choose codes one decision of opinion z, the stretch of a probability from
// elsewhere; 0 if there is none.
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
	bit = e.rc.Bit(bit, p)
	surprise := int32(bit<<16) - int32(p)
	for _, l := range c.adapted[:c.adaptedN] {
		v := &e.memo.adaptive[l]
		*v = int16(min(max(int32(*v)+(surprise*c.rate+1<<15)>>16, -adaptiveMax), adaptiveMax))
	}
	return bit
}

// stretch returns the logit, in steps, of num/(num+rest).
func stretch(num, rest float64) int32 {
	const tiny = 1e-9
	z := ln(max(num, 0)+tiny) - ln(max(rest, 0)+tiny)
	return int32(z * nat)
}

// region is a table of contexts within all weights, or within all lessons.
type contextTable struct{ at, size int }

// layout hands out regions one after the other.
type tableLayout struct{ size int }

func (l *tableLayout) take(n int) contextTable {
	r := contextTable{l.size, n}
	l.size += n
	return r
}
