package rangecoder

import "math/bits"

// A Mixer codes decisions by logistic mixing (Mahoney's PAQ; Mattern, "Mixing strategies in data
// compression", 2012): it adds the logits of several adaptive probabilities, weighted, and moves the
// weights against the error. The inputs of a decision are the counters that up to MaxContexts contexts
// select by their hashes, the counter of the weight set, which has no context, and a constant. Rounding is
// stochastic, because counters and weights have only 16 bits, so that many of them fit.
type Mixer struct {
	Coder *Coder
	*MixerModel

	hashes   [MaxContexts]uint32 // of the contexts
	contexts int                 // number of contexts
	set      uint32              // selects the weight sets, with the node
	index    [MaxContexts + 1]int32
	limit    int32        // highest confidence state of a counter
	advances [2][16]uint8 // stateAdvances below limit, lower and upper bytes
	rates    [256]int32   // learning rates, by the number of updates of a weight set divided by updatesPerRate
}

const (
	// MaxContexts is the maximum number of contexts of a Mixer, including a counter of the caller.
	MaxContexts = 5

	setInput    = MaxContexts // the inputs after those of the contexts
	biasInput   = MaxContexts + 1
	mixerInputs = 8   // the last one is not used
	biasLogit   = 256 // the constant input

	nodesPerSet = 64
	weightBits  = 13 // weights are in units of 2^-13
	inputBits   = 2  // products of inputs and weights lose this number of bits before they are added
	errorBits   = 12 // errors times rates, in units of 2^-32, lose this number of bits
	stepShift   = 18 // an input times such an error, in units of 2^-31, becomes a step of a weight

	// The learning rate of a weight set is higher during the first updates, by initialRate/(1 +
	// updates/warmupSteps).
	initialRate = 2600
	warmupSteps = 24
	maxRate     = 5000 // limits the steps to 32 bits

	updatesPerRate = 16
	maxUpdates     = 256*updatesPerRate - 1
)

// A MixerModel is what a Mixer learns. Contexts share a number of slots, each of which holds a counter and
// the lowest bits of the hash of its context. Two slots can hold a context; a new context replaces the one
// with fewer updates, as in Mahoney's lpaq.
type MixerModel struct {
	counters  []StateCounter // one that is not used, those of the caller, those of the weight sets, those of the slots
	tags      []uint8        // by slot
	weights   []mixerWeights // the length is a power of two
	setShift  uint           // shifts a 32-bit hash to an index of weights
	firstSet  int32          // index of the counter of weight set 0
	firstSlot int32          // index of the counter of slot 0
	random    uint32         // state of the generator for stochastic rounding
}

// mixerWeights are the weights of a class of decisions.
type mixerWeights struct {
	weight  [mixerInputs]int16 // in units of 2^-weightBits
	updates uint16             // number of updates, up to maxUpdates
}

// Sizes in memory, in bytes.
const (
	SlotBytes      = 3
	WeightSetBytes = 2*mixerInputs + 2 + 2 // with its counter
)

// NewMixerModel returns a model with the given numbers of counters of the caller, of slots and of weight
// sets. The number of weight sets is a power of two, at least 2.
func NewMixerModel(own, slots, sets int) *MixerModel {
	slots &^= 1
	m := &MixerModel{
		counters: make([]StateCounter, 1+own+sets+slots), tags: make([]uint8, slots), weights: make([]mixerWeights, sets),
		setShift: uint(32 - bits.TrailingZeros(uint(sets))), firstSet: int32(1 + own), firstSlot: int32(1 + own + sets),
	}
	Fill(m.counters, NewStateCounter)
	var w mixerWeights
	Fill(w.weight[:setInput+1], 1<<weightBits*3/10)
	w.weight[biasInput] = w.weight[0]
	Fill(m.weights, w)
	return m
}

// SetCounter sets counter n of the caller to a probability of p/65536, with one update.
func (m *MixerModel) SetCounter(n int, p uint32) { m.counters[1+n] = StateCounter(p&^15 | 1) }

// CopyFrom makes m a copy of o, in m's memory.
func (m *MixerModel) CopyFrom(o *MixerModel) {
	old := *m
	*m = *o
	m.counters = append(old.counters[:0], o.counters...)
	m.tags = append(old.tags[:0], o.tags...)
	m.weights = append(old.weights[:0], o.weights...)
}

// NewMixer returns a mixer; the caller sets its model before the first decision. limit is the largest number of decisions that a counter
// averages, rate the learning rate of the weights, in units of 1/65536; with a rate of 0 they do not
// change.
func NewMixer(c *Coder, limit, rate int) Mixer {
	x := Mixer{Coder: c, limit: maxState(limit)}
	for state, advance := range stateAdvances[:x.limit] { // higher states never advance
		x.advances[0][state] = uint8(advance)
		x.advances[1][state] = uint8(advance >> 8)
	}
	for i := range x.rates {
		if rate > 0 {
			x.rates[i] = int32(min(rate+initialRate/(1+i*updatesPerRate/warmupSteps), maxRate))
		}
	}
	return x
}

// Begin removes the contexts. set, below 1<<26, selects the weights of the following decisions.
func (x *Mixer) Begin(set int) {
	x.contexts = 0
	x.set = uint32(set) * nodesPerSet
}

// AddContext adds a context: the hash of four values and of the context's position in the list.
func (x *Mixer) AddContext(a, b, c, d uint32) {
	x.hashes[x.contexts] = Hash(a, b, c, d+uint32(x.contexts)<<28)
	x.contexts++
}

