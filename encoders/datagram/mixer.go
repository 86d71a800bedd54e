package datagram

import (
	"math/bits"
	"sync"

	"wirelab/encoders/rangecoder"
)

// Inputs of the mixer. The first nContexts are the logits in the slots of the contexts: the unit's
// position alone, then its recipes. Inputs that do not apply to a unit are 0.
const (
	nContexts    = 1 + nRecipes
	inRef        = nContexts + iota - 1 // agreement with the reference's unit
	inSecond                            // agreement with mixer.expected[1]
	inPredictor1                        // logit of the field's first prediction
	inPredictor2                        // logit of the field's second prediction
	inBias
	nInputs
)

// Inputs are in 1/16 nat and fit into int8. Weights are in 1/weightOne. Their products, in 1/65536
// nat, are added and then shifted by weightShift to 1/2048 nat, the unit of rangecoder.Squash.
const (
	weightOne      = 4096
	weightShift    = 5
	biasInput      = 8         // 1/2 nat
	fullTrustLogit = 11 * 2048 // limit of a logit: a probability of 1/60000
	lowTrustLogit  = 2 * 2048  // limit where the model fits badly: a probability of 0.12
)

// A mixer predicts the bits of a unit by logistic mixing: it adds the inputs, which are logits, with
// trained weights. The weights do not adapt.
type mixer struct {
	parser *parser           // position in the datagram, and the messages to compare with
	unit   *unitModel        // model of the current unit
	hashes [nContexts]uint32 // of the contexts of the current unit

	// For the current tree of up to four bits.
	slots   [nContexts]*slot
	weights [nInputs]int32 // of the inputs, for the current tree

	// expected[0] is the unit in the reference. expected[1] is the unit in the field's first
	// prediction; without a prediction, the unit in the latest message of the kind.
	expected    [2]uint32
	hasExpected [2]bool // whether expected has a unit: see begin
	noExpected  bool    // hasExpected is false for both

	// agreement is the index into unitModel.agreeLogits for the unit's first bit: 8 times a number from 0
	// to 7 whose bits are set if the preceding three units equal the reference's.
	agreement int
	maxLogit  int32 // limit of the sum of the inputs: fullTrustLogit or lowTrustLogit
	tables    *tables
}

// begin prepares for the next unit: it computes the contexts and the expected units.
func (x *mixer) begin() {
	p := x.parser
	index := p.modelIndex()
	x.unit = &p.model.units[index]
	p.gatherSources()
	unit := p.unitIndex()
	seed := uint32(index) << 16 // and in the lower bits the number of the context, from 1
	x.hashes[0] = mix32(seed | 1)
	for i := range x.unit.recipes {
		x.hashes[1+i] = x.unit.recipes[i].hash(seed|uint32(2+i), &p.sources)
	}
	x.hasExpected[0], x.expected[0] = unit < len(p.ref.units), uint32(p.sources[srcRef])
	if p.field.active {
		x.hasExpected[1], x.expected[1] = true, uint32(p.sources[srcPredicted])
	} else {
		x.hasExpected[1], x.expected[1] = unit < len(p.sameKind.units), uint32(p.sources[srcSameKind])
	}
	x.noExpected = !x.hasExpected[0] && !x.hasExpected[1]
	x.agreement = int(p.sources[srcAgreement]&7) * 8 // the lowest three bits are for the last three units
}

// hasSteadyFlag reports whether the code of the unit begins with a flag that is 1 if the unit equals
// expected[0]: the reference's unit, or 0 without a reference. Training selects the units with a flag.
func (x *mixer) hasSteadyFlag() bool {
	return x.unit.usuallyRef && x.hasExpected[0] || x.unit.usuallyZero && !x.hasExpected[0]
}

// steadyProb returns the probability, of 65536, that the unit equals expected[0].
func (x *mixer) steadyProb() uint32 {
	logit := x.unit.zeroLogit
	if x.hasExpected[0] {
		logit = int8(x.unit.agreeLogits[0][x.agreement])
	}
	return x.tables.squash(int32(logit)<<12, fullTrustLogit) // from 1/16 nat to 1/65536 nat
}

// excludeSteady removes expected[0] from the expected units, and expected[1] if it is the same. It is
// called after a steady flag of 0: the unit differs from expected[0].
func (x *mixer) excludeSteady() {
	x.hasExpected[1] = x.hasExpected[1] && x.expected[1] != x.expected[0]
	x.hasExpected[0], x.noExpected = false, !x.hasExpected[1]
}

// lowNibbleHash returns the hash of a context for the last four bits of a unit, from the hash for the
// unit. head is a 1 followed by the preceding bits of the unit.
func lowNibbleHash(hash uint32, head uint32) uint32 { return mix32(hash + head*0x9e3779b1) }

// findSlots looks up the slots and weights for the next tree of up to four bits. head holds the bits of the unit
// that precede the tree, after a leading 1. The weights are the sum of two sets: one of the unit, and one selected
// by comparisonFlags and by which contexts have a slot, because the model saw them in training.
func (x *mixer) findSlots(head uint32) {
	found, half := x.comparisonFlags(), 0 // half 0 is the first tree of the unit, 1 that of the last four bits
	for i, h := range x.hashes {
		if head != 1 {
			h, half = lowNibbleHash(h, head), 1
		}
		x.slots[i] = x.parser.model.findSlot(h)
		if x.slots[i] != &emptySlot {
			found |= 1 << i
		}
	}
	unitWeights, foundWeights := &x.unit.weights[half], &x.parser.model.foundWeights[found]
	for i := range x.weights {
		x.weights[i] = int32(unitWeights[i]) + int32(foundWeights[i])
	}
}

