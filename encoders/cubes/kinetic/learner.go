package kinetic

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
)

// learner observes an encoder in training. It gathers samples for the nets or fits the
// weights of decisions.
type learner struct {
	sample  func(coordinate int, x []int32, g *mixtureBases, y [3]float64) // nil: fit weights
	slopes  [slopes]float64
	weights []float64
	slopeG  [slopes]float64 // sums of squared gradients
	weightG []float64
	rate    float64
	bits    float64 // cost so far
	moved   int     // cubes that moved
}

func newLearner(weights int) *learner {
	p := &learner{weights: make([]float64, weights), weightG: make([]float64, weights)}
	for i := range p.slopes {
		p.slopes[i] = 1
	}
	return p
}

// observe gathers a sample: the features of a cube and what was coded.
func (p *learner) observe(e *coder, q, base *cube.Row, coordinate int) {
	if p.sample == nil {
		p.moved += btoi(coordinate == 0)
		return
	}
	var y [3]float64
	for a := range y {
		if coordinate == 0 {
			y[a] = float64(q[frame.CubeX+a] - base[frame.CubeX+a])
		} else {
			y[a] = float64(q[frame.CubeA+a])
		}
	}
	p.sample(coordinate, e.features.v[:e.features.n], &e.bases, y)
}

// slopeRate is the learning rate of slopes relative to weights.
const slopeRate = 0.02

// decide replaces coder.decide in training: it adds up the cost and takes a gradient
// step.
func (p *learner) decide(bit int, z int32, c *contexts) int {
	if p.sample != nil {
		return bit
	}
	logit := float64(z) / nat
	sum := float64(logit * p.slopes[c.slope])
	for _, w := range c.weights[:c.n] {
		sum += p.weights[w]
	}
	q := 1 / (1 + exp(-min(max(sum, -11), 11)))
	if bit == 1 {
		p.bits -= math.Log2(q)
	} else {
		p.bits -= math.Log2(1 - q)
	}
	if p.rate == 0 {
		return bit
	}
	slip := float64(bit) - q
	g := float64(slip * logit)
	p.slopeG[c.slope] += float64(g * g)
	p.slopes[c.slope] += float64(slopeRate*p.rate*g) / math.Sqrt(p.slopeG[c.slope]+100)
	for _, w := range c.weights[:c.n] {
		p.weightG[w] += float64(slip * slip)
		p.weights[w] += float64(p.rate*slip) / math.Sqrt(p.weightG[w]+1)
	}
	return bit
}

// export quantises the weights into m.
func (p *learner) export(m *model) {
	for i, s := range p.slopes {
		m.slopes[i] = int16(math.Round(min(max(s*slopeUnit, 0), math.MaxInt16)))
	}
	for i, w := range p.weights {
		m.weights[i] = int16(math.Round(min(max(w*nat, -math.MaxInt16), math.MaxInt16)))
	}
}
