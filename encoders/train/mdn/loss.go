package mdn

import "math"

// The mixture, as coder and learner agree on it. Output k*7 of the net is the
// logit of component k's weight; k*7+1..3 are offsets which, times MeanScale and
// mapped by the Jacobian, are added to its base; k*7+4..6 are the logarithms of
// its widths, held within [MinLogWidth, MaxLogWidth] and multiplied by the length
// of the Jacobian's row plus WidthFloor.
const (
	Components  = 5
	Outputs     = Components * perComponent
	MeanScale   = 8
	MinLogWidth = -2.5
	MaxLogWidth = 7
	WidthFloor  = 1e-3

	perComponent = 7
	leastMass    = 1e-7 // added to every component's mass on an axis
	steepest     = 20   // a sample's gradient is cut to this length
)

// loss returns the bits that a sample costs when the net says y. Unless g is nil
// it is set to the derivatives by y of the loss in nats, cut to length steepest.
func loss(y *[Outputs]float32, t *Target, g *[Outputs]float32) float64 {
	var length [3]float64
	for a := range length {
		row := t.J[3*a : 3*a+3]
		x, y, z := float64(row[0]), float64(row[1]), float64(row[2])
		length[a] = math.Sqrt(float64(x*x)+float64(y*y)+float64(z*z)) + WidthFloor
	}
	var prior, joint [Components]float64 // weights; weights times masses
	var dMean, dWidth [Components][3]float64
	top := y[0]
	for k := 1; k < Components; k++ {
		top = max(top, y[k*perComponent])
	}
	all, sum := 0.0, 0.0
	for k := range prior {
		prior[k] = exp(float64(y[k*perComponent] - top))
		all += prior[k]
		mass := axes((*[perComponent]float32)(y[k*perComponent:]), t, k, &length, &dMean[k], &dWidth[k])
		joint[k] = float64(prior[k] * mass)
		sum += joint[k]
	}
	if g != nil {
		gradient(g, t, &prior, &joint, all, sum, &dMean, &dWidth)
	}
	return float64((log(all) - log(sum)) * math.Log2E)
}

// axes returns component k's mass on the outcome, and the derivatives of its
// logarithm by the mean and by the logarithm of the width on each axis.
func axes(y *[perComponent]float32, t *Target, k int, length, dMean, dWidth *[3]float64) float64 {
	product := 1.0
	for a := range 3 {
		mean := float64(t.Base[k][a])
		for b := range 3 {
			mean += float64(float64(t.J[3*a+b]) * float64(y[1+b]) * MeanScale)
		}
		logWidth := min(max(float64(y[4+a]), MinLogWidth), MaxLogWidth)
		width := exp(logWidth) * length[a]
		x := float64(t.Y[a]) - mean
		// On the lower tail differences keep their digits.
		upper, lower, sign := (x+0.5)/width, (x-0.5)/width, -1.0
		if x > 0 {
			upper, lower, sign = -lower, -upper, 1
		}
		fu, fl := logistic(upper), logistic(lower)
		mass := fu - fl + leastMass
		du, dl := float64(fu*(1-fu)), float64(fl*(1-fl))
		dMean[a] = (du - dl) * sign / width / mass
		dWidth[a] = -(float64(du*upper) - float64(dl*lower)) / mass
		if logWidth != float64(y[4+a]) {
			dWidth[a] = 0
		}
		product *= mass
	}
	return product
}

// gradient turns what axes found into the derivatives by the outputs.
func gradient(g *[Outputs]float32, t *Target, prior, joint *[Components]float64, all, sum float64, dMean, dWidth *[Components][3]float64) {
	square := 0.0
	for k := range prior {
		share := joint[k] / sum
		out := (*[perComponent]float32)(g[k*perComponent:])
		out[0] = float32(prior[k]/all - share)
		for b := range 3 {
			d := 0.0
			for a := range 3 {
				d += float64(dMean[k][a] * float64(t.J[3*a+b]))
			}
			out[1+b] = float32(-share * d * MeanScale)
			out[4+b] = float32(-share * dWidth[k][b])
		}
	}
	for _, v := range g {
		square += float64(float64(v) * float64(v))
	}
	if square > steepest*steepest {
		cut := float32(steepest / math.Sqrt(square))
		for i := range g {
			g[i] *= cut
		}
	}
}
