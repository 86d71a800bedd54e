package datagram

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A clockCandidate is a position in messages of a kind where a time may be.
type clockCandidate struct {
	offset int8  // index of the first of four bytes in the message
	format uint8 // clockFloatBE and so on
}

// findClocks returns up to 8 positions and formats at which a time may be in the messages of list: at least
// half of the messages have the position, and in 95 % of these the number there is larger than in the
// reference, by less than 2^24.
func findClocks(list []comparedMessage) (found []clockCandidate) {
	for format := range uint8(nClockFormats) {
		for offset := range unitsPerKind - 3 { // a time has four bytes
			increasing, n := 0, 0 // n messages and their references have the position
			for i := range list {
				ref, raw := list[i].ref.units, list[i].raw
				if len(ref) < offset+4 || len(raw) < offset+4 {
					continue
				}
				n++
				now, then := binary.BigEndian.Uint32(raw[offset:]), binary.BigEndian.Uint32(ref[offset:])
				step := int32(decodeClock(now, format) - decodeClock(then, format))
				if step > 0 && step < 1<<24 {
					increasing++
				}
			}
			if n*2 >= len(list) && increasing*100 >= n*95 {
				found = append(found, clockCandidate{int8(offset), format})
			}
		}
	}
	return found[:min(len(found), 8)]
}

// findFields makes fields of the pieces that can be predicted, with the predictors whose residuals cost
// least. The clock of each kind is the candidate with the least total cost, because rates depend on
// clocks.
func (t *trainer) findFields() {
	leastCost, fields := t.fitFields()
	for i, list := range t.clocks {
		k := &t.model.kinds[i]
		chosen := clockCandidate{-1, 0}
		for _, c := range list {
			k.clockByte, k.clockFormat = c.offset, c.format
			if cost, candidateFields := t.fitFields(); cost < leastCost {
				leastCost, fields, chosen = cost, candidateFields, c
			}
		}
		k.clockByte, k.clockFormat = chosen.offset, chosen.format
	}
	for _, f := range fields {
		first := f.kind*unitsPerKind + f.first
		for i := range f.nUnits() {
			t.model.units[first+i].field = int16(len(t.model.fields))
			t.model.units[first+i].fieldUnit = uint8(i)
		}
		t.model.fields = append(t.model.fields, field{bits: f.bits, nUnits: uint8(f.nUnits()), predictors: f.predictors})
	}
	t.learnDistributions()
}

// maxFitMessages is the maximum number of messages of a kind on which layouts and predictors are compared.
// It bounds the time of training.
const maxFitMessages = 1200

// fitFields finds the best predictors with the current clocks. It returns the total cost of the
// residuals in 1/1024 bit, and the fields that prediction makes cheaper. Kinds with fewer than minMessages
// messages get no fields.
func (t *trainer) fitFields() (total int64, out []fieldFit) {
	for kind, list := range t.collectMessages(t.samples) {
		if t.model.acked { // few messages have no reference; they are left out
			list = slices.DeleteFunc(list, func(c comparedMessage) bool { return c.ref.units == nil })
		}
		if len(list) < minMessages {
			continue
		}
		x := fitter{messages: sampleEvenly(list, maxFitMessages)}
		for firstUnit, p := range t.piecesByUnit(kind) {
			if p.bits <= 32 && firstUnit+(p.bits+7)/8 <= unitsPerKind {
				x.fields = append(x.fields, &fieldFit{kind: kind, first: firstUnit, bits: uint8(p.bits)})
			}
		}
		slices.SortFunc(x.fields, func(a, b *fieldFit) int { return a.first - b.first })
		total += x.fit(int(t.model.kinds[kind].keyUnit))
		for _, f := range x.fields {
			if f.useful {
				out = append(out, *f)
			}
		}
	}
	return total, out
}

