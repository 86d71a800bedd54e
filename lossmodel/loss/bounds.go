package loss

import "math"

// LossBounds bounds the number of packets lost by chance in a series that was sent under one or more
// loss models. The bounds are Chernoff bounds with the exact moments of the Markov chains, so
// they hold for any number of packets and for correlated losses.
type LossBounds struct {
	segments  []segment
	sent      float64
	mean      float64 // mean of the number lost
	variance  float64 // variance of the number lost, approximately
	tolerance float64 // largest deviation of deterministic models from their mean
}

// segment is a number of packets sent under one chain.
type segment struct {
	chain markov
	n     int64
}

// Add adds n packets that are sent after the packets added before, and whose losses model m decides. Each of them
// has the given number of fragments. ok is false, and nothing is added, if the losses depend on a file.
func (o *LossBounds) Add(m Model, fragments int, n int64) (ok bool) {
	if b, ok := m.(Bernoulli); ok && fragments > 1 { // a fragmented datagram is lost if any fragment is
		m = Bernoulli{P: 1 - math.Pow(1-b.P, float64(fragments))}
	}
	form, ok := Analyze(m)
	if !ok {
		return false
	}
	o.sent += float64(n)
	o.mean += form.Rate * float64(n)
	if chain, isChain := m.(chainModel); isChain {
		o.variance += form.Variance * float64(n)
		o.segments = append(o.segments, segment{chain.chain(), n})
	} else if form.Rate > 0 {
		// A deterministic pattern: its losses differ from the mean by at most one run and one packet.
		o.tolerance += max(form.MeanRun, 1) + 1
	}
	return true
}

// Mean returns the expected number of losses.
func (o *LossBounds) Mean() float64 { return o.mean }

// Interval returns bounds of the number of losses of all added packets. The number is outside of them with a
// probability of at most alpha.
func (o *LossBounds) Interval(alpha float64) (low, high float64) {
	deterministic := o.mean // becomes the mean losses of models that are not random
	for i := range o.segments {
		deterministic -= o.segments[i].chain.closedForm().Rate * float64(o.segments[i].n)
	}
	low, high = deterministic, deterministic
	if len(o.segments) > 0 {
		lowRandom, highRandom := o.chernoff(math.Log(2 / alpha))
		low, high = deterministic+lowRandom, deterministic+highRandom
	}
	return max(low-o.tolerance, 0), min(high+o.tolerance, o.sent)
}

// chernoff returns bounds of the losses of all chains. For every t > 0, P(S >= s) <= exp(K(t) -
// t*s), and the same holds below the mean with -t, where K(t) = ln E[exp(t*S)] is the cumulant
// generating function. level is ln(2/alpha): each bound gets half of alpha. The best t is searched
// around the value that would be the best if the number of losses were normally distributed.
func (o *LossBounds) chernoff(level float64) (low, high float64) {
	low, high = 0, math.Inf(1)
	const around, steps = 16, 4                                 // 16 steps of a factor 2^(1/4) in both directions
	const minVariance = 1e-3                                    // avoids a division by 0
	best := math.Sqrt(2 * level / max(o.variance, minVariance)) // the best t of a normal distribution
	for i := -around; i <= around; i++ {
		t := best * math.Exp2(float64(i)/steps)
		if t > 50 { // exp(t) would become too large; the bound hardly improves
			break
		}
		high = min(high, (o.cumulant(t)+level)/t)
		low = max(low, -(o.cumulant(-t)+level)/t)
	}
	return low, high
}

// cumulant returns K(t), the logarithm of E[exp(t*S)] for the number S of losses of all chains. The
// first chain starts in its stationary distribution. The start states of later chains are unknown,
// so the worst case is used.
func (o *LossBounds) cumulant(t float64) (sum float64) {
	for i := range o.segments {
		s := &o.segments[i]
		w, scale := s.chain.momentVector(t, s.n) // E[exp(t*S)] by start state is w * exp(scale)
		start := 0.0                             // the expectation over the start state, divided by exp(scale)
		if pi := s.chain.stationary(); i == 0 {
			for k := range s.chain.states {
				start += pi[k] * w[k]
			}
		} else {
			for k := range s.chain.states {
				start = max(start, w[k])
			}
		}
		sum += math.Log(start) + scale
	}
	return sum
}

// momentVector returns E[exp(t*S)] of the number S of losses in n packets, by the state before
// the first packet, divided by exp(scale). It is the vector A^n 1, computed by repeated squaring,
// where A is the transition matrix weighted with E[exp(t*loss)] of the target state.
func (m *markov) momentVector(t float64, n int64) (w [4]float64, scale float64) {
	var a, column [4][4]float64 // column holds the vector in its first column
	weight := math.Expm1(t)     // E[exp(t*loss)] = 1 + P(loss) * (exp(t)-1)
	for i := range m.states {
		column[i][0] = 1
		for j := range m.states {
			a[i][j] = m.next[i][j] * (1 + m.loss[j]*weight)
		}
	}
	logA := 0.0 // logarithm of the factors by which a was divided
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			column = multiply(&a, &column, m.states)
			scale += logA + rescale(&column)
		}
		a = multiply(&a, &a, m.states)
		logA = 2*logA + rescale(&a)
	}
	for i := range w {
		w[i] = column[i][0]
	}
	return w, scale
}

// multiply returns the product of two n x n matrices.
func multiply(a, b *[4][4]float64, n int) (out [4][4]float64) {
	for i := range n {
		for k := range n {
			for j := range n {
				out[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return out
}

// rescale divides a matrix by its largest element and returns the logarithm of that element.
func rescale(a *[4][4]float64) float64 {
	largest := 0.0
	for i := range a {
		for _, v := range a[i] {
			largest = max(largest, v)
		}
	}
	for i := range a {
		for j := range a[i] {
			a[i][j] /= largest
		}
	}
	return math.Log(largest)
}
