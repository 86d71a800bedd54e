package kinetic

import "math"

// Regions of the weights that values use, for each of the six coordinates.
const (
	coordinates = 6
	decisions   = 32 // kinds of decision about one value
	widths      = 16 // classes of a mixture's scale
	misses      = 16 // classes of how well the forecast did before
	bends       = 16 // classes of the opinion itself, to straighten it
)

const (
	notMedian   = 0  // not the middle?
	aboveMedian = 1  // above it?
	atLeastStep = 2  // and on to 13: at least 2, 3, 5, 9, ... away?
	bisection   = 16 // and on: in the upper half of what is left?
	maxStep     = 13
)

// valueTables are the contexts of values.
type valueTables struct{ width, err, bend, adapt contextTable }

// value codes integer v, which lies in low..high, the a-th of mixture m.
// Coordinate is 0..5; class is how well the forecast did before.
//
// The middle of the mixture is the first guess: is it that? If not, is it above,
// and how far off, in steps that double; and within the last of them, by halves.
// Each answer's probability is what the mixture has on either side.
func (e *coder) codeValue(v, low, high int32, m *mixture, a, coordinate, class int) int32 {
	middle, scale := m.median(a)
	mid := int32(math.Floor(min(max(middle+0.5, float64(low)), float64(high))))
	x := float64(mid)
	above, below := m.above(a, x), m.below(a, x)
	d := valueCoder{coder: e, coordinate: coordinate, width: min(halfLog2Class(scale), widths-1), class: class}
	switch {
	case !d.decide(v != mid, notMedian, above+below, 1-above-below):
		v = mid
	case mid == low || mid < high && d.decide(v > mid, aboveMedian, above, below):
		v = mid + d.distance(v-mid, high-mid, above, side{m, a, mid, 1})
	default:
		v = mid - d.distance(mid-v, mid-low, below, side{m, a, mid, -1})
	}
	m.learn(a, float64(v))
	return v
}

// side is what lies above the middle of integer a, or below it.
type side struct {
	m    *mixture
	a    int
	mid  int32
	sign int32 // 1 above, -1 below
}

// beyond returns the probability of being at least n away.
func (s *side) atLeast(n int32) float64 {
	if s.sign > 0 {
		return s.m.above(s.a, float64(s.mid+n-1))
	}
	return s.m.below(s.a, float64(s.mid-n+1))
}

// level2 counts the half powers of two that are in a scale.
func halfLog2Class(scale float64) int {
	return int(max(float64(ln(scale+0.2)*(2/ln2))+5, 0))
}

// dial asks about one value.
type valueCoder struct {
	coder                    *coder
	coordinate, width, class int
}

// ask codes one decision of which the mixture says yes to no.
func (d *valueCoder) decide(answer bool, decision int, yes, no float64) bool {
	e := d.coder
	z := stretch(yes, no)
	t := &e.model.value
	at := d.coordinate*decisions + decision
	e.ctx.reset(at, valueRate)
	e.ctx.use(t.width, at*widths+d.width)
	e.ctx.use(t.err, at*misses+d.class)
	e.ctx.use(t.bend, at*bends+int(min(max(z/(nat/2)+bends/2, 0), bends-1)))
	e.ctx.adaptive(t.adapt, at)
	return e.decide(btoi(answer), z, &e.ctx) != 0
}

// distance codes how far, 1..most, a value is from the middle on one side; rest
// is the probability of that side.
func (d *valueCoder) distance(v, most int32, rest float64, s side) int32 {
	from, wide := int32(1), int32(1)
	step := atLeastStep
	for from+wide <= most {
		far := s.atLeast(from + wide)
		if !d.decide(v >= from+wide, step, far, rest-far) {
			return d.bisect(v, from, from+wide, rest, far, step, &s)
		}
		from, rest = from+wide, far
		if from >= 3 {
			wide *= 2
		}
		step = min(step+1, maxStep)
	}
	return d.bisect(v, from, most+1, rest, 0, step, &s)
}

// halve codes which of from..to-1 a value is; near and far are the probabilities
// of at least from and to.
func (d *valueCoder) bisect(v, from, to int32, near, far float64, step int, s *side) int32 {
	for to-from > 1 {
		half := from + (to-from)/2
		mass := s.atLeast(half)
		if d.decide(v >= half, bisection+step, mass-far, near-mass) {
			from, near = half, mass
		} else {
			to, far = half, mass
		}
	}
	return from
}