// piecesByUnit returns the pieces of a kind by the index of their first unit. In a bit-packed record,
// the pieces follow one another, each in units of its own. In other messages a unit is a byte.
func (t *trainer) piecesByUnit(kind int) map[int]piece {
	out := map[int]piece{}
	k := &t.model.kinds[kind]
	bitPacked := len(k.groups) == 1 && int(k.groups[0].span) == int(k.size) && k.size > 0
	unit := 0
	for _, p := range t.pieces[kind] {
		if bitPacked {
			out[unit] = p
			unit += (p.bits + 7) / 8
		} else {
			out[p.firstBit/8] = p
		}
	}
	return out
}

// fixedRatio returns a/b in units of 2^-40. The integer part is limited to ±2^20. b must not be 0.
func fixedRatio(a, b int64) int64 {
	return min(max(a/b, -1<<20), 1<<20)<<40 + fixedFraction(a%b, b)
}

// fixedFraction returns a/b in units of 2^-40, rounded towards zero. It requires |a| < |b| < 2^62.
func fixedFraction(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(max(a, -a)), 1<<40) // the product in 128 bits
	q, _ := bits.Div64(hi, lo, uint64(max(b, -b)))
	if (a < 0) != (b < 0) {
		return -int64(q)
	}
	return int64(q)
}

// halfSampleMode estimates the mode of sorted numbers (Robertson and Cryer, 1974): it takes the shortest
// interval with half of the numbers, and repeats that within the interval. Outliers, such as those of
// turns, would move a mean or a median.
func halfSampleMode(sorted []int64) int64 {
	for len(sorted) > 8 {
		half, best := (len(sorted)+1)/2, 0
		for i := range len(sorted) - half + 1 {
			if sorted[i+half-1]-sorted[i] < sorted[best+half-1]-sorted[best] {
				best = i
			}
		}
		sorted = sorted[best : best+half]
	}
	return sorted[len(sorted)/2]
}

// A fieldFit is a piece that may become a field, with the predictors that were tried for it.
type fieldFit struct {
	kind, first int                      // kind of message, and index of the first unit in it
	bits        uint8                    // number of bits
	trials      []trial                  // predictors that were tried, with their costs
	predictors  [maxPredictors]predictor // the cheapest ones, set by choosePredictors
	useful      bool                     // the predictors save enough to make the piece a field
}

// nUnits returns the number of units of the field, in each of which there are at most 8 bits.
func (f *fieldFit) nUnits() int { return int(f.bits+7) / 8 }

// A trial is a predictor and the cost of its residual in each message, in 1/1024 bit.
type trial struct {
	predictor predictor
	cost      []int32 // cost of the residual in each message, in 1/1024 bit
	sum       int64   // sum of cost
}

// A fitter finds predictors for the fields of one kind of messages.
type fitter struct {
	messages []comparedMessage // samples of the kind
	fields   []*fieldFit       // pieces of the kind that may become fields
}

// canPredict reports whether message c and its reference contain the field.
func (f *fieldFit) canPredict(c *comparedMessage) bool {
	return min(len(c.units), len(c.ref.units)) >= f.first+f.nUnits()
}

// tryPredictor adds a trial of a predictor to the field and returns its total cost in 1/1024 bit. Where the
// predictor cannot be used, a value costs all its bits.
func (x *fitter) tryPredictor(f *fieldFit, p predictor) int64 {
	tried := trial{predictor: p, cost: make([]int32, len(x.messages))}
	cost := newResidualCost(int(f.bits))
	for i := range x.messages {
		m := &x.messages[i]
		if !f.canPredict(m) {
			tried.cost[i] = int32(f.bits) << 10
		} else {
			before := cost.sum
			cost.add(message{units: m.units}.readNumber(f.first, f.bits) - p.predict(f.bits, f.first, &predictionInput{m.clock, m.ref, m.prevRef, m.sameKind}))
			tried.cost[i] = int32(cost.sum - before)
		}
		tried.sum += int64(tried.cost[i])
	}
	f.trials = append(f.trials, tried)
	return tried.sum
}

// cheapest returns the trial with the least cost.
func (f *fieldFit) cheapest() *trial {
	best := &f.trials[0]
	for i := range f.trials {
		if f.trials[i].sum < best.sum {
			best = &f.trials[i]
		}
	}
	return best
}

