package rows

import "wirelab/dataset/frame"

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
	b, v := r.start[f], r.was[f]
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
