package states

import (
	"math/bits"
	"sync"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
)

// codeNumber codes field k, a number, and stores it in r.cur: of a float first its class; then the
// index of its value in the grid of that class, which numbers the values in order, relative to the
// index nearest to the first guess. c is the plan of the field. old is its value in the baseline, or
// for a new row that of the source row. differs means that the value is known to differ from old.
func (r *row) codeNumber(k int, c *fieldPlan, old int32, differs bool) error {
	m, history := r.memo, &r.cells[k-r.part.firstField]
	isNew := flag(r.isNew)
	actual := uint32(r.cur[k])
	class, oldClass := classWhole, c.classOf(uint32(old))
	if c.kind == frame.Float32 {
		class = r.codeClass(c, c.classOf(actual), uint32(k)<<9|isNew<<8|decisionClass, uint32(oldClass), uint32(history.residual))
		if class == classSpecial { // -0, an infinity or a NaN: coded without a prediction
			r.cur[k] = int32(r.Direct(uint64(actual), 32))
			return nil
		}
	}
	classGrid := c.grid(class, int(m.units[c.statsField]))
	predicted := r.predict(k, c, old, class)
	predictors := r.predictors.list()
	guess := classGrid.nearestIndex(predicted)
	// That the value is not old excludes the first guess only if that is old.
	differs = differs && oldClass == class && guess == classGrid.index(uint32(old))
	spreadClass := uint32(0) // distance of the first two predictions, in half octaves
	if len(predictors) > 1 {
		distance := uint64(abs(predictors[0].points[0]-predictors[1].points[0])) >> uint(max(classGrid.resolution()-2, 0))
		spreadClass = uint32(min(halfOctaves(distance+1), 40))
	}
	id := (uint32(c.statsField)<<9|isNew<<8)<<3 | uint32(class) // id of the statistics: field, new or old row, class
	r.mixer.Begin()
	// The last values only make the contexts, and the weight set, differ from each other.
	r.mixer.AddContext(id, r.typeContext, decisionNumber, 0)
	r.mixer.AddContext(id, uint32(history.residual), spreadClass/2, 1)
	r.mixer.AddContext(id, r.typeContext, spreadClass, 3)
	number := numberCoder{mixer: &r.mixer, predictors: predictors, logs: r.logs, grid: &classGrid,
		resolution: classGrid.resolution(), guess: guess, direction: 1,
		weightSet: rangecoder.Hash(id, uint32(history.bestInput), r.axisBest, 9)}
	index := number.code(classGrid.index(actual), differs)
	valueBits := classGrid.bits(index)
	r.cur[k] = int32(valueBits)
	if c.kind != frame.Float32 && index != int64(int32(index)) {
		return column.RangeError(r.schema, k, int64(int32(index)))
	}
	history.bestInput = nearestInput(predictors, r.toFixed(k, int32(valueBits)))
	r.axisBest = 0
	if c.group >= 0 {
		r.axisBest = uint32(history.bestInput) + 1
	}
	history.residual = uint8(min(halfOctaves(uint64(abs(index-guess))+1), 63) / 2)
	if c.role == frame.Velocity { // a context of the symbols that follow
		r.lastSymbol = rangecoder.Hash(uint32(k), 1, 2, 0)
	}
	if c.kind == frame.Float32 { // a larger value than before needs a coarser fixed point
		if unit := floatReach - 1 - exponent(valueBits); unit < int(m.units[c.statsField]) {
			m.units[c.statsField] = int8(max(unit, minUnit))
		}
	}
	return nil
}

// codeClass codes the class of a float and returns it: for each class in turn, whether it is the one;
// classSpecial if no other is. A decoder ignores actual. id identifies the field; oldClass is the class of
// the old value, residual the size class of the field's last residual.
func (r *row) codeClass(c *fieldPlan, actual floatClass, id, oldClass, residual uint32) floatClass {
	mixer := &r.mixer
	mixer.Begin()
	mixer.AddContext(id, r.typeContext, oldClass, 0)
	mixer.AddContext(id, r.typeContext, oldClass, residual+1)
	mixer.AddContext(id, r.symbolHash, oldClass, 2)
	for candidate := classWhole; candidate < classSpecial; candidate++ {
		if candidate == classStepped && c.step == 0 {
			continue
		}
		if mixer.CodeFlag(actual == candidate, uint32(candidate), id<<3|uint32(candidate), 3) { // three contexts
			return candidate
		}
	}
	return classSpecial
}

