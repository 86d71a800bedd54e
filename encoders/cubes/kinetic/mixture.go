package kinetic

import (
	"math"

	"wirelab/encoders/train/mdn"
)

// The parameters of the mixture are those of package mdn. For each component a net
// outputs the logarithm of its weight, its offset from its base, and the logarithms
// of its scales.
const (
	components   = mdn.Components
	netOutputs   = mdn.Outputs
	perComponent = netOutputs / components
	meanUnit     = mdn.MeanScale // of the offsets from the bases
	minLogScale  = mdn.MinLogWidth
	maxLogScale  = mdn.MaxLogWidth
)

// mixture is the predicted distribution of three integers: a mixture of logistic
// distributions, each rounded to whole numbers. A component is joint over the three, so
// the weights are updated after each integer that is coded.
type mixture struct {
	weight   [components]float64    // add up to 1
	mean     [3][components]float64 // of each integer
	invScale [3][components]float64 // 1 over the scale
}

// mixtureBases holds the means that components start from, and the linear map from
// offsets to the three integers.
type mixtureBases struct {
	base  [components]vec
	rows  [3]vec  // derivative of each integer by the offsets
	reach float64 // time since the baseline, in units of six frames
}

// set computes m from a net's output, which is fixed point with 12 fractional bits.
func (m *mixture) set(y *[netOutputs]int32, g *mixtureBases) {
	const unit = 1.0 / 4096
	top := y[0]
	for k := 1; k < components; k++ {
		top = max(top, y[k*perComponent])
	}
	var norm vec
	for a := range norm {
		norm[a] = (g.rows[a].length() + mdn.WidthFloor) * max(g.reach, 0.5)
	}
	var e [4 * components]float64 // exponents: of the weights, and of one over the scales
	for k := range m.weight {
		o := y[k*perComponent : (k+1)*perComponent]
		e[k] = float64(o[0]-top) * unit
		off := vec{float64(o[1]), float64(o[2]), float64(o[3])}.times(meanUnit * unit * g.reach)
		for a := range norm {
			m.mean[a][k] = g.base[k][a] + float64(g.rows[a][0]*off[0]) + float64(g.rows[a][1]*off[1]) + float64(g.rows[a][2]*off[2])
			scale := min(max(float64(o[4+a])*unit, minLogScale), maxLogScale)
			e[(1+a)*components+k] = -scale
		}
	}
	exps(&e)
	sum := 0.0
	for k := range m.weight {
		sum += e[k]
	}
	for k := range m.weight {
		m.weight[k] = e[k] / sum
		for a, n := range norm {
			m.invScale[a][k] = e[(1+a)*components+k] / n
		}
	}
}

// spread returns the mean scale of the component with the largest weight.
func spread(y *[netOutputs]int32) float64 {
	top := 0
	for k := perComponent; k < netOutputs; k += perComponent {
		if y[k] > y[top] {
			top = k
		}
	}
	mean := float64(y[top+4]+y[top+5]+y[top+6]) / (3 * 4096)
	return exp(min(max(mean, minLogScale), maxLogScale))
}

// above returns the probability that integer a is larger than x.
func (m *mixture) above(a int, x float64) float64 {
	sum, mean, sharp := 0.0, &m.mean[a], &m.invScale[a]
	for k, w := range &m.weight {
		sum += float64(w * logisticTail(float64((x+0.5-mean[k])*sharp[k])))
	}
	return sum
}

// below returns the probability that integer a is smaller than x.
func (m *mixture) below(a int, x float64) float64 {
	sum, mean, sharp := 0.0, &m.mean[a], &m.invScale[a]
	for k, w := range &m.weight {
		sum += float64(w * logisticTail(float64((mean[k]+0.5-x)*sharp[k])))
	}
	return sum
}

// median approximates the median of integer a to a quarter of the mean scale, and
// returns it with that scale. It need not be exact: it only chooses where the binary
// decisions start.
func (m *mixture) median(a int) (middle, scale float64) {
	low, high := m.mean[a][0], m.mean[a][0]
	for k := range m.weight {
		low, high = min(low, m.mean[a][k]), max(high, m.mean[a][k])
		scale += m.weight[k] / m.invScale[a][k]
	}
	near := max(0.5, float64(scale*0.5))
	if hasVectors {
		return m.bisectVectors(a, low, high, near), scale
	}
	return m.bisect(a, low, high, near), scale
}

// bisect narrows low..high, where the median of integer a is, down to near, and returns the
// middle.
func (m *mixture) bisect(a int, low, high, near float64) float64 {
	for n := 0; high-low > near && n < 24; n++ {
		middle := float64((low + high) / 2)
		if m.above(a, middle-0.5) > 0.5 {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// bisectVectors is bisect with vector instructions: it asks at the middle and at both quarters
// at once.
func (m *mixture) bisectVectors(a int, low, high, near float64) float64 {
	for n := 0; high-low > near && n < 24; n += 2 {
		middle := float64((low + high) / 2)
		lower, upper := float64((low+middle)/2), float64((middle+high)/2)
		var sums [4]float64
		x := [4]float64{middle - 0.5, lower - 0.5, upper - 0.5}
		abovesAVX2(&sums, &m.weight, &m.mean[a], &m.invScale[a], &x)
		next, sum := lower, sums[1]
		if sums[0] > 0.5 {
			low, next, sum = middle, upper, sums[2]
		} else {
			high = middle
		}
		switch {
		case !(high-low > near): // as near as it must be
		case sum > 0.5:
			low = next
		default:
			high = next
		}
	}
	return (low + high) / 2
}

// learn multiplies the weights by the likelihood of v as integer a.
func (m *mixture) learn(a int, v float64) {
	var t [12]float64 // the tails from either side of v
	for k := range m.weight {
		x := math.Abs(v - m.mean[a][k])
		s := m.invScale[a][k]
		t[k], t[6+k] = float64((x-0.5)*s), float64((x+0.5)*s)
	}
	logisticTails(&t)
	sum := 0.0
	for k := range m.weight {
		m.weight[k] = float64(m.weight[k] * (t[k] - t[6+k] + 1e-7))
		sum += m.weight[k]
	}
	for k := range m.weight {
		m.weight[k] /= sum
	}
}