// comparisonFlags returns bits 4 and 5 of an index into model.foundWeights. Bit 4 is set if the
// reference has the unit. Bit 5 is set if it does and the preceding unit equals the reference's.
func (x *mixer) comparisonFlags() (flags int) {
	if x.hasExpected[0] {
		flags |= 16
		if x.parser.sources[srcAgreement]&1 != 0 {
			flags |= 32
		}
	}
	return flags
}

// agreementInput returns the input, in 1/16 nat, by which expected[i] predicts the next bit of the unit.
// It is 0 if a preceding bit of the unit differs from the expected one. The unit has the given number of
// bits, of which n are not coded yet; head is a 1 followed by the coded ones.
func (x *mixer) agreementInput(i int, head uint32, bits, n uint) int32 {
	// The masks &15 and &63 change no value; they spare the compiler's checks of shifts and indices.
	expected := x.expected[i] | 1<<(bits&15)
	if !x.hasExpected[i] || expected>>(n&15) != head {
		return 0
	}
	logit, bit := int32(int8(x.unit.agreeLogits[i][(x.agreement+int(bits-n))&63])), int32(expected>>((n-1)&15)&1)
	return logit * (2*bit - 1) // positive if the expected bit is 1
}

// comparisonInputs returns the inputs from inRef to inPredictor2. Training uses it; prob computes the
// same inline.
func (x *mixer) comparisonInputs(head uint32, bits, n uint) (in [inBias - inRef]int32) {
	in[0], in[1] = x.agreementInput(0, head, bits, n), x.agreementInput(1, head, bits, n)
	if s := &x.parser.field; s.active {
		in[2], in[3] = s.splitIntervals(x.tables)
	}
	return in
}

// prob returns the probability that the next bit of a unit is 1, of 65536. The unit has the given number of bits,
// of which n are not coded yet; head is a 1 followed by the coded ones. node, 1 to 15, is the node in the current
// tree of up to four bits: a 1 followed by the coded bits of the tree. findSlots must have been called for the
// tree.
func (x *mixer) prob(head uint32, node uint32, bits, n uint) uint32 {
	node &= 15 // changes no value; spares the checks of indices
	sum := int32(int8(x.slots[0][node]))*x.weights[0] +
		int32(int8(x.slots[1][node]))*x.weights[1] +
		int32(int8(x.slots[2][node]))*x.weights[2] +
		int32(int8(x.slots[3][node]))*x.weights[3] +
		biasInput*x.weights[inBias]
	if !x.noExpected {
		sum += x.agreementInput(0, head, bits, n)*x.weights[inRef] + x.agreementInput(1, head, bits, n)*x.weights[inSecond]
		if s := &x.parser.field; s.active {
			a, b := s.splitIntervals(x.tables)
			sum += a*x.weights[inPredictor1] + b*x.weights[inPredictor2]
		}
	}
	return x.tables.squash(sum, x.maxLogit)
}

// tables are computed on first use and shared by all encoders and decoders.
type tables struct {
	squashTable [1 << 13]uint16               // rangecoder.Squash of logits in steps of 8; coding is 5 % faster with it
	bitCost     [rangecoder.One>>4 + 1]uint16 // -log2 of probabilities in steps of 16, in 1/256 bit, rounded down
	lnTable     [32][32]int16                 // for lnMass: by the number's bits and the five bits below its highest
}

// newTables returns the tables. An entry of squashTable or lnTable is the value for the middle of the
// arguments that share it, an entry of bitCost the least cost of these.
var newTables = sync.OnceValue(func() *tables {
	t := new(tables)
	for i := range t.squashTable {
		t.squashTable[i] = uint16(rangecoder.Squash(int32(8*i + 4 - fullTrustLogit)))
	}
	for i := range t.bitCost {
		t.bitCost[i] = uint16((20<<16 - rangecoder.Log2(uint32(min(i<<4+15, rangecoder.One))<<4)) >> 8)
	}
	for i := range t.lnTable[0] {
		t.lnTable[0][i] = -11 // a mass of 0 counts as 1/2: ln(1/2) is -0.69
	}
	for n := 1; n < 32; n++ {
		for i := range t.lnTable[n] {
			log := int64(rangecoder.Log2(uint32(64+2*i+1))) + int64(n-7)<<16 // in 1/65536
			t.lnTable[n][i] = int16((log*727 + 1<<21) >> 22)                 // 727/2^22 is about 16*ln(2)/65536
		}
	}
	return t
})

// squash converts a weighted sum of inputs, a logit in 1/65536 nat, to a probability of 65536. limit, in
// 1/2048 nat, bounds the logit in both directions.
func (t *tables) squash(sum, limit int32) uint32 {
	return uint32(t.squashTable[(min(max(sum>>weightShift, -limit), limit)+fullTrustLogit)>>3&(1<<13-1)])
}

// lnMass returns the natural logarithm of a mass, in 1/16 nat.
func (t *tables) lnMass(mass uint32) int32 {
	n := bits.Len32(mass)
	return int32(t.lnTable[n&31][mass<<(31-n&31)>>25&31])
}
