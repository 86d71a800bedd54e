package datagram

import (
	"math"
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// A field is a number of up to 32 bits, in consecutive units, with up to two predictors. Training
// measured the distribution of each predictor's residual, the value minus the prediction: a histogram
// over buckets that are wider the larger the residual is. The distribution depends on a class: see
// fieldCoder.beginField.
type field struct {
	bits       uint8                    // number of bits
	nUnits     uint8                    // of 8 bits, the highest first; the first unit may have fewer
	predictors [maxPredictors]predictor // the second equals the first if there is only one

	// bucketCost holds the cost of each bucket in 1/8 bit, for residuals of 0 and more, and for
	// those below 0. It is stored in the model file.
	bucketCost [maxPredictors][nClasses][2][nBuckets]uint8
	// massBelow holds the sums of the probabilities of the buckets before each bucket, in
	// 1/totalMass. It is computed from bucketCost.
	massBelow [maxPredictors][nClasses][2][nBuckets + 1]uint32
}

// predictorCount returns the number of different predictors. A second predictor that equals the first
// stands for none.
func (f *field) predictorCount() int {
	if f.predictors[1] == f.predictors[0] {
		return 1
	}
	return maxPredictors
}

const (
	nBuckets      = 128 // four for each power of two below 2^32
	nClasses      = 4   // see residualClass
	maxPredictors = 2
	totalMass     = 1 << 19 // sum of the probabilities of a residual's distribution
)

// findBucket returns the index of the bucket that contains the given distance of a value from its
// prediction; the smallest distance in the bucket; and the binary logarithm of the bucket's width.
// Distances below 4 have buckets of their own. From 4 on, the distances between two powers of two
// are divided into four buckets of equal width.
func findBucket(distance uint32) (index int, start uint32, widthLog2 uint) {
	if distance < 4 {
		return int(distance), distance, 0
	}
	exponent := uint(bits.Len32(distance)) - 1
	quarter := distance >> (exponent - 2) & 3
	return int(4*(exponent-1)) + int(quarter), (4 + quarter) << (exponent - 2), exponent - 2
}

// buildMass computes f.massBelow from f.bucketCost.
func (f *field) buildMass() {
	for predictorIndex := range f.predictorCount() {
		for class := range f.bucketCost[predictorIndex] {
			buildMass(&f.massBelow[predictorIndex][class], &f.bucketCost[predictorIndex][class])
		}
	}
}

// buildMass computes the cumulative probabilities of one distribution from the costs of its buckets.
// Index 0 of both arguments has the residuals of 0 and more, index 1 those below 0.
func buildMass(massBelow *[2][nBuckets + 1]uint32, costs *[2][nBuckets]uint8) {
	sum := uint64(1) // a divisor, so it must not be 0
	for side := range costs {
		for _, cost := range costs[side] {
			sum += costToMass(cost)
		}
	}
	for side := range costs {
		mass := uint64(0)
		for i, cost := range costs[side] {
			massBelow[side][i] = uint32(mass * totalMass / sum)
			mass += costToMass(cost)
		}
		massBelow[side][nBuckets] = uint32(mass * totalMass / sum)
	}
}

// clearUnusedBuckets sets the highest cost for the buckets whose residuals are too large for the bits
// of the field. It returns the number of the other buckets, which precede them.
func (f *field) clearUnusedBuckets(costs *[nBuckets]uint8) int {
	// Each bit of a distance adds four buckets at most: see findBucket.
	used := 4 * int(f.bits)
	for i := used; i < nBuckets; i++ {
		costs[i] = 255
	}
	return used
}

// costToMass returns the relative probability of a bucket with a cost in 1/8 bit: 2^(32-cost/8).
func costToMass(cost uint8) uint64 {
	// 2^(32-i/8) for i from 0 to 7
	eighths := [8]uint64{1 << 32, 3938502375, 3611622602, 3311872529, 3037000499, 2784941738, 2553802833, 2341847524}
	return eighths[cost&7] >> (cost >> 3)
}

// fractionToCost returns the cost of the probability part/whole in 1/8 bit, -8*log2(part/whole), rounded
// and limited to 255.
func fractionToCost(part, whole int64) uint8 {
	// p is in 2^-30. rangecoder.Log2 returns 1/65536 bit; a shift by 13 makes it 1/8 bit.
	p := uint32(min(max(part<<30/max(whole, 1), 2), 1<<30))
	return uint8(min(max((30*65536-rangecoder.Log2(p)+4096)>>13, 0), 255))
}

// massBelowDistance returns the mass of the distances below distance on one side of the prediction,
// interpolated linearly within a bucket. massBelow is that side of field.massBelow.
func massBelowDistance(massBelow *[nBuckets + 1]uint32, distance uint64) int64 {
	if distance > math.MaxUint32 {
		return int64(massBelow[nBuckets])
	}
	i, start, log := findBucket(uint32(distance))
	mass := int64(massBelow[i])
	return mass + (int64(massBelow[i+1])-mass)*int64(distance-uint64(start))>>log
}

// massBelowResidual returns the mass of the residuals below r. massBelow has the sides 0 and more, and
// below 0. Residuals have as many bits as the field, and half is half of their range, so they are
// from -half to half-1. An r above half stands for an interval that wraps around to -half: the result
// then is the mass of all residuals plus that of the residuals below r-2*half.
func massBelowResidual(massBelow *[2][nBuckets + 1]uint32, r, half int64) int64 {
	if r > half {
		return massBelowResidual(massBelow, half, half) + massBelowResidual(massBelow, r-2*half, half) -
			massBelowResidual(massBelow, -half, half)
	}
	if r >= 0 {
		return int64(massBelow[1][nBuckets]) + massBelowDistance(&massBelow[0], uint64(r))
	}
	return int64(massBelow[1][nBuckets]) - massBelowDistance(&massBelow[1], uint64(-r))
}

// readNumber returns the number of the given bits whose first, highest unit is units[first]. Units
// beyond the end of the message are 0.
func (m message) readNumber(first int, bits uint8) int64 {
	var v int64
	for n := int(bits); n > 0; n -= 8 {
		v = v<<8 | int64(m.unitAt(first))
		first++
	}
	return v & (1<<bits - 1)
}

// Formats of a time in four bytes of a message.
const (
	clockFloatBE = iota // IEEE 754 single precision, seconds, big-endian
	clockIntBE          // unsigned integer in any unit of time, big-endian
	clockFloatLE        // seconds, little-endian
	clockIntLE
	nClockFormats
)

// decodeClock returns the time in the four bytes b, read as a big-endian number: an integer unchanged, a
// float in 1/65536 s. A float out of range is 0.
func decodeClock(b uint32, format uint8) uint32 {
	if format >= clockFloatLE {
		b = bits.ReverseBytes32(b)
	}
	if format&1 == clockIntBE { // integers have the odd formats
		return b
	}
	// The value is mantissa x 2^(exponent-150), because the exponent has a bias of 127 and the mantissa 23
	// fraction bits. The result has 16 fraction bits.
	mantissa := uint64(b&(1<<23-1) | 1<<23)
	shift := int(b>>23&255) - 150 + 16
	switch {
	case shift > 31 || shift < -31:
		return 0
	case shift >= 0:
		mantissa <<= shift
	default:
		mantissa >>= -shift
	}
	if b>>31 != 0 {
		mantissa = -mantissa
	}
	return uint32(mantissa)
}

// Methods of prediction. The reference is the latest message of the same kind and key; the elapsed
// time is that between the clocks of the reference and of the current message.
const (
	predictSameKind = iota // the value in the latest message of the kind, with any key
	predictRef             // the value in the reference
	predictLine            // the straight line through the reference and the message before it

	predictRate // the reference's value + gain x rate x elapsed time: a position that moves
	nMethods
)

// A predictor predicts a field by one method. Only predictRate uses rate and gain, which are zero otherwise.
type predictor struct {
	method uint8   // predictSameKind and so on
	rate   operand // a field with a rate of change, such as a component of a velocity
	gain   factor  // factor from rate x elapsed time to the change of the field
}

// An operand locates another field: its first unit and its number of bits.
type operand struct{ first, bits uint8 }

// A factor is the fraction numerator / 1<<shift.
type factor struct {
	numerator int16
	shift     uint8
}

// scale returns f x rate x time, rounded. The rate has at most 24 bits and the time 22, so that the
// product fits into 64 bits.
func (f factor) scale(rate, time int64) int64 {
	// 1<<f.shift>>1 is the half that rounds; it is 0 if shift is 0.
	return (int64(f.numerator)*(rate*time) + 1<<f.shift>>1) >> f.shift
}

// predictionInput holds what a prediction may use. Messages that are missing have no units.
type predictionInput struct {
	clock                  uint32  // time in the current message's datagram
	ref, prevRef, sameKind message // see parser
}

// readSigned returns the operand's value in m as a signed number, 0 if the operand is not set.
func (o operand) readSigned(m message) int64 {
	if o.bits == 0 {
		return 0
	}
	return m.readNumber(int(o.first), o.bits) << (64 - o.bits) >> (64 - o.bits)
}

// predict returns the prediction for a field of the given bits that begins at unit first. Only the
// lowest bits of the result are defined.
func (p *predictor) predict(bits uint8, first int, in *predictionInput) int64 {
	switch p.method {
	case predictSameKind:
		return in.sameKind.readNumber(first, bits)
	case predictLine:
		return 2*in.ref.readNumber(first, bits) - in.prevRef.readNumber(first, bits)
	case predictRate:
		return in.ref.readNumber(first, bits) + p.gain.scale(p.rate.readSigned(in.ref), elapsed(in.clock, in.ref.clock))
	}
	return in.ref.readNumber(first, bits) // predictRef
}

// elapsed returns the time from then to now, which is negative if then is later. It is limited to ±2^22,
// which factor.scale requires. Clocks wrap around.
func elapsed(now, then uint32) int64 {
	return min(max(int64(int32(now-then)), -1<<22), 1<<22)
}

// A fieldCoder turns the predictions of a field into predictions of its bits. The bits that are known
// restrict the field's value to an interval. The next bit halves the interval; the probability of each
// half follows from the distribution of the residual.
type fieldCoder struct {
	active       bool                    // the current unit belongs to a field with a prediction
	field        *field                  // nil if none, or if its predictors have no reference
	unitIndex    uint8                   // of the current unit in the field
	prefix       int64                   // the complete units of the value; the bits of the other units are 0
	lastResidual int64                   // of the first predictor, in the last complete field
	intervalSize int64                   // number of values that are possible after the bits so far
	nPredictors  int                     // number of predictors that can be used
	estimates    [maxPredictors]estimate // the first nPredictors are used
}

// An estimate is one prediction of the current field and the interval of residuals that the bits so
// far leave possible.
type estimate struct {
	prediction     int64                    // of the field's value
	class          int                      // class of the residual's distribution, see residualClass
	massBelow      *[2][nBuckets + 1]uint32 // the distribution
	start          int64                    // smallest residual of the interval
	low, mid, high int64                    // mass of the residuals below its start, middle and end
}

// beginUnit prepares for the next unit. It predicts the field if the unit is the field's first. The
// field coder is not active if the unit belongs to no field, if the predictors need a reference that
// is missing, or if the field's first unit was not predicted.
func (s *fieldCoder) beginUnit(p *parser) {
	s.active = false
	unit := p.unitIndex()
	if unit >= unitsPerKind { // later units belong to no field
		return
	}
	um := &p.model.units[p.modelIndex()]
	if um.field < 0 {
		return
	}
	f := &p.model.fields[um.field]
	if um.fieldUnit == 0 {
		if p.ref.units == nil {
			s.field = nil // also not active for the other units of the field
			return
		}
		s.beginField(f, unit, &predictionInput{p.clock, p.ref, p.prevRef, p.sameKind})
	} else {
		if s.field != f || s.unitIndex+1 != um.fieldUnit {
			s.field = nil
			return
		}
		// p.sources[0] is the preceding unit.
		s.prefix |= int64(p.sources[0]) << (8 * (f.nUnits - um.fieldUnit))
	}
	s.unitIndex, s.active = um.fieldUnit, true
}

// beginField predicts field f, which begins at unit first. The distribution of the first residual is
// selected by the size of the last field's residual, because errors come in series. That of the second
// residual is selected by the difference of the two predictions.
func (s *fieldCoder) beginField(f *field, first int, in *predictionInput) {
	s.field, s.prefix, s.intervalSize, s.nPredictors = f, 0, 1<<f.bits, f.predictorCount()
	for i := range s.nPredictors {
		est := &s.estimates[i]
		est.prediction = f.predictors[i].predict(f.bits, first, in) & (s.intervalSize - 1)
		if i == 0 {
			est.class = residualClass(s.lastResidual)
		} else {
			est.class = residualClass(wrapResidual(s.estimates[0].prediction-est.prediction, s.intervalSize/2))
		}
		est.massBelow = &f.massBelow[i][est.class]
		est.start = wrapResidual(-est.prediction, s.intervalSize/2)
		est.low = massBelowResidual(est.massBelow, est.start, s.intervalSize/2)
		est.high = massBelowResidual(est.massBelow, est.start+s.intervalSize, s.intervalSize/2)
	}
}

// wrapResidual returns r modulo 2*half, in the range from -half to half-1.
func wrapResidual(r, half int64) int64 { return (r+half)&(2*half-1) - half }

// endUnit ends a unit with the value u. After the last unit of a predicted field, it sets lastResidual.
func (s *fieldCoder) endUnit(u byte) {
	if s.active && s.unitIndex == s.field.nUnits-1 {
		s.lastResidual = wrapResidual((s.prefix|int64(u))-s.estimates[0].prediction, 1<<(s.field.bits-1))
	}
}

// lastResidualCode returns the size of lastResidual as a context: its number of bits, plus 128 if it is
// negative.
func (s *fieldCoder) lastResidualCode() byte {
	n := byte(bits.Len64(uint64(max(s.lastResidual, -s.lastResidual))))
	if s.lastResidual < 0 {
		n |= 128
	}
	return n
}

// residualClass returns the class of a residual or of a difference of predictions by its size: from 0
// (at most 1 off) to 3 (400 or more off, so that the prediction hardly helps).
func residualClass(r int64) int {
	r = max(r, -r)
	switch {
	case r < 2:
		return 0
	case r < 24:
		return 1
	case r < 400:
		return 2
	}
	return 3
}

// predictedUnit returns the value that the current unit has in the field's first prediction, 0 if the
// field coder is not active.
func (s *fieldCoder) predictedUnit() byte {
	if !s.active {
		return 0
	}
	return byte(s.estimates[0].prediction >> (8 * (s.field.nUnits - 1 - s.unitIndex)))
}

// prefixError returns the difference of the field's complete units from those of the first prediction,
// as a number limited to ±100, for a context. It is 0 in the first unit of a field and without a prediction.
func (s *fieldCoder) prefixError() byte {
	if !s.active || s.unitIndex == 0 {
		return 0
	}
	shift := 8 * (s.field.nUnits - s.unitIndex)
	return byte(min(max(s.prefix>>shift-s.estimates[0].prediction>>shift, -100), 100))
}

// splitIntervals computes the middle of each interval for the next bit, and returns the logits of a 1
// that follow from the first prediction (a) and the second (b), in 1/16 nat. b is 0 if there is only
// one prediction. observeBit then selects a half.
func (s *fieldCoder) splitIntervals(t *tables) (a, b int32) {
	half := int64(1) << (s.field.bits - 1)
	a = s.estimates[0].splitInterval(t, s.intervalSize/2, half)
	if s.nPredictors > 1 {
		b = s.estimates[1].splitInterval(t, s.intervalSize/2, half)
	}
	return a, b
}

// splitInterval sets o.mid. size is half of the size of the interval; half is half of the field's
// range. It returns the logit of the upper half in 1/16 nat: 0 if the interval has next to no mass.
func (o *estimate) splitInterval(t *tables, size, half int64) int32 {
	o.mid = massBelowResidual(o.massBelow, o.start+size, half)
	// The upper limit is above totalMass, so that only an invalid total exceeds it.
	if total := o.high - o.low; total < 4 || total > 1<<21 {
		return 0
	}
	return min(max(t.lnMass(uint32(o.high-o.mid))-t.lnMass(uint32(o.mid-o.low)), -127), 127)
}

// skipBits ends a unit with the value u and the given number of bits, if these were not passed to
// observeBit one by one: it narrows the intervals by all of them.
func (s *fieldCoder) skipBits(u byte, bits uint) {
	if !s.active {
		return
	}
	s.intervalSize >>= bits
	for i := range s.nPredictors {
		est := &s.estimates[i]
		est.start += int64(u) * s.intervalSize
		est.low = massBelowResidual(est.massBelow, est.start, 1<<(s.field.bits-1))
		est.high = massBelowResidual(est.massBelow, est.start+s.intervalSize, 1<<(s.field.bits-1))
	}
	s.endUnit(u)
}

// observeBit narrows each interval to the half that bit selects: the upper half if it is 1. It must
// follow splitIntervals, which computes the mass below the middle.
func (s *fieldCoder) observeBit(bit int) {
	s.intervalSize /= 2
	for i := range s.nPredictors {
		est := &s.estimates[i]
		if bit != 0 {
			est.start += s.intervalSize
			est.low = est.mid
		} else {
			est.high = est.mid
		}
	}
}