// Flag codes v in the current contexts, or decodes and returns a decision. node, below 64, distinguishes
// the decisions of one symbol: each has its own weights, and its own counters for the contexts.
func (x *Mixer) Flag(node int, v bool) bool { return x.Bit(node, Flag(v)) != 0 }

// Tree codes n bits of v, the highest first, as a binary tree of decisions. It uses the nodes from first+1 to
// first+(1<<n)-1.
func (x *Mixer) Tree(v uint32, n, first int) uint32 {
	node := 1
	for i := n - 1; i >= 0; i-- {
		node = node<<1 | x.Bit(first+node, int(v>>i&1))
	}
	return uint32(node) - 1<<n
}

// Bit is Flag for 0 and 1.
func (x *Mixer) Bit(node, bit int) int {
	x.index = [MaxContexts + 1]int32{}
	return x.code(node, bit)
}

// BitWith is Bit with counter n of the caller as one more input. There must be less than MaxContexts
// contexts.
func (x *Mixer) BitWith(n, node, bit int) int {
	x.index = [MaxContexts + 1]int32{}
	x.index[x.contexts] = int32(1 + n)
	return x.code(node, bit)
}

// code codes a decision with the counters of the contexts, and those that x.index contains already.
func (x *Mixer) code(node, bit int) int {
	salt := uint32(node) * 0x9E3779B1 >> 7
	pairs := uint64(len(x.tags) / 2)
	for i, h := range x.hashes[:x.contexts] {
		h = (h + salt) * 0x85EBCA6B
		slot := int(uint64(h) * pairs >> 32 * 2)
		tag := uint8(h)
		pair := x.tags[slot : slot+2 : slot+2]
		switch tag {
		case pair[0]:
		case pair[1]:
			slot++
		default:
			slot = x.replace(slot, tag)
		}
		x.index[i] = x.firstSlot + int32(slot)
	}
	set := (x.set + uint32(node)) * 0x9E3779B1 >> (x.setShift & 31)
	x.index[setInput] = x.firstSet + int32(set)
	x.counters[0] = NewStateCounter          // its confidence is 0, so it has no effect
	x.random = x.random*1664525 + 1013904223 // the generator "ranqd1" of Numerical Recipes
	w := &x.weights[set]
	rate := x.rates[w.updates/updatesPerRate%256]
	w.updates = min(w.updates+1, maxUpdates)
	if !hasVectors {
		return x.codeScalar(w, bit, rate)
	}
	bit = mixAVX2(x, &x.counters[0], w, bit, rate, x.random)
	if x.Coder.rng < minRange { // the routine leaves this to its caller
		x.Coder.renormalise()
	}
	return bit
}

// replace empties one of a pair of slots for a context with the given tag and returns its index: that of
// which the counter has fewer updates.
func (x *Mixer) replace(slot int, tag uint8) int {
	pair := x.counters[int(x.firstSlot)+slot:][:2]
	n := 0
	if pair[1].state() < pair[0].state() {
		n = 1
	}
	if other := &pair[1-n]; other.state() > 0 && x.random>>31 == 0 {
		*other-- // so that a counter that is not used any more makes room at last
	}
	pair[n] = NewStateCounter
	x.tags[slot+n] = tag
	return slot + n
}

// laneFactors make the random numbers of the counters of a decision differ.
var laneFactors = [mixerInputs]uint16{0x9E37, 0x79B1, 0x85EB, 0xCA6B, 0xC2B3, 0xAE35, 0x27D5, 0xEB2F}

// codeScalar codes a decision with the counters in x.index and learns from it: it is mixAVX2 in plain Go.
func (x *Mixer) codeScalar(w *mixerWeights, bit int, rate int32) int {
	var in [mixerInputs]int32
	for i, k := range x.index {
		in[i] = x.counters[k].logit()
	}
	in[biasInput] = biasLogit
	var sum int32
	for i := 0; i < mixerInputs; i += 2 {
		products := in[i]*int32(w.weight[i]) + in[i+1]*int32(w.weight[i+1])
		sum += products >> inputBits
	}
	p := Squash(sum >> (weightBits - inputBits))
	bit = x.Coder.Bit(bit, p)
	errScaled := (int32(bit)<<16 - int32(p)) * rate >> errorBits
	for i, v := range in {
		step := (v*errScaled + int32(x.random>>(32-stepShift))) >> stepShift
		w.weight[i] = int16(min(max(int32(w.weight[i])+step, -1<<15), 1<<15-1))
	}
	var updated [MaxContexts + 1]StateCounter
	for i, k := range x.index {
		random := uint16(x.random>>16) * laneFactors[i]
		updated[i] = x.counters[k]
		updated[i].update(bit, int32(random), x.limit)
	}
	for i, k := range x.index { // the last one counts if two contexts share a counter
		x.counters[k] = updated[i]
	}
	return bit
}

// Hash returns a hash of four values. The multipliers are odd constants of xxHash and MurmurHash3.
func Hash(a, b, c, d uint32) uint32 {
	h := a*0x9E3779B1 + b*0x85EBCA6B + c*0xC2B2AE35 + d*0x27D4EB2F
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>13
}

// Flag returns 1 for true, 0 for false.
func Flag(v bool) int {
	if v {
		return 1
	}
	return 0
}
