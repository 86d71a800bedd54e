package kinetic

import (
	"math"

	"wirelab/encoders/train/mdn"
)

// The output of a net, as package mdn defines it. For each component, in this order: the logarithm
// of its weight, three offsets from its base, and the logarithms of its three scales.
const (
	components   = mdn.Components
	netOutputs   = mdn.Outputs
	perComponent = netOutputs / components
	meanUnit     = mdn.MeanScale // an offset of 1 is that many units
	minLogScale  = mdn.MinLogWidth
	maxLogScale  = mdn.MaxLogWidth
)

// mixture is the predicted distribution of three integers: a mixture of logistic distributions,
// each rounded to whole numbers. A component is a product of three distributions, one for each
// integer, so an integer that is known changes the weights of the components for the next one.
type mixture struct {
	weight   [components]float64    // of each component; the sum is 1
	mean     [3][components]float64 // mean of each integer, by component
	invScale [3][components]float64 // 1/scale of the logistic distribution of each integer, by component
}

// mixtureBases are the predictions that the net's output is relative to.
type mixtureBases struct {
	base        [components]vec // the mean of each component if its offsets are 0
	jacobian    [3]vec          // derivative of each integer by the three offsets
	baselineAge float64         // time since the baseline, in units of six frames; scales offsets and scales
}

// setFromNet computes m from a net's output y, which is fixed point with 12 fractional bits: for each component
// the logarithm of its weight, three offsets and the logarithms of three scales. A mean is
// the base plus the offsets transformed by the jacobian. A scale is the predicted one times the length
// of the jacobian's row, which is how much the integer changes for an offset of 1.
func (m *mixture) setFromNet(y *[netOutputs]int32, g *mixtureBases) {
	const unit = 1.0 / 4096
	maxLogWeight := y[0]
	for k := 1; k < components; k++ {
		maxLogWeight = max(maxLogWeight, y[k*perComponent])
	}
	var scaleUnit vec
	for a := range scaleUnit {
		// For scales a baseline of less than three frames counts as one of three.
		scaleUnit[a] = (g.jacobian[a].length() + mdn.WidthFloor) * max(g.baselineAge, 0.5)
	}
	// The logarithms of the weights, relative to the largest, and then those of 1/scale.
	var exponents [4 * components]float64
	for k := range m.weight {
		out := y[k*perComponent : (k+1)*perComponent]
		exponents[k] = float64(out[0]-maxLogWeight) * unit
		offset := vec{float64(out[1]), float64(out[2]), float64(out[3])}.times(meanUnit * unit * g.baselineAge)
		for a := range scaleUnit {
			row := &g.jacobian[a]
			m.mean[a][k] = g.base[k][a] + float64(row[0]*offset[0]) + float64(row[1]*offset[1]) + float64(row[2]*offset[2])
			scale := min(max(float64(out[4+a])*unit, minLogScale), maxLogScale)
			exponents[(1+a)*components+k] = -scale
		}
	}
	exps(&exponents)
	sum := 0.0
	for k := range m.weight {
		sum += exponents[k]
	}
	for k := range m.weight {
		m.weight[k] = exponents[k] / sum
		for a, n := range scaleUnit {
			m.invScale[a][k] = exponents[(1+a)*components+k] / n
		}
	}
}

// dominantScale returns the geometric mean of the three scales of the component with the largest
// weight, from a net's output y. For each component y has the logarithm of the weight, three offsets and
// the logarithms of three scales, with 12 fractional bits.
func dominantScale(y *[netOutputs]int32) float64 {
	top := 0
	for k := perComponent; k < netOutputs; k += perComponent {
		if y[k] > y[top] {
			top = k
		}
	}
	mean := float64(y[top+4]+y[top+5]+y[top+6]) / (3 * 4096)
	return exp(min(max(mean, minLogScale), maxLogScale))
}