// toFixed returns value v of field k in fixed point: an integer x that stands for x * 2^-unit, where unit is
// the number of fractional bits of the field. Predictions are computed with such integers.
func (r *row) toFixed(k int, v int32) int64 {
	c := &r.columns[k]
	if c.kind == frame.Float32 {
		return floatToFixed(uint32(v), int(r.memo.units[c.statsField]))
	}
	return int64(v) << integerUnit
}

// nearestInput returns the mixer input of the predictor that has the point nearest to v. A later point
// replaces an earlier one only if its distance is less than 3/4 of the earlier one's, so that points at
// almost equal distances do not change the choice.
func nearestInput(list []predictor, v int64) uint8 {
	bestInput, leastDistance := 0, int64(1<<62)
	for i := range list {
		p := &list[i]
		for k := range p.nPoints {
			if d := abs(v - p.points[k]); d < leastDistance-leastDistance/4 {
				bestInput, leastDistance = p.input, d
			}
		}
	}
	return uint8(bestInput)
}

// Decision nodes of a number. The nodes of one number must differ, because they select the
// counters.
const (
	nodeGuess   = 1  // whether the index is the first guess
	nodeAbove   = 2  // whether the index is above the first guess
	nodeLength  = 8  // first of 32 nodes: the binary tree of the length in bits of the distance from the first guess
	nodeLowBits = 64 // first node of codeLowBits, which adds the length<<8, the depth<<4 and up to three known bits
)

// A numberCoder codes an index of a grid as binary decisions: whether it is the first guess;
// whether it is above; the position of the highest bit of its distance, by a binary tree of five
// levels; and the bits below the highest. Before each decision, every predictor gives the mixer a
// prediction of it: the ratio of the masses of its error distribution on both sides of the split.
type numberCoder struct {
	mixer            *rangecoder.StateMixer
	predictors       []predictor
	logs             *logarithms
	grid             *grid
	resolution       int    // see grid.resolution
	guess, direction int64  // the index of the first guess; 1 if the value is above it, -1 if below
	weightSet        uint32 // selects the weights of the mixer
}

// code codes index i and returns it. differs means that it is known not to be the first guess. All
// decisions use the three contexts that codeNumber has added to the mixer.
func (n *numberCoder) code(i int64, differs bool) int64 {
	mixer, logs, predictors, resolution := n.mixer, n.logs, n.predictors, n.resolution
	maxInput := 0
	for k := range predictors {
		maxInput = max(maxInput, predictors[k].input)
	}
	mixer.ReservePredictors(maxInput + 1)
	low, high := n.grid.lowerBound(n.guess), n.grid.lowerBound(n.guess+1) // values in between round to the first guess
	for k := range predictors {
		p := &predictors[k]
		p.prepare()
		p.splitMass, p.guessEndMass = p.massBelow(low, resolution), p.massBelow(high, resolution)
	}
	if !differs {
		for k := range predictors {
			p := &predictors[k]
			guessMass := p.guessEndMass - p.splitMass
			mixer.Predict(p.input, logs.logOdds(guessMass, p.highMass-guessMass))
		}
		if mixer.CodeFlag(i == n.guess, nodeGuess, n.weightSet+nodeGuess, 3) {
			n.learnErrors(n.guess)
			return n.guess
		}
	}
	for k := range predictors {
		p := &predictors[k]
		mixer.Predict(p.input, logs.logOdds(p.highMass-p.guessEndMass, p.splitMass))
	}
	above := mixer.CodeFlag(i > n.guess, nodeAbove, n.weightSet+nodeAbove, 3)
	for k := range predictors {
		if p := &predictors[k]; above {
			p.lowMass = p.guessEndMass
		} else {
			p.highMass = p.splitMass
		}
	}
	if !above {
		n.direction = -1
	}
	i = n.guess + n.direction*n.codeDistance((i-n.guess)*n.direction)
	if n.grid.class != classInteger { // an invalid packet may hold an index that no float has
		maxIndex := n.grid.maxIndex()
		i = min(max(i, -maxIndex), maxIndex)
	}
	n.learnErrors(i)
	return i
}

// codeDistance codes and returns the distance from the first guess, at least 1 and below 2^32: first the
// position of its highest bit, then the bits below. A decoder ignores the argument.
func (n *numberCoder) codeDistance(distance int64) int64 {
	actual := 0 // position of the highest bit; unused by the decoder
	if distance > 0 {
		actual = bits.Len64(uint64(distance)) - 1
	}
	node, length := uint32(1), 0
	for level := 4; level >= 0; level-- {
		split := length + 1<<level
		n.predictSplit(1 << split)
		b := n.mixer.CodeBit(actual>>level&1, nodeLength+node, n.weightSet+nodeLength+node, 3) // three contexts
		n.restrict(b == 1)
		if b == 1 {
			length = split
		}
		node = node<<1 | uint32(b)
	}
	return n.codeLowBits(distance, length)
}

