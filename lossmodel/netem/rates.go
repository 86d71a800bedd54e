package netem

import "math"

// LossRate returns the long-run fraction of packets that the loss model drops, including the
// effect of netem's bugs.
func (p Params) LossRate() float64 {
	switch p.Loss.Model {
	case fourState:
		return p.fourStateRate()
	case gilbertElliott:
		in, out := p.Loss.P.Float(), p.Loss.R.Float() // probabilities to enter and to leave the bad state
		bad := 0.0                                    // the chain starts in the good state
		if in > 0 {
			bad = in / (in + out)
		}
		return float64(bad*(1-p.Loss.H.Float())) + float64((1-bad)*p.Loss.K1.Float())
	}
	return hitRate(p.Loss.Probability, p.Loss.Corr)
}

// fourStateRate computes the loss rate from the stationary weights of the states (Salsano and
// others): 1 for state 1, p13/p31 * (1 + p32/p23) for bursts including arrivals within them, and
// p14 for single losses.
func (p Params) fourStateRate() float64 {
	p14, p32, p23 := p.Loss.P14.Float(), p.Loss.P32.Float(), p.Loss.P23.Float()
	p13, p31 := exitProbability(p.Loss.P13, p.Loss.P14), exitProbability(p.Loss.P31, p.Loss.P32)
	switch {
	case p13 == 0: // there are no bursts
		return p14 / (1 + p14)
	case p31 == 0 && p32 == 0: // the chain remains in state 3
		return 1
	case p32 > 0 && p23 == 0: // the chain ends in state 2
		return 0
	case p31 == 0: // the chain alternates between states 2 and 3
		return p23 / (p23 + p32)
	}
	burst := p13 / p31 // weight of state 3
	gaps := 0.0        // weight of state 2, arrivals within a burst
	if p32 > 0 {
		gaps = burst * p32 / p23
	}
	return (burst + p14) / (1 + burst + gaps + p14)
}

// exitProbability returns the probability of the first of two transitions out of a state, whose
// thresholds the kernel adds. It is 0 if the sum overflows.
func exitProbability(first, second probability) float64 {
	if first+second < first {
		return 0
	}
	return first.Float()
}

// hitRate returns the long-run probability that netem's correlated random number is at most threshold, a
// fraction of 2^32. netem computes each number x from the one before: x = (1-rho)u + rho x, where u is uniform. The
// stationary distribution F of x is computed on a grid by repeating this step until F does not change.
func hitRate(threshold, rho probability) float64 {
	if rho == 0 || threshold == 0 || threshold == always {
		return threshold.Float()
	}
	const cells, steps = 4096, 400 // cells of the grid from 0 to 1; largest number of repetitions
	r := (float64(rho) + 1) / (1 << 32)
	// f is the distribution function F at the grid points, integral its integral from 0.
	f, integral := make([]float64, cells+1), make([]float64, cells+1)
	for i := range f {
		f[i] = float64(i) / cells
	}
	area := func(x float64) float64 { // integral of f from 0 to x
		switch {
		case x <= 0:
			return 0
		case x >= 1:
			return integral[cells] + x - 1
		}
		i := int(x * cells)
		fraction := float64(x*cells) - float64(i)
		return integral[i] + float64(fraction*(integral[i+1]-integral[i]))
	}
	step := func(x float64) float64 { // F at x after one more step
		return float64(r/(1-r)) * (area(x/r) - area((x-1+r)/r))
	}
	for range steps {
		for i := range cells {
			integral[i+1] = integral[i] + (f[i]+f[i+1])/(2*cells)
		}
		change := 0.0
		for i := range f {
			next := step(float64(i) / cells)
			change = max(change, math.Abs(next-f[i]))
			f[i] = next
		}
		if change < 1e-12 {
			break
		}
	}
	return max(0, step(threshold.Float()))
}
