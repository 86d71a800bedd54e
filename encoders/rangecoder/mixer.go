package rangecoder

// A Mixer codes decisions by logistic mixing: it combines the predictions of the counters that up
// to four contexts select by their hashes, of one more counter that the caller may pass, and a
// constant bias. Hash collisions are not checked; the weights adapt to contexts whose counters
// collide.
type Mixer struct {
	Coder    *Coder
	Counters []Counter // counters that hashes select; the length is a power of two
	Weights  []Weights // one set for each decision that set+node can select
	Set      int       // index of the weights of node 0
	contexts
	Bias  int32 // the constant input: a logit, below 1<<16
	Limit int   // largest number of decisions that a counter averages, see Counter.Update
	Rate  int32 // learning rate of the weights, see Weights.Code
}

// mixerContexts is the maximum number of contexts of a Mixer, so that all inputs fit Weights.
const mixerContexts = 4

// Begin clears the contexts. The following decisions use the weight sets from set on: node n uses
// set+n.
func (x *Mixer) Begin(set int) { x.N, x.Set = 0, set }

// AddContext adds a context: the hash of four values and of the context's position in the list.
func (x *Mixer) AddContext(a, b, c, d uint32) {
	x.pushContext(avalanche(a*0x9E3779B1 + b*0x85EBCA6B + c*0xC2B2AE35 + d*0x27D4EB2F + uint32(x.N)*0x165667B1))
}

// CodeBit codes bit, or decodes and returns a bit, in the current contexts. node distinguishes the
// decisions of one symbol. own is one more counter; nil means none.
func (x *Mixer) CodeBit(node, bit int, own *Counter) int {
	return x.codeDecision(&x.Weights[x.Set+node], nodeSalt(uint32(node)), bit, own)
}

// CodeFlag is CodeBit for a bool.
func (x *Mixer) CodeFlag(node int, v bool) bool {
	return x.CodeBit(node, Flag(v), nil) != 0 // nil: only the counters of the contexts are used
}

// CodeTree codes n bits of v, the highest first, as a binary tree of decisions. It uses the nodes
// from first+1 to first+(1<<n)-1.
func (x *Mixer) CodeTree(v uint32, n, first int) uint32 {
	node := 1
	for i := n - 1; i >= 0; i-- {
		node = node<<1 | x.CodeBit(first+node, int(v>>i&1), nil) // nil: no inputs except the counters of the contexts
	}
	return uint32(node) - 1<<n
}

// codeDecision codes a decision with weights w: an encoder codes bit, a decoder ignores it, and both return the
// decision. salt, which nodeSalt derives from the decision's node, is added to the hashes of the contexts. own is an
// additional counter, nil for none. The weights are those of the contexts, then of own, then of the bias.
func (x *Mixer) codeDecision(w *Weights, salt uint32, bit int, own *Counter) int {
	if x.N == 1 && own == nil {
		return x.codeOne(w, salt, bit)
	}
	// The vector routine is for weights that adapt, and for three contexts without own, or four.
	if !hasVectors || x.Rate == 0 || x.N < mixerContexts-1 || own != nil && x.N < mixerContexts {
		return x.codeScalar(w, salt, bit, own)
	}
	extraInputs := uint64(uint32(x.Bias)) // the two inputs after the first four; see mixAVX2
	switch {
	case own != nil:
		extraInputs = extraInputs<<32 | uint64(uint32(Stretch(own.P())))
	case x.N < mixerContexts: // the bias is the fourth input
		extraInputs = 0
	}
	coded := mixAVX2(x, w, salt, bit, extraInputs)
	if coded < 0 { // two contexts share a counter
		return x.codeScalar(w, salt, bit, own)
	}
	if c := x.Coder; c.rng < minRange {
		c.renormalise()
	}
	if own != nil {
		own.Update(coded, x.Limit)
	}
	return coded
}

// codeScalar is codeDecision without vector instructions.
func (x *Mixer) codeScalar(w *Weights, salt uint32, bit int, own *Counter) int {
	var in inputs
	var used [mixerContexts + 1]*Counter
	n, mask := 0, uint32(len(x.Counters)-1)
	for _, h := range x.Hashes[:x.N] {
		k := &x.Counters[(h+salt)&mask]
		used[n], in[n] = k, Stretch(k.P())
		n++
	}
	if own != nil {
		used[n], in[n] = own, Stretch(own.P())
		n++
	}
	in[n] = x.Bias
	bit = w.Code(x.Coder, &in, bit, x.Rate)
	for _, k := range used[:n] {
		k.Update(bit, x.Limit)
	}
	return bit
}