// codeLowBits codes the bits of a distance below its highest bit, whose position is length. If
// after at least four bits the predictors were uninformed for the last two, or after 25 bits, the
// rest is coded directly: each bit with probability 1/2.
func (n *numberCoder) codeLowBits(distance int64, length int) int64 {
	known := int64(1) << length
	unhelpful := 0 // number of consecutive bits for which all predictors were uninformed
	for pos := length - 1; pos >= 0; pos-- {
		depth := length - 1 - pos
		if unhelpful >= 2 && pos > 0 && depth > 3 || depth > 24 {
			rest := uint(pos + 1)
			return known | int64(n.mixer.Coder.Direct(uint64(distance)&(1<<rest-1), rest))
		}
		unhelpful++
		if !n.predictSplit(known + 1<<pos) {
			unhelpful = 0
		}
		// The first three bits below the highest have contexts of their own; deeper ones share them by depth.
		numContexts, node := 2, nodeLowBits+uint32(length)<<8+uint32(min(depth, 6))<<4
		if depth >= 3 {
			numContexts = 1
		} else {
			node |= uint32(known>>(pos+1)) & 7
		}
		b := n.mixer.CodeBit(int(distance>>pos&1), node, n.weightSet+nodeLowBits+uint32(min(depth, 6)), numContexts)
		n.restrict(b == 1)
		if b == 1 {
			known += 1 << pos
		}
	}
	return known
}

// predictSplit gives the mixer the predictions of whether the distance is at least split. It
// reports whether all predictors are uninformed: their probability is within 0.005 of 1/2 (a logit
// below 41/2048).
func (n *numberCoder) predictSplit(split int64) bool {
	boundary := n.guess + split // indices below are on one side of the split, others on the other side
	if n.direction < 0 {
		boundary = n.guess - split + 1 // because index guess-split is at least split away
	}
	mixer, logs, predictors, resolution, downward := n.mixer, n.logs, n.predictors, n.resolution, n.direction < 0
	boundaryFixed := n.grid.lowerBound(boundary)
	uninformed := true
	for k := range predictors {
		p := &predictors[k]
		p.splitMass = p.massBelow(boundaryFixed, resolution)
		farMass, nearMass := p.highMass-p.splitMass, p.splitMass-p.lowMass
		if downward {
			farMass, nearMass = nearMass, farMass
		}
		logit := int32(0)
		if farMass+nearMass > 2 { // otherwise the value is where this predictor expects none
			logit = logs.logOdds(farMass, nearMass)
		}
		mixer.Predict(p.input, logit)
		uninformed = uninformed && logit < 41 && logit > -41
	}
	return uninformed
}

// restrict restricts the masses of all predictors to the outcome of the last decision: far means
// that the distance is at least the last split.
func (n *numberCoder) restrict(far bool) {
	above, predictors := far == (n.direction > 0), n.predictors
	for k := range predictors {
		if p := &predictors[k]; above {
			p.lowMass = p.splitMass
		} else {
			p.highMass = p.splitMass
		}
	}
}

// learnErrors adds the error of each predictor to its distribution: the difference between the value
// of index i and the predictor's nearest point.
func (n *numberCoder) learnErrors(i int64) {
	value := (n.grid.lowerBound(i) + n.grid.lowerBound(i+1)) / 2 // the middle of the values that round to index i
	for k := range n.predictors {
		p := &n.predictors[k]
		err := value - p.points[0]
		for _, point := range p.points[1:p.nPoints] {
			if abs(value-point) < abs(err) {
				err = value - point
			}
		}
		p.errors.add(err, n.resolution)
	}
}

// An errorDist is a distribution of prediction errors: a histogram of their magnitudes in half
// octaves, and the share of positive ones. Model files hold the fields in this order.
type errorDist struct {
	Count [errorBins]uint16 // bin 0: errors below the resolution; bin n: from 2^((n-1)/2) times the resolution
	Above uint16            // share of positive errors among those beyond bin 0, of 65536
	Total uint16            // sum of Count
}

const (
	errorBins      = 62      // number of bins, each half an octave: errors up to 2^30 times the resolution
	errorIncrement = 32      // the sum of counts that one error adds; more than 1, so that it can be split between bins
	maxTotal       = 1 << 13 // at this sum all counts are halved, so that old errors lose weight
)

