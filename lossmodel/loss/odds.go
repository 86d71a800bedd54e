package loss

import "math"

// Odds is how many packets a series may lose by chance that was sent under one model after
// another. Its bounds hold for any number of packets and for losses that hang together: they are
// Chernoff's, with the moments of the chain itself.
type Odds struct {
	stretches []stretch
	sent      float64
	mean      float64
	spread    float64 // variance of the number lost, in the long run
	slack     float64 // by how much models without chance may be off
}

// stretch is a number of packets sent under one chain.
type stretch struct {
	chain markov
	n     int64
}

// Add adds n packets of some fragments each, sent under a model. ok is false if what is lost
// depends on a file.
func (o *Odds) Add(m Model, fragments int, n int64) (ok bool) {
	if b, whole := m.(Bernoulli); whole && fragments > 1 {
		m = Bernoulli{P: 1 - math.Pow(1-b.P, float64(fragments))}
	}
	law, ok := LawOf(m)
	if !ok {
		return false
	}
	o.sent += float64(n)
	o.mean += law.Rate * float64(n)
	if c, chance := m.(chained); chance {
		o.spread += law.Spread * float64(n)
		o.stretches = append(o.stretches, stretch{c.chain(), n})
	} else if law.Rate > 0 {
		o.slack += max(law.MeanRun, 1) + 1 // a pattern is off by less than one of its runs
	}
	return true
}

// Mean returns how many are lost on average.
func (o *Odds) Mean() float64 { return o.mean }

// Between returns bounds of the number lost that are kept but for a chance of at most alpha.
func (o *Odds) Between(alpha float64) (least, most float64) {
	certain := o.mean
	for i := range o.stretches {
		certain -= o.stretches[i].chain.law().Rate * float64(o.stretches[i].n)
	}
	least, most = certain, certain
	if len(o.stretches) > 0 {
		low, high := o.chernoff(math.Log(2 / alpha))
		least, most = certain+low, certain+high
	}
	return max(least-o.slack, 0), min(most+o.slack, o.sent)
}

// chernoff returns bounds of what the chains lose: P(S >= s) <= exp(K(t)-ts) for every t > 0, and
// below the mean alike, where K is the logarithm of the mean of exp(tS).
func (o *Odds) chernoff(level float64) (least, most float64) {
	least, most = 0, math.Inf(1)
	const around, steps = 16, 4 // powers of 2^(1/4) around what is best for a normal distribution
	best := math.Sqrt(2 * level / max(o.spread, 1e-3))
	for i := -around; i <= around; i++ {
		t := best * math.Exp2(float64(i)/steps)
		if t > 50 {
			break
		}
		most = min(most, (o.cumulant(t)+level)/t)
		least = max(least, -(o.cumulant(-t)+level)/t)
	}
	return least, most
}

// cumulant is K. The first chain starts in its stationary distribution. The state in which a later
// one starts is unknown, so the worst is taken.
func (o *Odds) cumulant(t float64) (sum float64) {
	for i := range o.stretches {
		s := &o.stretches[i]
		w, scale := s.chain.tilted(t, s.n)
		start := 0.0
		if pi := s.chain.stationary(); i == 0 {
			for k := range s.chain.n {
				start += pi[k] * w[k]
			}
		} else {
			for k := range s.chain.n {
				start = max(start, w[k])
			}
		}
		sum += math.Log(start) + scale
	}
	return sum
}

// tilted returns the mean of exp(t S) over n packets by the state before the first, up to a factor
// of exp(scale): A^n 1, where A moves the chain and weighs its losses.
func (m *markov) tilted(t float64, n int64) (w [4]float64, scale float64) {
	var a, column [4][4]float64 // the vector is the first column of a matrix
	weight := math.Expm1(t)
	for i := range m.n {
		column[i][0] = 1
		for j := range m.n {
			a[i][j] = m.next[i][j] * (1 + m.loss[j]*weight)
		}
	}
	logA := 0.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			column = product(&a, &column, m.n)
			scale += logA + rescale(&column)
		}
		a = product(&a, &a, m.n)
		logA = 2*logA + rescale(&a)
	}
	for i := range w {
		w[i] = column[i][0]
	}
	return w, scale
}

func product(a, b *[4][4]float64, n int) (out [4][4]float64) {
	for i := range n {
		for k := range n {
			for j := range n {
				out[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return out
}

// rescale divides a by its largest element and returns the logarithm of that.
func rescale(a *[4][4]float64) float64 {
	top := 0.0
	for i := range a {
		for _, v := range a[i] {
			top = max(top, v)
		}
	}
	for i := range a {
		for j := range a[i] {
			a[i][j] /= top
		}
	}
	return math.Log(top)
}
