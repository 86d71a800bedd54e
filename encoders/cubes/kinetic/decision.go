package kinetic

import (
	"math"

	"wirelab/encoders/rangecoder"
)

// The probability of a decision is a logistic regression over one-hot contexts:
//
//	logit P(1) = slope * logit of the mixture's probability
//	           + the sum of one trained weight for each context
//	           + the sum of a few adaptive weights
//
// The slope and the trained weights correct systematic errors of the mixture. The adaptive weights
// belong to the memo. Decisions about flags have no mixture, so the first term is 0.

const (
	nat         = 2048    // steps of a logit to a nat, as in package rangecoder
	slopeUnit   = 4096    // a slope of 1
	adaptiveMax = 3 * nat // bound of an adaptive weight
	// Learning rates of the adaptive weights, in 1/2048 nat for an error of 1. The nets predict
	// values well on all recordings; the statistics of flags differ between recordings.
	valueRate = 8
	flagRate  = 80
)

// contexts lists the weights that add to the logit of one decision, as indices.
type contexts struct {
	slope     int32    // index into model.slopes of the factor of the mixture's logit
	trained   [6]int32 // indices into model.weights, nTrained of them
	nTrained  int
	adaptive  [2]int32 // indices into memo.adaptive, nAdaptive of them
	nAdaptive int
	rate      int32 // learning rate of the adaptive weights
}

// reset begins the contexts of a decision: slope is the index of its slope, rate the learning
// rate of its adaptive weights.
func (c *contexts) reset(slope int, rate int32) {
	c.slope, c.nTrained, c.nAdaptive, c.rate = int32(slope), 0, 0, rate
}

// addTrained adds the trained weight of a context of the table.
func (c *contexts) addTrained(table contextTable, context int) {
	c.trained[c.nTrained] = table.index(context)
	c.nTrained++
}

// addAdaptive adds the adaptive weight of a context of the table.
func (c *contexts) addAdaptive(table contextTable, context int) {
	c.adaptive[c.nAdaptive] = table.index(context)
	c.nAdaptive++
}

// noMixture is the logit z of decisions about flags, which no mixture predicts.
const noMixture = 0

// decide encodes bit, or decodes and returns it, and updates the adaptive weights. z is the logit
// of the mixture's probability of a 1, in 1/2048 nat; noMixture without one. c has the other terms of the logit.
func (e *coder) decide(bit int, z int32, c *contexts) int {
	if e.learner != nil { // in training nothing is coded
		return e.learner.decide(bit, z, c)
	}
	sum := z * int32(e.model.slopes[c.slope]) / slopeUnit
	for _, w := range c.trained[:c.nTrained] {
		sum += int32(e.model.weights[w])
	}
	for _, l := range c.adaptive[:c.nAdaptive] {
		sum += int32(e.memo.adaptive[l])
	}
	p := rangecoder.Squash(sum)
	bit = e.Bit(bit, p)
	for _, l := range c.adaptive[:c.nAdaptive] {
		adapt(&e.memo.adaptive[l], adaptStep(bit, p, c.rate))
	}
	return bit
}

// adaptStep returns by how much the adaptive weights change after a bit whose probability of being
// 1 was p/65536: rate times the error, rounded to nearest.
func adaptStep(bit int, p uint32, rate int32) int32 {
	return ((int32(bit<<16)-int32(p))*rate + 1<<15) >> 16
}

// adapt adds delta to an adaptive weight within its bounds.
func adapt(v *int16, delta int32) { *v = int16(min(max(int32(*v)+delta, -adaptiveMax), adaptiveMax)) }

// contextTable is a range of all trained weights, or of all adaptive weights: one weight for each
// context of a kind.
type contextTable struct{ offset, size int }

// index returns the index of a context's weight among all weights. It panics if the context is
// outside the table, which would use the weight of another table.
func (t contextTable) index(context int) int32 {
	if uint(context) >= uint(t.size) {
		panic("kinetic: a context outside its table")
	}
	return int32(t.offset + context)
}

// tableLayout allocates context tables one after the other; size is the total number of contexts.
type tableLayout struct{ size int }

// allocate returns the next table, of n contexts.
func (l *tableLayout) allocate(n int) contextTable {
	r := contextTable{l.size, n}
	l.size += n
	return r
}

// Dimensions of the tables of coder contexts. The tables scale, residual and logit have a row for each coordinate
// and decision; the last three constants are the lengths of their rows.
const (
	numCoordinates     = 6  // x, y, z and the three smallest components of the orientation
	numDecisions       = 32 // kinds of decision about one value, see below
	numScaleClasses    = 16 // of the mixture's scale: how uncertain the net is
	numResidualClasses = 16 // of the cube's last residual
	numLogitClasses    = 16 // of the mixture's logit, which this table calibrates
)

