package kinetic

import (
	"math"

	"wirelab/encoders/rangecoder"
)

// A decision's probability is a logistic regression. Its logit is the sum of the logit of the
// mixture's probability times a slope, of one trained weight for each context, and of a few
// adaptive weights, which the memo carries. Decisions about flags have no mixture.

// Logits have 2048 steps to a nat, as in package rangecoder.
const (
	nat         = 2048
	slopeUnit   = 4096
	adaptiveMax = 3 * nat
	// Learning rates of the adaptive weights. The nets predict values well on all
	// recordings; the statistics of flags differ between them.
	valueRate = 8
	flagRate  = 80
)

// contexts lists the weights of one decision: trained ones and adaptive ones.
type contexts struct {
	slope    int32 // index of its slope
	weights  [6]int32
	n        int
	adapted  [2]int32
	adaptedN int
	rate     int32 // learning rate of the adaptive ones
}

// reset begins a decision.
func (c *contexts) reset(slope int, rate int32) {
	c.slope, c.n, c.adaptedN, c.rate = int32(slope), 0, 0, rate
}

// use adds a trained weight.
func (c *contexts) use(table contextTable, at int) {
	c.weights[c.n] = table.index(at)
	c.n++
}

// adaptive adds an adaptive weight.
func (c *contexts) adaptive(table contextTable, at int) {
	c.adapted[c.adaptedN] = table.index(at)
	c.adaptedN++
}

// decide codes one decision. z is the logit of its probability by the mixture, 0 without one.
func (e *coder) decide(bit int, z int32, c *contexts) int {
	if e.learner != nil {
		return e.learner.decide(bit, z, c)
	}
	sum := z * int32(e.model.slopes[c.slope]) / slopeUnit
	for _, w := range c.weights[:c.n] {
		sum += int32(e.model.weights[w])
	}
	for _, l := range c.adapted[:c.adaptedN] {
		sum += int32(e.memo.adaptive[l])
	}
	p := rangecoder.Squash(sum)
	bit = e.Bit(bit, p)
	for _, l := range c.adapted[:c.adaptedN] {
		adapt(&e.memo.adaptive[l], adaptation(bit, p, c.rate))
	}
	return bit
}

// adaptation returns the change of adaptive weights after a bit of probability p.
func adaptation(bit int, p uint32, rate int32) int32 {
	return ((int32(bit<<16)-int32(p))*rate + 1<<15) >> 16
}

// adapt changes an adaptive weight.
func adapt(v *int16, by int32) { *v = int16(min(max(int32(*v)+by, -adaptiveMax), adaptiveMax)) }

// contextTable is a range of contexts within all trained, or all adaptive, weights.
type contextTable struct{ at, size int }

// index returns the index, among all weights, of a context of the table.
func (t contextTable) index(at int) int32 {
	if uint(at) >= uint(t.size) {
		panic("kinetic: a context outside its table")
	}
	return int32(t.at + at)
}

// tableLayout allocates context tables one after the other.
type tableLayout struct{ size int }

func (l *tableLayout) take(n int) contextTable {
	r := contextTable{l.size, n}
	l.size += n
	return r
}

// Sizes of the context tables of values, for each of the six coordinates.
const (
	coordinates = 6
	decisions   = 32 // kinds of decision about one value
	widths      = 16 // classes of the mixture's scale
	misses      = 16 // classes of the last residual
	bends       = 16 // classes of the mixture's logit, to calibrate it
)

const (
	notMedian   = 0  // differs from the median?
	aboveMedian = 1  // above it?
	atLeastStep = 2  // up to 13: at least 2, 3, 5, 9, ... away?
	bisection   = 16 // and up: in the upper half of the interval?
	maxStep     = 13
)

// valueTables are the context tables of values.
type valueTables struct{ width, err, bend, adapt contextTable }

// codeValue codes integer v in low..high, the a-th of mixture m. coordinate is 0..5;
// class is the class of the last residual.
//
// The value is binarised around the median of the mixture: whether it differs, on which
// side it is, how far away in steps that double, and then by bisection. The probability
// of each decision is the mixture's mass on either side.
func (e *coder) codeValue(v, low, high int32, m *mixture, a, coordinate, class int) int32 {
	middle, scale := m.median(a)
	mid := int32(math.Floor(min(max(middle+0.5, float64(low)), float64(high))))
	up, down := side{m: m, a: a, mid: mid, sign: 1}, side{m: m, a: a, mid: mid, sign: -1}
	above, below := up.all(), down.all()
	d := valueCoder{coder: e, coordinate: coordinate, width: min(halfLog2Class(scale), widths-1), class: class}
	switch {
	case !d.decide(v != mid, notMedian, above+below, 1-above-below):
		v = mid
	case mid == low || mid < high && d.decide(v > mid, aboveMedian, above, below):
		v = mid + d.distance(v-mid, high-mid, above, &up)
	default:
		v = mid - d.distance(mid-v, mid-low, below, &down)
	}
	m.learn(a, float64(v))
	return v
}