// newErrorDist returns the initial distribution: all magnitudes are possible, small errors are
// likelier.
func newErrorDist() (e errorDist) {
	rangecoder.Fill(e.Count[:], 1)
	e.Count[0] = 8
	e.Total = errorBins + 7 // the sum of the counts
	e.Above = 1 << 15       // half of the errors are above 0
	return e
}

// add counts an error, given in fixed point. Errors below 2^resolution count in bin 0. Of other
// errors, a sixth of the count goes to each neighbouring bin, which smooths the histogram.
func (e *errorDist) add(err int64, resolution int) {
	bin := 0
	if m := uint64(abs(err)); m>>uint(resolution) != 0 {
		bin = min(halfOctaves(m)-2*resolution+1, errorBins-1)
	}
	if bin == 0 {
		e.Count[0] += errorIncrement
	} else {
		e.Count[bin] += errorIncrement - 2*(errorIncrement/6)
		e.Count[bin-1] += errorIncrement / 6
		e.Count[min(bin+1, errorBins-1)] += errorIncrement / 6
		if err > 0 { // a moving average over about 32 errors
			e.Above += (1<<16 - 1 - e.Above) >> 5
		} else {
			e.Above -= e.Above >> 5
		}
	}
	e.Total += errorIncrement
	if e.Total < maxTotal {
		return
	}
	e.Total = 0
	for i, c := range e.Count {
		e.Count[i] = max(c-c/2, 1) // halved, rounded up
		e.Total += e.Count[i]
	}
}

// A predictor predicts a number by a probability distribution: up to maxPoints points, each
// surrounded by the distribution of the errors that this predictor made before. It predicts a
// binary decision by the ratio of the masses of both outcomes.
type predictor struct {
	points  [maxPoints]int64  // predicted values in fixed point
	weights [maxPoints]uint32 // weights of the points, of 256; unused for one point
	nPoints int
	input   int // index of its input to the mixer; distinct among the predictors of a number
	errors  *errorDist

	// The distribution of errors, scaled to a sum of nearly scaledTotal; see prepare.
	sum           [errorBins + 1]uint32 // cumulative: mass of the bins below each bin
	zeroMass      uint32                // mass of bin 0
	negativeMass  uint32                // mass of negative errors beyond bin 0
	positiveShare uint64                // share of positive errors among those beyond bin 0, of 65536

	// Masses while a number is coded: the mass of the distribution below a value.
	lowMass, highMass int64 // below the lower and the upper bound of the values that are still possible
	splitMass         int64 // below the split of the current decision
	guessEndMass      int64 // below the upper bound of the first guess
}

const (
	scaledTotal = 1 << 24
	maxPoints   = 4
)

// A predictorList holds the predictors of a number.
type predictorList struct {
	all        [rangecoder.MaxPredictors]predictor
	n          int
	errors     []errorDist // all distributions; the method add selects one by hash
	errorShift uint        // shifts a 32-bit hash to an index of errors
	key        uint32      // identifies the field, the class and whether the row is new; selects distributions
	period     int64       // values wrap at it; 0 if they do not
}

func (l *predictorList) list() []predictor { return l.all[:l.n] }

// add adds a predictor with one point: the expected value, in the fixed point of the field. The predictor's
// error distribution is selected by a hash of the list's key, input and context. input is the index of the
// mixer input that the predictor supplies.
func (l *predictorList) add(input int, context uint32, expected int64) *predictor {
	p := &l.all[l.n]
	l.n++
	p.input, p.nPoints = input, 1
	p.points[0] = min(max(expected, -maxPrediction), maxPrediction)
	p.errors = &l.errors[rangecoder.Hash(l.key|uint32(input), context, 3, 0)>>(l.errorShift&31)]
	return p
}

// addPoint adds a predictor of the expected value. If values wrap, the predictor has a second point one period
// away, with weight 24/256, because the value may have wrapped. For the parameters see add.
func (l *predictorList) addPoint(input int, context uint32, expected int64) {
	p := l.add(input, context, expected)
	if l.period == 0 {
		return
	}
	p.nPoints = 2
	p.points[1] = p.points[0] - l.period
	if expected < 0 {
		p.points[1] = p.points[0] + l.period
	}
	p.weights[0], p.weights[1] = 232, 24
}

