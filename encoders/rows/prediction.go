package rows

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// The predictors of a field.
const (
	constantVelocity = iota // the last shift again
	damped                  // three quarters of the last shift
	unchanged               // no shift
	accelerated             // the last shift and half of its change
	neighbourMotion         // the neighbour's shift
	weightedSum             // a sum of these with adaptive weights
	predictors
)

const (
	features  = 5
	weightOne = 1 << 16
)

// blend holds the weights of weightedSum.
type blend [features]int32

// prediction is the prediction of a field, with the inputs of learning.
type prediction struct {
	value       int32
	byPredictor [predictors]int32
	error       *[predictors]int32 // mean length of each predictor's error, in 1/256
	blend       *blend
	inputs      [features]int64
	norm        int64 // sum of the squares of inputs
}

// predict predicts a field by the predictor with the least recent error for shifts of
// this length.
func (r *rowState) predict(f int, col *fieldPlan) *prediction {
	m, g := r.e.next, &r.prediction
	b, v := r.start[f], r.lastShift[f]
	g.error = &m.error[f][min(r.ahead, paces-1)]
	g.byPredictor = [predictors]int32{constantVelocity: col.apply(b, v), unchanged: b}
	if col.kind == frame.Float32 {
		g.byPredictor[damped], g.byPredictor[accelerated], g.byPredictor[neighbourMotion],
			g.byPredictor[weightedSum] = col.apply(b, col.half(v)), b, b, b
	} else {
		acceleration, near := r.lastAcceleration[f], r.neighbour.shift[f]
		g.byPredictor[damped] = col.apply(b, v-v/4)
		g.byPredictor[accelerated] = col.apply(b, v+acceleration/2)
		g.byPredictor[neighbourMotion] = col.apply(b, near)
		g.blend = &m.blends[f][flag(v == 0)]
		g.byPredictor[weightedSum] = col.apply(b, g.weigh(v, acceleration, near, r.neighbour.acceleration[f]))
	}
	best := 0
	for w, off := range g.error {
		if off < g.error[best] {
			best = w
		}
	}
	g.value = g.byPredictor[best]
	return g
}

// weigh returns the weighted sum of the inputs.
func (g *prediction) weigh(v, acceleration, near, nearAcceleration int32) int32 {
	const most = 1 << 20
	g.inputs = [features]int64{int64(v), int64(acceleration), int64(near), int64(nearAcceleration), 8}
	g.norm = 256
	sum := int64(weightOne / 2)
	for i, x := range g.inputs {
		x = min(max(x, -most), most)
		g.inputs[i] = x
		sum += x * int64(g.blend[i])
		g.norm += x * x
	}
	return int32(min(max(sum>>16, -1<<31), 1<<31-1))
}

// learn updates the error of each predictor and the weights by normalised least mean
// squares. The error is clipped to its usual size, so that collisions, which cannot be
// predicted, do not spoil the weights.
func (g *prediction) learn(v int32, col *fieldPlan) {
	if col.kind != frame.Float32 {
		most := int64(4) << min(max(g.error[weightedSum]>>8, 2), 16)
		wrong := min(max(int64(col.difference(v, g.byPredictor[weightedSum])), -most), most)
		for i, x := range g.inputs {
			w := int64(g.blend[i]) + wrong*x*(weightOne/16)/g.norm
			g.blend[i] = int32(min(max(w, -4*weightOne), 4*weightOne))
		}
	}
	for w, each := range g.byPredictor {
		off := int32(length(col.difference(v, each))) << 8
		g.error[w] += (off - g.error[w]) >> 6
	}
}

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