// above returns the probability that integer a (0..2) is larger than x. The logistic distribution
// is rounded to integers, so this is its tail beyond x + 1/2.
func (m *mixture) above(a int, x float64) float64 {
	sum, mean, invScale := 0.0, &m.mean[a], &m.invScale[a]
	for k, w := range &m.weight {
		sum += float64(w * logisticTail(float64((x+0.5-mean[k])*invScale[k])))
	}
	return sum
}

// below returns the probability that integer a (0..2) is smaller than x.
func (m *mixture) below(a int, x float64) float64 {
	sum, mean, invScale := 0.0, &m.mean[a], &m.invScale[a]
	for k, w := range &m.weight {
		sum += float64(w * logisticTail(float64((mean[k]+0.5-x)*invScale[k])))
	}
	return sum
}

// median returns an approximation of the median of integer a (0..2) under the mixture, and the weighted mean of
// the scales of its components. The error of the median is at most 1/4 or a quarter of that scale, whichever is
// larger. The median need not be exact: it only selects where the binary decisions start.
func (m *mixture) median(a int) (middle, scale float64) {
	low, high := m.mean[a][0], m.mean[a][0]
	for k := range m.weight {
		low, high = min(low, m.mean[a][k]), max(high, m.mean[a][k])
		scale += m.weight[k] / m.invScale[a][k]
	}
	tolerance := max(0.5, float64(scale*0.5))
	if hasAVX2 {
		return m.bisectMedianAVX2(a, low, high, tolerance), scale
	}
	return m.bisectMedian(a, low, high, tolerance), scale
}

// bisectMedian narrows low..high, which contains the median of integer a, until it is at most
// tolerance wide, and returns the middle.
func (m *mixture) bisectMedian(a int, low, high, tolerance float64) float64 {
	for n := 0; high-low > tolerance && n < 24; n++ { // at most 24 halvings
		middle := float64((low + high) / 2)
		if m.above(a, middle-0.5) > 0.5 {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// bisectMedianAVX2 is bisectMedian with AVX2. It computes three probabilities (masses) at once: that integer a is
// above the middle of low..high, and above the middles of the lower and the upper half. That is two
// steps of the bisection, with the same results.
func (m *mixture) bisectMedianAVX2(a int, low, high, tolerance float64) float64 {
	for n := 0; high-low > tolerance && n < 24; n += 2 { // at most 24 halvings
		middle := float64((low + high) / 2)
		lower, upper := float64((low+middle)/2), float64((middle+high)/2)
		var masses [4]float64
		x := [4]float64{middle - 0.5, lower - 0.5, upper - 0.5}
		aboveAVX2(&masses, &m.weight, &m.mean[a], &m.invScale[a], &x)
		nextMiddle, nextMass := lower, masses[1]
		if masses[0] > 0.5 {
			low, nextMiddle, nextMass = middle, upper, masses[2]
		} else {
			high = middle
		}
		switch {
		case !(high-low > tolerance): // the first step was enough
		case nextMass > 0.5:
			low = nextMiddle
		default:
			high = nextMiddle
		}
	}
	return (low + high) / 2
}

// updateWeights multiplies the weights by the likelihoods of v as integer a and normalises them
// (Bayes). Components that are implausible after v then count less for the next integers.
func (m *mixture) updateWeights(a int, v float64) {
	// Elements 0 to 4 are the tails of the components beyond v-1/2, elements 6 to 10 those beyond v+1/2; their
	// difference is the likelihood of v. Vectors of six: the last element of each is unused. Both tails are taken
	// on the upper side of the mean, where small tails keep their precision.
	var tails [12]float64
	for k := range m.weight {
		x := math.Abs(v - m.mean[a][k])
		s := m.invScale[a][k]
		tails[k], tails[6+k] = float64((x-0.5)*s), float64((x+0.5)*s)
	}
	logisticTails(&tails)
	sum := 0.0
	for k := range m.weight {
		m.weight[k] = float64(m.weight[k] * (tails[k] - tails[6+k] + 1e-7)) // 1e-7 as in package mdn: no weight becomes 0
		sum += m.weight[k]
	}
	for k := range m.weight {
		m.weight[k] /= sum
	}
}