// prepare scales the counts of the error distribution to a total of at most scaledTotal, and sets lowMass and
// highMass to the bounds 0 and total, because all values are possible at first.
func (p *predictor) prepare() {
	scale := uint32(scaledTotal) / uint32(p.errors.Total)
	sum := uint32(0)
	for i, c := range p.errors.Count {
		p.sum[i] = sum
		sum += uint32(c) * scale
	}
	p.sum[errorBins] = sum
	p.zeroMass = p.sum[1]
	p.positiveShare = uint64(p.errors.Above)
	p.negativeMass = uint32(uint64(sum-p.zeroMass) * (1<<16 - p.positiveShare) >> 16)
	p.lowMass, p.highMass = 0, int64(sum)
}

// massBelow returns the mass of the predictor's distribution below value v, which is in fixed point. Errors
// below 2^resolution are not distinguished.
func (p *predictor) massBelow(v int64, resolution int) int64 {
	if p.nPoints == 1 {
		return p.errorMassBelow(v-p.points[0], resolution)
	}
	sum := int64(0)
	for i := range p.nPoints {
		sum += p.errorMassBelow(v-p.points[i], resolution) * int64(p.weights[i])
	}
	return sum >> 8
}

// errorMassBelow returns the mass of errors below v, which is in fixed point; errors below 2^resolution are
// in bin 0. Within a bin, the mass is interpolated linearly.
func (p *predictor) errorMassBelow(v int64, resolution int) int64 {
	negative := v >> 63                     // all ones or zero
	size := uint64(v ^ negative - negative) // |v|
	if size>>uint(resolution) == 0 {
		return int64(p.negativeMass) + (int64(p.zeroMass)*(v+1<<uint(resolution)))>>uint(resolution+1)
	}
	n := bits.Len64(size) - 1 // the octave: size is in [2^n, 2^(n+1))
	top := size << uint(63-n) // size within its octave: 1 to 2 in units of 2^-63
	bin := 2*(n-resolution) + 1
	// Without branches, because processors cannot predict the half of an octave and the sign.
	// A half octave begins at 1 or at sqrt 2. The slope is about 65536 divided by its length. It need not be
	// exact, because min caps the fraction when the mass is interpolated.
	begin, slope := uint64(1<<63), uint64(158217) // 65536/(sqrt 2-1) = 158218
	_, below := bits.Sub64(top, rootTwo, 0)
	upper := below - 1 // all ones in the upper half of the octave, zero in the lower half
	begin += upper & (rootTwo - 1<<63)
	slope -= upper & (158217 - 111893) // 65536/(2-sqrt 2) = 111885
	bin += int(upper & 1)
	fraction := (top - begin) >> 32 * slope >> 31 // position of size in its half octave, in units of 1/65536
	var sideMass uint64                           // mass of both signs beyond bin 0 and nearer to 0 than v
	if bin >= errorBins {
		sideMass = uint64(p.sum[errorBins] - p.zeroMass)
	} else {
		sideMass = uint64(p.sum[bin]-p.zeroMass) + (uint64(p.sum[bin+1]-p.sum[bin])*min(fraction, 1<<16))>>16
	}
	// The share of the sign of v: positiveShare, or 65536 minus it.
	share := p.positiveShare ^ uint64(negative) + uint64(negative)&(1<<16+1)
	return int64(p.negativeMass) + int64(p.zeroMass)&^negative + (int64(sideMass*share>>16) ^ negative - negative)
}

// logOdds returns ln(mass1/mass0) in units of 1/2048: the logit of a decision whose outcomes 1 and
// 0 have these masses. It is limited to maxLogOdds, just above rangecoder.MaxStretch.
func (l *logarithms) logOdds(mass1, mass0 int64) int32 {
	return min(max(l.ln(mass1)-l.ln(mass0), -maxLogOdds), maxLogOdds)
}

const maxLogOdds = 23000 // odds of about 75,000 to 1

// ln returns ln(v+1) in units of 1/2048; 0 for negative v.
func (l *logarithms) ln(v int64) int32 {
	u := uint64(max(v, 0)) + 1
	n := bits.Len64(u) - 1
	return l[u<<uint(63-n)>>(63-logBits)&(1<<logBits-1)] + int32(n*90852>>6) // n*ln(2): 90852 is 2048*64*ln(2)
}

const logBits = 8

// A logarithms table holds ln(1 + (i+1/2)/256) in units of 1/2048, by i.
type logarithms [1 << logBits]int32

// logTable returns the table of logarithms, which is computed once.
var logTable = sync.OnceValue(func() *logarithms {
	t := new(logarithms)
	for i := range t {
		v := uint32(1<<(logBits+1) + 2*i + 1)
		log2 := rangecoder.Log2(v) - (logBits+1)<<16 // binary logarithm in units of 1/65536
		t[i] = int32(log2 * 1420 >> 16)              // 1420 is 2048*ln(2)
	}
	return t
})