// fit chooses the predictors of all fields and returns their total cost in 1/1024 bit. keyUnit is the index
// of the key, -1 if none. Fields up to the key can only be predicted by the latest message of the kind,
// because the reference is found by the key.
func (x *fitter) fit(keyUnit int) (total int64) {
	for _, f := range x.fields {
		x.tryPredictor(f, predictor{method: predictSameKind})
		for method := uint8(predictRef); method < predictRate && f.first > keyUnit; method++ {
			x.tryPredictor(f, predictor{method: method})
		}
		if f.first > keyUnit {
			x.tryRates(f)
		}
	}
	for _, f := range x.fields {
		cost := f.choosePredictors()
		// The first predictor must be usable in 1/10 of the messages, and the cost of the residuals must be
		// 1/16 below that of the plain bits.
		f.useful = 10*x.countPredictable(f) >= len(x.messages) && cost < x.uniformCost(f)/16*15
		total += cost
		f.trials = nil
	}
	return total
}

// uniformCost returns the cost of the field in all messages if its values were equally likely, in 1/1024 bit.
func (x *fitter) uniformCost(f *fieldFit) int64 { return int64(len(x.messages)) * int64(f.bits) << 10 }

// countPredictable returns the number of messages in which the field's first predictor can be used.
func (x *fitter) countPredictable(f *fieldFit) (n int) {
	for i := range x.messages {
		if f.canPredict(&x.messages[i]) {
			n++
		}
	}
	return n
}

// choosePredictors sets the two predictors of the field. The first is the cheapest over all messages. The second
// is the one that saves most if each message uses the cheaper of the two; it equals the first if it would save
// less than 1/32 of the cost. The result is the cost with this choice for each message, in 1/1024 bit.
func (f *fieldFit) choosePredictors() int64 {
	first := f.cheapest()
	f.predictors = [maxPredictors]predictor{first.predictor, first.predictor}
	least := first.sum
	for i := range f.trials {
		bothSum := int64(0)
		for j, c := range f.trials[i].cost {
			bothSum += int64(min(c, first.cost[j]))
		}
		// The 1/32 is required only once: a better second predictor than one that saves it needs no margin.
		if bothSum < least-first.sum/32 || bothSum < least && f.predictors[1] != f.predictors[0] {
			least, f.predictors[1] = bothSum, f.trials[i].predictor
		}
	}
	return least
}

// tryRates tries each field as the rate of change of f. It adds a trial of the best one if that costs at
// least 1 % less than the cheapest trial before.
func (x *fitter) tryRates(f *fieldFit) {
	first, least := len(f.trials), f.cheapest().sum // f.trials[first] will be the best one
	for _, rate := range x.fields {
		candidate := predictor{method: predictRate, rate: operand{uint8(rate.first), rate.bits}}
		// factor.scale takes at most 24 bits; small rates and fields are not tried.
		if rate.bits > 24 || rate.bits < 4 || f.bits < 6 || !x.fitGain(&candidate, f) {
			continue
		}
		if sum := x.tryPredictor(f, candidate); sum < least/100*99 {
			least, f.trials[first] = sum, f.trials[len(f.trials)-1]
			f.trials = f.trials[:first+1]
		} else {
			f.trials = f.trials[:len(f.trials)-1]
		}
	}
}

