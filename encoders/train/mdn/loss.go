package mdn

import "math"

// The outputs of a net. For component k, output 7k is the logarithm of its weight, up to a common constant.
// Outputs 7k+1 to 7k+3 are offsets; times MeanScale and mapped by the Jacobian they are added to the base.
// Outputs 7k+4 to 7k+6 are the logarithms of the widths on the three axes; they are clamped to MinLogWidth
// and MaxLogWidth, and each width is multiplied by the length of the Jacobian's row plus WidthFloor.
const (
	Components  = 5
	Outputs     = Components * perComponent
	MeanScale   = 8
	MinLogWidth = -2.5
	MaxLogWidth = 7
	WidthFloor  = 1e-3

	perComponent = 7
	minMass      = 1e-7 // added to the probability of a component on an axis, so that no loss is infinite
	maxGradient  = 20   // largest length of a sample's gradient
)

// loss returns the cost of a sample in bits, given the net's outputs y and the target of the sample: minus the
// binary logarithm of the mixture's probability of the outcome. If gradient is not nil, it is set to the
// derivatives of the loss, in nats, by y, shortened to a length of maxGradient.
func loss(y *[Outputs]float32, target *Target, gradient *[Outputs]float32) float64 {
	var length [3]float64 // of each row of the Jacobian, plus WidthFloor: the factor of the widths on that axis
	for a := range length {
		row := target.J[3*a : 3*a+3]
		j0, j1, j2 := float64(row[0]), float64(row[1]), float64(row[2])
		length[a] = math.Sqrt(float64(j0*j0)+float64(j1*j1)+float64(j2*j2)) + WidthFloor
	}
	var prior, joint [Components]float64     // weights, not normalised; weights times probabilities of the outcome
	var dMean, dWidth [Components][3]float64 // derivatives by means and log widths, see componentMass
	maxLogWeight := y[0]
	for k := 1; k < Components; k++ {
		maxLogWeight = max(maxLogWeight, y[k*perComponent])
	}
	priorSum, jointSum := 0.0, 0.0
	for k := range prior {
		prior[k] = exp(float64(y[k*perComponent] - maxLogWeight))
		priorSum += prior[k]
		mass := componentMass((*[perComponent]float32)(y[k*perComponent:]), target, k, &length, &dMean[k], &dWidth[k])
		joint[k] = float64(prior[k] * mass)
		jointSum += joint[k]
	}
	if gradient != nil {
		outputGradient(gradient, target, &prior, &joint, priorSum, jointSum, &dMean, &dWidth)
	}
	return float64((log(priorSum) - log(jointSum)) * math.Log2E)
}

// componentMass returns the probability of the outcome t.Y in component k. It sets dMean and dWidth to the
// derivatives of its logarithm by the mean and by the logarithm of the width on each axis. y are the net's
// outputs for the component, length the factors of its widths.
func componentMass(y *[perComponent]float32, t *Target, k int, length, dMean, dWidth *[3]float64) float64 {
	product := 1.0
	for a := range 3 {
		mean := float64(t.Base[k][a])
		for b := range 3 {
			mean += float64(float64(t.J[3*a+b]) * float64(y[1+b]) * MeanScale)
		}
		logWidth := min(max(float64(y[4+a]), MinLogWidth), MaxLogWidth)
		width := exp(logWidth) * length[a]
		x := float64(t.Y[a]) - mean
		// Use the lower tail, on which the difference of the two values keeps its precision.
		upper, lower, sign := (x+0.5)/width, (x-0.5)/width, -1.0
		if x > 0 {
			upper, lower, sign = -lower, -upper, 1
		}
		upperCDF, lowerCDF := logistic(upper), logistic(lower)
		mass := upperCDF - lowerCDF + minMass
		upperDensity, lowerDensity := float64(upperCDF*(1-upperCDF)), float64(lowerCDF*(1-lowerCDF))
		// The derivative of the logistic function F is F*(1-F); by the mean it is divided by the width.
		dMean[a] = (upperDensity - lowerDensity) * sign / width / mass
		dWidth[a] = -(float64(upperDensity*upper) - float64(lowerDensity*lower)) / mass
		if logWidth != float64(y[4+a]) { // clamped
			dWidth[a] = 0
		}
		product *= mass
	}
	return product
}

// outputGradient sets g to the derivatives of the loss by the outputs, shortened to a length of maxGradient. prior
// and joint are those of loss, priorSum and jointSum their sums; dMean and dWidth come from componentMass.
func outputGradient(g *[Outputs]float32, t *Target, prior, joint *[Components]float64, priorSum, jointSum float64, dMean, dWidth *[Components][3]float64) {
	lengthSquared := 0.0
	for k := range prior {
		posterior := joint[k] / jointSum // probability that component k produced the outcome
		out := (*[perComponent]float32)(g[k*perComponent:])
		out[0] = float32(prior[k]/priorSum - posterior)
		for b := range 3 {
			d := 0.0
			for a := range 3 {
				d += float64(dMean[k][a] * float64(t.J[3*a+b]))
			}
			out[1+b] = float32(-posterior * d * MeanScale)
			out[4+b] = float32(-posterior * dWidth[k][b])
		}
	}
	for _, v := range g {
		lengthSquared += float64(float64(v) * float64(v))
	}
	if lengthSquared > maxGradient*maxGradient {
		cut := float32(maxGradient / math.Sqrt(lengthSquared))
		for i := range g {
			g[i] *= cut
		}
	}
}

// exp and log of package math are assembly on some processors and use fused products on others. The
// functions below give the same result everywhere, with relative errors of about 1e-10.

const (
	ln2Hi = 6.93147180369123816490e-01 // its low bits are zero, so its product with a small integer is exact
	ln2Lo = 1.90821492927058770002e-10 // ln(2) - ln2Hi
)

// exp returns e^x; x is clamped to [-700, 700].
func exp(x float64) float64 {
	x = min(max(x, -700), 700)
	// e^x = 2^k e^r
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(k*ln2Hi) - float64(k*ln2Lo)
	// The series of e^r, |r| < 0.347.
	p := 1.0 / 362880
	p = float64(p*r) + 1.0/40320
	p = float64(p*r) + 1.0/5040
	p = float64(p*r) + 1.0/720
	p = float64(p*r) + 1.0/120
	p = float64(p*r) + 1.0/24
	p = float64(p*r) + 1.0/6
	p = float64(p*r) + 0.5
	p = float64(p*r) + 1
	p = float64(p*r) + 1
	return p * math.Float64frombits(uint64(int64(k)+1023)<<52) // e^r * 2^k
}

// log returns the natural logarithm of x, a positive normal number.
func log(x float64) float64 {
	bits := math.Float64bits(x)
	k := float64(int64(bits>>52) - 1023)
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52) // 1 to 2
	if m > math.Sqrt2 {
		m /= 2
		k++
	}
	// log m = 2 artanh s, |s| < 0.172.
	s := (m - 1) / (m + 1)
	q := float64(s * s)
	p := 1.0 / 13
	p = float64(p*q) + 1.0/11
	p = float64(p*q) + 1.0/9
	p = float64(p*q) + 1.0/7
	p = float64(p*q) + 1.0/5
	p = float64(p*q) + 1.0/3
	p = float64(p*q) + 1
	return float64(2*s*p) + float64(k*ln2Lo) + float64(k*ln2Hi)
}

// logistic returns the distribution function of the standard logistic distribution.
func logistic(x float64) float64 { return 1 / (1 + exp(-x)) }
