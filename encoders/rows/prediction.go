package rows

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// The predictors of the delta of a field. Two of them differ for a position whose velocity is known, because a
// velocity is a better guide than damping and neighbours.
const (
	constantVelocity = iota // the last delta again
	damped                  // three quarters of the last delta; half of it for floats; by the mean of two velocities
	unchanged               // no delta
	accelerated             // the last delta plus half the last acceleration
	neighbourMotion         // the delta of the nearest changed row; by the new velocity
	weightedSum             // a sum of the row's and its neighbour's deltas and accelerations with adaptive weights
	predictors
)

const (
	features  = 5
	weightOne = 1 << 16
)

// blendWeights are the weights of the predictor weightedSum, of weightOne.
type blendWeights [features]int32

// A prediction is the predicted value of a field, with what learn needs.
type prediction struct {
	value       int32 // the value that the best predictor expects
	byPredictor [predictors]int32
	errors      *[predictors]int32 // mean length of each predictor's residual, in units of 1/256 bit; part of the memo
	weights     *blendWeights      // weights of the predictor weightedSum; part of the memo; nil for floats
	inputs      [features]int64    // inputs of weightedSum: deltas and accelerations of the row and its neighbour, and a constant
	norm        int64              // sum of the squares of inputs
}

// predict returns the prediction of field f: that of the predictor with the least recent error for
// deltas of the expected length.
func (r *rowState) predict(f int, col *fieldPlan) *prediction {
	m, p := r.coder.next, &r.prediction
	origin, lastDelta := r.origin[f], r.lastDelta[f]
	p.errors = &m.predictorErrors[f][min(r.expectedLength, deltaLengths-1)]
	p.byPredictor = [predictors]int32{constantVelocity: col.apply(origin, lastDelta), unchanged: origin}
	if col.kind == frame.Float32 {
		// Deltas of floats are bits of floats, for which the other predictors would need float arithmetic.
		p.byPredictor[damped], p.byPredictor[accelerated], p.byPredictor[neighbourMotion],
			p.byPredictor[weightedSum] = col.apply(origin, col.halveDelta(lastDelta)), origin, origin, origin
	} else {
		acceleration, neighbourDelta, neighbourAcceleration := r.lastAcceleration[f], r.neighbour.delta[f], r.neighbour.acceleration[f]
		dampedDelta := lastDelta - lastDelta/4
		if col.velocity >= 0 {
			dampedDelta, neighbourDelta, neighbourAcceleration = r.moved-r.pushed/2, r.moved, r.pushed
		}
		p.byPredictor[damped] = col.apply(origin, dampedDelta)
		p.byPredictor[accelerated] = col.apply(origin, lastDelta+acceleration/2)
		p.byPredictor[neighbourMotion] = col.apply(origin, neighbourDelta)
		p.weights = &m.blends[f][flag(lastDelta == 0)]
		p.byPredictor[weightedSum] = col.apply(origin, p.computeWeightedSum(lastDelta, acceleration, neighbourDelta, neighbourAcceleration))
	}
	best := 0
	for candidate, meanError := range p.errors {
		if meanError < p.errors[best] {
			best = candidate
		}
	}
	p.value = p.byPredictor[best]
	return p
}

// moveByVelocity sets moved, pushed and phase (see rowState) for the position of plan c, whose velocity is coded already.
func (r *rowState) moveByVelocity(c *fieldPlan) {
	perUnit := float64(c.rate * float64(r.coder.next.ticks))
	now, before := float64(perUnit*float64(r.cur[c.velocity])), float64(perUnit*float64(r.base[c.velocity]))
	whole := math.Floor(now + 0.5)
	r.phase = uint32(int((now-whole+0.5)*8)) & 7
	r.moved = int32(min(max(whole, math.MinInt32), math.MaxInt32))
	r.pushed = int32(min(max(math.Floor(now-before+0.5), math.MinInt32), math.MaxInt32))
}

// computeWeightedSum sets the inputs and returns their weighted sum: the predicted delta.
func (g *prediction) computeWeightedSum(lastDelta, acceleration, neighbourDelta, neighbourAcceleration int32) int32 {
	const limit = 1 << 20 // bound of inputs, so that the sum cannot overflow
	const constant = 8    // the last input, whose weight learns a constant delta
	g.inputs = [features]int64{int64(lastDelta), int64(acceleration), int64(neighbourDelta), int64(neighbourAcceleration), constant}
	g.norm = 256                // bounds the step of learn if all inputs are small
	sum := int64(weightOne / 2) // rounds
	for i, x := range g.inputs {
		x = min(max(x, -limit), limit)
		g.inputs[i] = x
		sum += x * int64(g.weights[i])
		g.norm += x * x
	}
	return int32(min(max(sum>>16, -1<<31), 1<<31-1))
}

