package rows

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// Arithmetic on values of a field. A residual, which is coded, is the difference of a value
// and its prediction in steps. A shift, of which predictions are made, is the difference of
// two values over time: in steps too, but for a float it is the bits of a float.

// difference returns v less the prediction, modulo 2^32: of angles the shorter way
// round, of floats in the order of floats.
func (c *fieldPlan) difference(v, guess int32) int32 {
	switch c.kind {
	case frame.Float32:
		return ordered(v) - ordered(guess)
	case frame.Angle:
		return c.wrap(int64(v) - int64(guess))
	}
	return v - guess
}

// add is the inverse of difference: it returns the value with that residual. The caller
// checks its range.
func (c *fieldPlan) add(guess, miss int32) int32 {
	switch c.kind {
	case frame.Float32:
		return ordered(ordered(guess) + miss)
	case frame.Angle:
		return c.round(int64(guess) + int64(miss))
	}
	return guess + miss
}

// shift returns the shift from one value to another.
func (c *fieldPlan) shift(from, to int32) int32 {
	if c.kind != frame.Float32 {
		return c.difference(to, from)
	}
	if v := float(to) - float(from); v-v == 0 { // v is finite
		return int32(math.Float32bits(v))
	}
	return 0
}

// apply returns from plus a shift, clamped to the range. The result is valid whatever
// the shift.
func (c *fieldPlan) apply(from, shift int32) int32 {
	switch c.kind {
	case frame.Float32:
		v := float(from) + float(shift)
		if !(v-v == 0) { // not finite
			return from
		}
		return int32(math.Float32bits(v))
	case frame.Angle:
		return c.round(int64(from) + int64(shift))
	}
	return int32(min(max(int64(from)+int64(shift), int64(c.Min)), int64(c.Min)+int64(c.Span)))
}

// half returns half a shift.
func (c *fieldPlan) half(shift int32) int32 {
	if c.kind == frame.Float32 {
		return int32(math.Float32bits(float32(float(shift) * 0.5)))
	}
	return shift / 2
}

// scaled returns a shift over was ticks, scaled to now ticks.
func (c *fieldPlan) scaled(shift, was, now int32) int32 {
	switch {
	case was == now:
		return shift
	case c.kind == frame.Float32:
		return int32(math.Float32bits(float32(float64(float(shift)) * float64(now) / float64(was))))
	}
	return int32(min(max(int64(shift)*int64(now)/int64(was), math.MinInt32), math.MaxInt32))
}

// wrap reduces a difference of angles to the shorter way round. Half a turn of 2^32 is itself, modulo 2^32.
func (c *fieldPlan) wrap(d int64) int32 { return int32(column.Wrap(d, int64(c.Span)+1)) }

// round reduces an angle to its range.
func (c *fieldPlan) round(v int64) int32 {
	turn := int64(c.Span) + 1
	at := (v - int64(c.Min)) % turn
	if at < 0 {
		at += turn
	}
	return int32(at + int64(c.Min))
}

// part returns the sixteenth of the range in which a value lies.
func (c *fieldPlan) part(v int32) uint32 {
	if c.kind != frame.Quantity {
		return 0
	}
	return uint32((uint64(c.Raw(v)) << 4) / (uint64(c.Span) + 1))
}

// room returns the largest residuals up and down from a prediction. Residuals of more than
// 31 bits wrap, so they have no bound.
func (c *fieldPlan) room(v int32) (up, down uint64) {
	if c.kind != frame.Quantity || c.Span > math.MaxInt32 {
		return 1 << 32, 1 << 32
	}
	down = uint64(c.Raw(v))
	return uint64(c.Span) - down, down
}

// ordered maps the bits of a float to an integer in the order of floats. It is its own
// inverse.
func ordered(v int32) int32 {
	if v < 0 {
		return v ^ math.MaxInt32
	}
	return v
}

func float(v int32) float32 { return math.Float32frombits(uint32(v)) }