// codeOne codes a decision in a single context and returns it, without vector instructions: only two of the eight
// inputs are not zero. w[0] is the weight of the context's counter, w[1] that of the bias. salt, which nodeSalt
// derives from the decision's node, is added to the hash of the context. A decoder ignores bit.
func (x *Mixer) codeOne(w *Weights, salt uint32, bit int) int {
	k := &x.Counters[(x.Hashes[0]+salt)&uint32(len(x.Counters)-1)]
	in := Stretch(k.P())
	p := Squash(int32((int64(in)*int64(w[0]) + int64(x.Bias)*int64(w[1])) >> 16))
	bit = x.Coder.Bit(bit, p)
	if x.Rate != 0 {
		errScaled := (int32(bit)<<16 - int32(p)) * x.Rate
		w[0] = updateWeight(w[0], in, errScaled)
		w[1] = updateWeight(w[1], x.Bias, errScaled)
	}
	k.Update(bit, x.Limit)
	return bit
}

// maxContexts is the maximum number of contexts of a Mixer or a StateMixer.
const maxContexts = 6

// contexts are the hashed contexts of the following decisions. One set of hashes serves all
// decisions of a symbol or a number; nodeSalt distinguishes the decisions.
type contexts struct {
	Hashes [maxContexts]uint32 // of the contexts; those from N on are not used
	N      int                 // number of contexts
}

// pushContext adds a context. Its position among the contexts must be part of the hash, so that
// equal values at different positions select different counters.
func (x *contexts) pushContext(hash uint32) {
	x.Hashes[x.N] = hash
	x.N++
}

// Hash returns a hash of four values. The multipliers are odd constants of xxHash and MurmurHash3.
func Hash(a, b, c, d uint32) uint32 {
	return avalanche(a*0x9E3779B1 + b*0x85EBCA6B + c*0xC2B2AE35 + d*0x27D4EB2F)
}

// avalanche makes every bit of h affect all bits of the result.
func avalanche(h uint32) uint32 {
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>13
}

// nodeSalt returns what is added to the hash of a context for decision node of a symbol, so that
// every decision has its own counter.
func nodeSalt(node uint32) uint32 { return node * 0x9E3779B1 >> 7 }

// Flag returns 1 for true, 0 for false.
func Flag(v bool) int {
	if v {
		return 1
	}
	return 0
}

// maxInputs is the maximum number of predictions that Weights mix.
const maxInputs = 8

// inputs are the predictions of a decision: logits as Stretch returns them, or other values below
// 1<<16. Unused inputs are zero and have no effect.
type inputs [maxInputs]int32

// Weights are the factors of the predictions, in units of 1/65536. A codec has one set for each
// class of decisions.
type Weights [maxInputs]int32

// Unit is a weight of 1.
const Unit = 1 << 16

// mixedP returns the mixed probability, in 1..65535: it adds the logits, weighted, and squashes the
// sum (Mattern, "Mixing strategies in data compression", 2012; the logistic mixing of Mahoney's
// PAQ).
func (w *Weights) mixedP(in *inputs) uint32 {
	// Unrolled, in two sums that the processor can compute in parallel.
	a := int64(in[0])*int64(w[0]) + int64(in[1])*int64(w[1])
	b := int64(in[2])*int64(w[2]) + int64(in[3])*int64(w[3])
	a += int64(in[4])*int64(w[4]) + int64(in[5])*int64(w[5])
	b += int64(in[6])*int64(w[6]) + int64(in[7])*int64(w[7])
	return Squash(int32((a + b) >> 16)) // far from overflow: see maxWeight
}

// updateWeight returns weight w after a step of its input, in, times the scaled error, which is the
// error times the learning rate.
func updateWeight(w, in, errScaled int32) int32 {
	// The error is in units of 1/65536, the rate in 1/65536, the input in 1/2048, the weight in 1/65536.
	const shift = 16 + 11
	return min(max(w+int32((int64(in)*int64(errScaled)+1<<(shift-1))>>shift), -maxWeight), maxWeight)
}

// maxWeight prevents overflow: the sum of maxInputs inputs of MaxStretch stays below 1<<41.
const maxWeight = 64 * Unit

// Code codes bit with the mixed probability of the inputs and moves the weights against the error,
// by rate/65536 * error * input. The learning rate is below 1<<15; with a rate of 0 the weights do
// not adapt.
func (w *Weights) Code(c *Coder, in *inputs, bit int, rate int32) int {
	if !hasVectors || rate == 0 {
		return w.codeScalar(c, in, bit, rate)
	}
	bit = codeAVX2(w, c, in, bit, rate)
	if c.rng < minRange { // the routine leaves this to its caller
		c.renormalise()
	}
	return bit
}

// codeScalar is Code without vector instructions.
func (w *Weights) codeScalar(c *Coder, in *inputs, bit int, rate int32) int {
	p := w.mixedP(in)
	bit = c.Bit(bit, p)
	if rate != 0 {
		errScaled := (int32(bit)<<16 - int32(p)) * rate
		for i, x := range in {
			w[i] = updateWeight(w[i], x, errScaled)
		}
	}
	return bit
}