// learn updates the weights of the predictor weightedSum, by normalised least mean squares, and the mean error
// of each predictor with v, the actual value of the field. The residual is clipped to a few times its usual
// size, so that collisions, which cannot be predicted, do not spoil the weights.
func (g *prediction) learn(v int32, col *fieldPlan) {
	if col.kind != frame.Float32 {
		limit := int64(4) << min(max(g.errors[weightedSum]>>8, 2), 16)
		residual := min(max(int64(col.difference(v, g.byPredictor[weightedSum])), -limit), limit)
		for i, x := range g.inputs {
			weight := int64(g.weights[i]) + residual*x*(weightOne/16)/g.norm // learning rate 1/16, weights in units of 1/weightOne
			g.weights[i] = int32(min(max(weight, -4*weightOne), 4*weightOne))
		}
	}
	for i, predicted := range g.byPredictor {
		errorLength := int32(bitLength(col.difference(v, predicted))) << 8
		g.errors[i] += (errorLength - g.errors[i]) >> 6 // a mean over about 64 values
	}
}

// Arithmetic on values of a field. A residual, which is transmitted, is the difference between a
// value and its prediction, an integer. A delta, which predictors use, is the difference between the
// values of a field at two times; for a float it is the bits of a float.

// difference returns v minus guess, modulo 2^32: the shorter way round for angles; for floats, the
// number of floats between them.
func (c *fieldPlan) difference(v, guess int32) int32 {
	switch c.kind {
	case frame.Float32:
		return orderedFloat(v) - orderedFloat(guess)
	case frame.Angle:
		return c.wrapAngle(int64(v) - int64(guess))
	}
	return v - guess
}

// addResidual is the inverse of difference: it returns the value with that residual. The caller
// checks its range.
func (c *fieldPlan) addResidual(guess, residual int32) int32 {
	switch c.kind {
	case frame.Float32:
		return orderedFloat(orderedFloat(guess) + residual)
	case frame.Angle:
		return c.normaliseAngle(int64(guess) + int64(residual))
	}
	return guess + residual
}

// delta returns the delta from one value to another; 0 if it is not finite.
func (c *fieldPlan) delta(from, to int32) int32 {
	if c.kind != frame.Float32 {
		return c.difference(to, from)
	}
	if v := float(to) - float(from); v-v == 0 { // v is finite; for an infinity or a NaN, v-v is a NaN
		return int32(math.Float32bits(v))
	}
	return 0
}

// apply returns from plus a delta, limited to the range; for floats, from itself if the sum is not
// finite. The result is valid for any delta.
func (c *fieldPlan) apply(from, delta int32) int32 {
	switch c.kind {
	case frame.Float32:
		v := float(from) + float(delta)
		if !(v-v == 0) { // not finite
			return from
		}
		return int32(math.Float32bits(v))
	case frame.Angle:
		return c.normaliseAngle(int64(from) + int64(delta))
	}
	return int32(min(max(int64(from)+int64(delta), int64(c.Min)), int64(c.Min)+int64(c.Span)))
}

// halveDelta returns half of a delta, rounded towards zero.
func (c *fieldPlan) halveDelta(delta int32) int32 {
	if c.kind == frame.Float32 {
		return int32(math.Float32bits(float32(float(delta) * 0.5)))
	}
	return delta / 2
}

// scaleDelta scales a delta over fromTicks to toTicks.
func (c *fieldPlan) scaleDelta(delta, fromTicks, toTicks int32) int32 {
	switch {
	case fromTicks == toTicks:
		return delta
	case c.kind == frame.Float32:
		return int32(math.Float32bits(float32(float64(float(delta)) * float64(toTicks) / float64(fromTicks))))
	}
	return int32(min(max(int64(delta)*int64(toTicks)/int64(fromTicks), math.MinInt32), math.MaxInt32))
}

// wrapAngle reduces a difference of angles to the shorter way round. Half a turn of 2^32 is itself,
// modulo 2^32.
func (c *fieldPlan) wrapAngle(d int64) int32 { return int32(column.Wrap(d, int64(c.Span)+1)) }

// normaliseAngle reduces an angle to the field's range.
func (c *fieldPlan) normaliseAngle(v int64) int32 {
	turn := int64(c.Span) + 1
	offset := (v - int64(c.Min)) % turn
	if offset < 0 {
		offset += turn
	}
	return int32(offset + int64(c.Min))
}

// rangePart returns in which sixteenth of the range a quantity lies, 0 to 15; 0 for other kinds.
func (c *fieldPlan) rangePart(v int32) uint32 {
	if c.kind != frame.Quantity {
		return 0
	}
	return uint32((uint64(c.Raw(v)) << 4) / (uint64(c.Span) + 1))
}

// residualBounds returns the largest possible residuals in both directions from a predicted value.
// Residuals of more than 31 bits wrap, so they have no bound: 1<<32.
func (c *fieldPlan) residualBounds(v int32) (up, down uint64) {
	if c.kind != frame.Quantity || c.Span > math.MaxInt32 {
		return 1 << 32, 1 << 32
	}
	down = uint64(c.Raw(v))
	return uint64(c.Span) - down, down
}

// orderedFloat maps the bits of a float to an integer such that larger floats have larger integers.
// It is its own inverse.
func orderedFloat(v int32) int32 {
	if v < 0 {
		return v ^ math.MaxInt32
	}
	return v
}

// float returns the float with bits v.
func float(v int32) float32 { return math.Float32frombits(uint32(v)) }