// The kinds of decision about a value.
const (
	notMedian   = 0  // is the value unequal to the median?
	aboveMedian = 1  // is the value above the median?
	atLeastStep = 2  // 2..maxStep: is the distance from the median at least 2, 3, 5, 9, ...?
	maxStep     = 13 // larger distances share the contexts of this step
	bisection   = 16 // plus the step: is the value in the upper half of the interval?
)

// valueTables are the context tables of values. Each has a row for each coordinate and decision.
type valueTables struct{ scale, residual, logit, adaptive contextTable }

// codeValue encodes v, or decodes and returns it. v lies in low..high and is integer number axis
// (0..2) of mixture m. coordinate is 0..5; residualClass is the class of the cube's last residual.
//
// The value is binarised around the median of the mixture: whether it differs, on which side it
// is, how far away in steps that double, and then by bisection. The odds of each decision are the
// ratio of the probabilities that the mixture gives to the two outcomes. Afterwards the weights of the
// mixture are updated, which sharpens the distributions of the integers that follow.
func (e *coder) codeValue(v, low, high int32, m *mixture, axis, coordinate, residualClass int) int32 {
	median, scale := m.median(axis)
	mid := int32(math.Floor(min(max(median+0.5, float64(low)), float64(high))))
	up, down := side{m: m, axis: axis, mid: mid, sign: 1}, side{m: m, axis: axis, mid: mid, sign: -1}
	above, below := up.mass(), down.mass() // probabilities of v > mid and of v < mid
	d := valueCoder{coder: e, coordinate: coordinate, scaleClass: min(halfLog2Class(scale), numScaleClasses-1),
		residualClass: residualClass}
	switch {
	case !d.decide(v != mid, notMedian, above+below, 1-above-below):
		v = mid
	// If only one side is possible, the side is not coded.
	case mid == low || mid < high && d.decide(v > mid, aboveMedian, above, below):
		v = mid + d.codeDistance(v-mid, high-mid, above, &up)
	default:
		v = mid - d.codeDistance(mid-v, mid-low, below, &down)
	}
	m.updateWeights(axis, float64(v))
	return v
}

// side is the part of an integer's distribution above the median, or below it. Its methods return
// the probability (mass) that the integer lies on this side at a distance of at least n from mid.
//
// With AVX2 four masses are computed at once, those of the next steps in advance.
type side struct {
	m      *mixture   // the mixture of the integer
	axis   int        // which integer of the mixture, 0..2
	mid    int32      // the median, rounded
	sign   int32      // 1 for the side above the median, -1 for that below
	cached [4]float64 // masses computed last; AVX2 only
}

// mass returns the probability of this side: of a distance of at least 1.
func (s *side) mass() float64 {
	if hasAVX2 {
		s.computeMasses(0, 1, 2, 4)
		return s.cached[0]
	}
	return s.massAtLeast(1)
}

// massAtStep returns the probability of a distance of at least 1 + 1<<n. It must be called after
// mass, with n = 0, 1, 2, ... in turn, because s.cached holds the next masses.
func (s *side) massAtStep(n int) float64 {
	if !hasAVX2 {
		return s.massAtLeast(1 + 1<<n)
	}
	// A distance of at least 1+1<<n is one larger than 1<<n. mass computed the masses of distances larger than 0, 1,
	// 2 and 4, so n = 0 is at index 1. Every fourth step, beginning with n = 3, computes the next four.
	if index := (n + 1) % 4; index > 0 {
		return s.cached[index]
	}
	distance := float64(int64(1) << n)
	s.computeMasses(distance, 2*distance, 4*distance, 8*distance)
	return s.cached[0]
}

// computeMasses sets s.cached to the probabilities of distances larger than d0, d1, d2 and d3. It
// needs AVX2.
func (s *side) computeMasses(d0, d1, d2, d3 float64) {
	x, sign := float64(s.mid), float64(s.sign)
	points := [4]float64{x + float64(sign*d0), x + float64(sign*d1), x + float64(sign*d2), x + float64(sign*d3)}
	if m := s.m; s.sign > 0 {
		aboveAVX2(&s.cached, &m.weight, &m.mean[s.axis], &m.invScale[s.axis], &points)
	} else {
		belowAVX2(&s.cached, &m.weight, &m.mean[s.axis], &m.invScale[s.axis], &points)
	}
}

// massAtLeast returns the probability of a distance of at least n, without s.cached.
func (s *side) massAtLeast(n int32) float64 {
	if s.sign > 0 {
		return s.m.above(s.axis, float64(s.mid+n-1))
	}
	return s.m.below(s.axis, float64(s.mid-n+1))
}