// side is the part of integer a's distribution above the median, or below it.
type side struct {
	m     *mixture
	a     int
	mid   int32
	sign  int32      // 1 above, -1 below
	known [4]float64 // with vector instructions: the probabilities of the last four steps
}

// all returns the probability of a distance of at least 1.
func (s *side) all() float64 {
	if hasVectors {
		s.ask(0, 1, 2, 4)
		return s.known[0]
	}
	return s.atLeast(1)
}

// step returns the probability of a distance of at least 1 + 1<<n, where n is one more each time,
// from 0 on.
func (s *side) step(n int) float64 {
	if !hasVectors {
		return s.atLeast(1 + 1<<n)
	}
	if at := (n + 1) % 4; at > 0 {
		return s.known[at]
	}
	one := float64(int64(1) << n)
	s.ask(one, 2*one, 4*one, 8*one)
	return s.known[0]
}

// ask fills in the probabilities of distances above those.
func (s *side) ask(i, j, k, l float64) {
	x, by := float64(s.mid), float64(s.sign)
	at := [4]float64{x + float64(by*i), x + float64(by*j), x + float64(by*k), x + float64(by*l)}
	if m := s.m; s.sign > 0 {
		abovesAVX2(&s.known, &m.weight, &m.mean[s.a], &m.invScale[s.a], &at)
	} else {
		belowsAVX2(&s.known, &m.weight, &m.mean[s.a], &m.invScale[s.a], &at)
	}
}

// atLeast returns the probability of a distance of at least n.
func (s *side) atLeast(n int32) float64 {
	if s.sign > 0 {
		return s.m.above(s.a, float64(s.mid+n-1))
	}
	return s.m.below(s.a, float64(s.mid-n+1))
}

// halfLog2Class returns the class of a scale, two classes to each power of two.
func halfLog2Class(scale float64) int {
	return int(max(float64(ln(scale+0.2)*(2/ln2))+5, 0))
}

// valueCoder codes the decisions of one value.
type valueCoder struct {
	coder                    *coder
	coordinate, width, class int
}

// decide codes one decision, of which yes and no are the mixture's masses.
func (d *valueCoder) decide(answer bool, decision int, yes, no float64) bool {
	e := d.coder
	const tiny = 1e-9
	z := int32((ln(max(yes, 0)+tiny) - ln(max(no, 0)+tiny)) * nat)
	t := &e.model.value
	at := d.coordinate*decisions + decision
	width, miss := t.width.at+at*widths+d.width, t.err.at+at*misses+d.class
	bend := t.bend.at + at*bends + int(min(max(z/(nat/2)+bends/2, 0), bends-1))
	if e.learner != nil {
		c := contexts{slope: int32(at), weights: [6]int32{int32(width), int32(miss), int32(bend)}, n: 3}
		return e.learner.decide(rangecoder.Flag(answer), z, &c) != 0
	}
	// As coder.decide does it, without a list.
	m, v := e.model, &e.memo.adaptive[t.adapt.at+at]
	p := rangecoder.Squash(z*int32(m.slopes[at])/slopeUnit +
		int32(m.weights[width]) + int32(m.weights[miss]) + int32(m.weights[bend]) + int32(*v))
	bit := e.Bit(rangecoder.Flag(answer), p)
	adapt(v, adaptation(bit, p, valueRate))
	return bit != 0
}

// distance codes the distance 1..most of a value from the median on one side; rest is
// the mass of that side.
func (d *valueCoder) distance(v, most int32, rest float64, s *side) int32 {
	from, wide := int32(1), int32(1)
	step := atLeastStep
	for n := 0; from+wide <= most; n++ { // from+wide is 1 + 1<<n
		far := s.step(n)
		if !d.decide(v >= from+wide, step, far, rest-far) {
			return d.bisect(v, from, from+wide, rest, far, step, s)
		}
		from, rest = from+wide, far
		if from >= 3 {
			wide *= 2
		}
		step = min(step+1, maxStep)
	}
	return d.bisect(v, from, most+1, rest, 0, step, s)
}

// bisect codes a value in from..to-1; near and far are the masses of at least from and
// at least to.
func (d *valueCoder) bisect(v, from, to int32, near, far float64, step int, s *side) int32 {
	var quarters [2]float64 // of what is left, with vector instructions
	for known := false; to-from > 1; {
		half := from + (to-from)/2
		var mass float64
		switch {
		case known:
			mass, known = quarters[0], false
		case hasVectors && to-from > 2: // the next question with this one
			s.ask(float64(half-1), float64(from+(half-from)/2-1), float64(half+(to-half)/2-1), 0)
			mass, quarters, known = s.known[0], [2]float64(s.known[1:3]), true
		default:
			mass = s.atLeast(half)
		}
		if d.decide(v >= half, bisection+step, mass-far, near-mass) {
			from, near, quarters[0] = half, mass, quarters[1]
		} else {
			to, far = half, mass
		}
	}
	return from
}