// fitGain sets p.gain to the most frequent ratio of the field's change since the reference to rate x
// elapsed time, where the rate is p.rate. It uses the half of the messages in which that product is largest.
// The result is false if no gain was found, or if it is 0.
func (x *fitter) fitGain(p *predictor, f *fieldFit) bool {
	type point struct{ moved, expected int64 } // change of the field; rate x elapsed time
	var points []point
	half := int64(1) << (f.bits - 1)
	for i := range x.messages {
		m := &x.messages[i]
		if !f.canPredict(m) || len(m.ref.units) < int(p.rate.first)+int(p.rate.bits+7)/8 {
			continue
		}
		moved := wrapResidual(message{units: m.units}.readNumber(f.first, f.bits)-m.ref.readNumber(f.first, f.bits), half)
		if expected := p.rate.readSigned(m.ref) * elapsed(m.clock, m.ref.clock); expected != 0 {
			points = append(points, point{moved, expected})
		}
	}
	if len(points) < minMessages {
		return false
	}
	sizes := make([]int64, len(points)) // of the products; with small ones, rounding errors dominate
	for i, pt := range points {
		sizes[i] = max(pt.expected, -pt.expected)
	}
	slices.Sort(sizes)
	middle := sizes[len(sizes)/2]
	var ratios []int64
	for _, pt := range points {
		if max(pt.expected, -pt.expected) >= middle {
			ratios = append(ratios, fixedRatio(pt.moved, pt.expected))
		}
	}
	slices.Sort(ratios)
	gain := halfSampleMode(ratios)
	p.gain.shift = 40 // the fraction bits of fixedRatio; reduced until the numerator fits into 16 bits
	for gain > 1<<15-1 || gain < -1<<15 {
		gain >>= 1
		if p.gain.shift == 0 {
			return false
		}
		p.gain.shift--
	}
	p.gain.numerator = int16(gain)
	return gain != 0
}

// learnDistributions sets the distributions of all fields to the residuals in the samples.
func (t *trainer) learnDistributions() {
	counts := make([][maxPredictors][nClasses][2][nBuckets]int64, len(t.model.fields))
	t.forEachSample(t.samples, func(k *coder, s *sample, acked *ackedLog) {
		if len(s.data) > maxBytes {
			return
		}
		k.parse(s.data, acked, func(v byte, bits uint) {
			p := &k.parser
			p.gatherSources()
			fc := &p.field
			if fc.active && fc.unitIndex == fc.field.nUnits-1 { // the field is complete
				number := fc.prefix | int64(v)
				counted := &counts[t.model.units[p.modelIndex()].field]
				for predictorIndex := range fc.nPredictors {
					side, b, _ := residualBucket(wrapResidual(number-fc.estimates[predictorIndex].prediction, 1<<(fc.field.bits-1)))
					counted[predictorIndex][fc.estimates[predictorIndex].class][side][b]++
				}
			}
			fc.endUnit(v)
		})
	})
	for i := range t.model.fields {
		f := &t.model.fields[i]
		for predictorIndex := range f.predictorCount() {
			learnBucketCosts(&f.bucketCost[predictorIndex], &counts[i][predictorIndex])
			for class := range nClasses {
				for side := range 2 {
					f.clearUnusedBuckets(&f.bucketCost[predictorIndex][class][side])
				}
			}
		}
		f.buildMass()
	}
}

// learnBucketCosts computes the costs of buckets from counts of residuals, by class, side and bucket. Because
// many counts are small, they are smoothed: 8 counts are added to each class, divided among the buckets
// like the residuals of all classes together. In these, each bucket also gets a tenth of the counts of both
// neighbouring buckets.
func learnBucketCosts(costs *[nClasses][2][nBuckets]uint8, counts *[nClasses][2][nBuckets]int64) {
	var pooled [2][nBuckets]int64 // counts of all classes, in 1/50
	total := int64(0)
	for side := range pooled {
		for i := range nBuckets {
			v := int64(1) // no bucket has a probability of 0
			for c := range counts {
				v += 50 * counts[c][side][i]
				if i > 0 && i < nBuckets-1 {
					v += 5 * (counts[c][side][i-1] + counts[c][side][i+1])
				}
			}
			pooled[side][i] = v
			total += v
		}
	}
	for c := range counts {
		var n [2][nBuckets]int64
		sum := int64(0)
		for side := range n {
			for i := range nBuckets {
				n[side][i] = 50*counts[c][side][i] + 400*(pooled[side][i]<<16/total)>>16 // 400/50 = 8 counts
				sum += n[side][i]
			}
		}
		for side := range n {
			for i := range nBuckets {
				costs[c][side][i] = fractionToCost(n[side][i], sum)
			}
		}
	}
}