// halfLog2Class returns the class of a scale, with two classes for each factor of two: 0 below
// 0.05, 5 from 0.8. Callers limit it to their number of classes.
func halfLog2Class(scale float64) int {
	return int(max(float64(ln(scale+0.2)*(2/ln2))+5, 0))
}

// valueCoder codes the decisions about one value: its contexts are the same for all of them.
type valueCoder struct {
	coder                                 *coder
	coordinate, scaleClass, residualClass int // classes that form the contexts: see codeValue
}

// decide encodes one decision, or decodes and returns it. decision is its kind; pYes and pNo are the
// mixture's masses of the two outcomes, which need not add up to 1.
func (d *valueCoder) decide(answer bool, decision int, pYes, pNo float64) bool {
	e := d.coder
	const tiny = 1e-9 // keeps the logarithm finite
	z := int32((ln(max(pYes, 0)+tiny) - ln(max(pNo, 0)+tiny)) * nat)
	t := &e.model.value
	row := d.coordinate*numDecisions + decision
	scale, residual := t.scale.offset+row*numScaleClasses+d.scaleClass, t.residual.offset+row*numResidualClasses+d.residualClass
	// The classes of the logit are half a nat wide; the middle one begins at 0.
	logit := t.logit.offset + row*numLogitClasses + int(min(max(z/(nat/2)+numLogitClasses/2, 0), numLogitClasses-1))
	if e.learner != nil {
		c := contexts{slope: int32(row), trained: [6]int32{int32(scale), int32(residual), int32(logit)}, nTrained: 3}
		return e.learner.decide(rangecoder.Flag(answer), z, &c) != 0
	}
	// The same as coder.decide, without the list of contexts: most decisions are made here.
	m, weight := e.model, &e.memo.adaptive[t.adaptive.offset+row]
	p := rangecoder.Squash(z*int32(m.slopes[row])/slopeUnit +
		int32(m.weights[scale]) + int32(m.weights[residual]) + int32(m.weights[logit]) + int32(*weight))
	bit := e.Bit(rangecoder.Flag(answer), p)
	adapt(weight, adaptStep(bit, p, valueRate))
	return bit != 0
}

// codeDistance encodes the distance of a value from the median, or decodes and returns it. The distance is in
// 1..maxDistance; s is the side of the median on which the value lies, and massFrom the probability of this
// side. The distance is compared with 2, 3, 5, 9, ... until it is smaller; a bisection codes the rest.
func (d *valueCoder) codeDistance(distance, maxDistance int32, massFrom float64, s *side) int32 {
	from, width := int32(1), int32(1) // of the current interval of distances, which ends before from+width
	step := atLeastStep
	for n := 0; from+width <= maxDistance; n++ { // from+width is 1 + 1<<n
		massTo := s.massAtStep(n)
		if !d.decide(distance >= from+width, step, massTo, massFrom-massTo) {
			return d.codeBisection(distance, from, from+width, massFrom, massTo, step, s)
		}
		from, massFrom = from+width, massTo
		if from >= 3 { // the first two intervals, [1,2) and [2,3), have width 1
			width *= 2
		}
		step = min(step+1, maxStep)
	}
	return d.codeBisection(distance, from, maxDistance+1, massFrom, 0, step, s) // no larger distance is possible
}

// codeBisection encodes a distance in from..to-1, or decodes and returns it. massFrom and massTo
// are the probabilities of a distance of at least from and of at least to; step selects contexts.
// With AVX2 the masses of the next two possible middles are computed with that of the first.
func (d *valueCoder) codeBisection(distance, from, to int32, massFrom, massTo float64, step int, s *side) int32 {
	// Masses at the middles of the lower and the upper half, computed in advance.
	var quarters [2]float64
	for haveQuarter := false; to-from > 1; {
		middle := from + (to-from)/2
		var mass float64
		switch {
		case haveQuarter: // computed with the last middle; quarters[0] is that of the remaining half
			mass, haveQuarter = quarters[0], false
		case hasAVX2 && to-from > 2:
			s.computeMasses(float64(middle-1), float64(from+(middle-from)/2-1), float64(middle+(to-middle)/2-1), 0)
			mass, quarters, haveQuarter = s.cached[0], [2]float64(s.cached[1:3]), true
		default:
			mass = s.massAtLeast(middle)
		}
		if d.decide(distance >= middle, bisection+step, mass-massTo, massFrom-mass) {
			from, massFrom, quarters[0] = middle, mass, quarters[1]
		} else {
			to, massTo = middle, mass
		}
	}
	return from
}
