package rangecoder

// A Mixer codes decisions by logistic mixing: it combines the predictions of the counters that
// up to four contexts select by their hashes, of one more counter if the caller has one, and a
// constant. Counters are not checked for collisions; the mixing learns to distrust contexts
// that share counters.
type Mixer struct {
	Coder    *Coder
	Counters []Counter // a power of two
	Weights  []Weights
	Set      int // index of the weights of node 0
	contexts
	Bias  int32 // the constant: a logit, below 1<<16
	Limit int   // of Counter.Update
	Rate  int32 // of Weights.Code
}

// mixerContexts bounds the contexts of a Mixer, so that all inputs fit Weights.
const mixerContexts = 4

// Begin clears the contexts. Decision n of those to come uses the weights set+n.
func (x *Mixer) Begin(set int) { x.N, x.Set = 0, set }

// AddContext adds a context: a hash of its parts.
func (x *Mixer) AddContext(a, b, c, d uint32) {
	x.push(finish(a*0x9E3779B1 + b*0x85EBCA6B + c*0xC2B2AE35 + d*0x27D4EB2F + uint32(x.N)*0x165667B1))
}

// CodeBit codes decision node in the present contexts: bit, unless the coder reads. own, if not
// nil, is one more counter.
func (x *Mixer) CodeBit(node, bit int, own *Counter) int {
	return x.code(&x.Weights[x.Set+node], nodeSalt(uint32(node)), bit, own)
}

// CodeFlag is CodeBit of a condition.
func (x *Mixer) CodeFlag(node int, v bool) bool { return x.CodeBit(node, Flag(v), nil) != 0 }

// CodeTree codes n bits of v, the highest first: a binary tree of decisions from first+1 on.
func (x *Mixer) CodeTree(v uint32, n, first int) uint32 {
	node := 1
	for i := n - 1; i >= 0; i-- {
		node = node<<1 | x.CodeBit(first+node, int(v>>i&1), nil)
	}
	return uint32(node) - 1<<n
}

// code codes a decision with weights w: first those of the contexts' counters, then of own, then
// of the constant.
func (x *Mixer) code(w *Weights, salt uint32, bit int, own *Counter) int {
	if x.N == 1 && own == nil {
		return x.codeOne(w, salt, bit)
	}
	if !hasVectors || x.Rate == 0 || x.N < mixerContexts-1 || own != nil && x.N < mixerContexts {
		return x.codeScalar(w, salt, bit, own)
	}
	extra := uint64(uint32(x.Bias)) // the inputs after the first four, see mixAVX2
	switch {
	case own != nil:
		extra = extra<<32 | uint64(uint32(Stretch(own.P())))
	case x.N < mixerContexts:
		extra = 0
	}
	got := mixAVX2(x, w, salt, bit, extra)
	if got < 0 { // two contexts share a counter
		return x.codeScalar(w, salt, bit, own)
	}
	if c := x.Coder; c.rng < minRange {
		c.widen()
	}
	if own != nil {
		own.Update(got, x.Limit)
	}
	return got
}

// codeScalar is code in plain Go.
func (x *Mixer) codeScalar(w *Weights, salt uint32, bit int, own *Counter) int {
	var in Inputs
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

// codeOne is codeScalar for one context, where most inputs are zero.
func (x *Mixer) codeOne(w *Weights, salt uint32, bit int) int {
	k := &x.Counters[(x.Hashes[0]+salt)&uint32(len(x.Counters)-1)]
	in := Stretch(k.P())
	p := Squash(int32((int64(in)*int64(w[0]) + int64(x.Bias)*int64(w[1])) >> 16))
	bit = x.Coder.Bit(bit, p)
	if x.Rate != 0 {
		errScaled := (int32(bit)<<16 - int32(p)) * x.Rate
		w[0] = moved(w[0], in, errScaled)
		w[1] = moved(w[1], x.Bias, errScaled)
	}
	k.Update(bit, x.Limit)
	return bit
}

// maxContexts bounds the contexts of a decision of a Mixer or a StateMixer.
const maxContexts = 6

// contexts are the hashed contexts of the next decisions. One set of hashes serves all
// decisions of a symbol or a number: nodeSalt tells those apart.
type contexts struct {
	Hashes [maxContexts]uint32
	N      int // number of contexts
}

// push adds a context. Its place among the contexts must be part of the hash, so that equal
// parts at different places use different counters.
func (x *contexts) push(hash uint32) {
	x.Hashes[x.N] = hash
	x.N++
}

// Hash mixes four numbers into one.
func Hash(a, b, c, d uint32) uint32 {
	return finish(a*0x9E3779B1 + b*0x85EBCA6B + c*0xC2B2AE35 + d*0x27D4EB2F)
}

// finish spreads the differences of h over all bits.
func finish(h uint32) uint32 {
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>13
}

// nodeSalt is added to the hash of a context for decision node of a symbol.
func nodeSalt(node uint32) uint32 { return node * 0x9E3779B1 >> 7 }

// Flag returns 1 for true, 0 for false.
func Flag(v bool) int {
	if v {
		return 1
	}
	return 0
}

// maxInputs bounds the predictions that Weights mix.
const maxInputs = 8

// Inputs are the predictions of a decision: logits as Stretch returns them, or others below
// 1<<16. Unused inputs are zero and have no effect.
type Inputs [maxInputs]int32

// Weights are the factors of the predictions, in units of 1/65536. A codec has a set for
// each class of decisions.
type Weights [maxInputs]int32

// Unit is a weight of 1.
const Unit = 1 << 16

// p combines several probabilities into one, 1..65535: it adds their logits, weighted,
// and squashes the sum (Mattern, "Mixing strategies in data compression", 2012; the
// logistic mixing of Mahoney's PAQ).
func (w *Weights) p(in *Inputs) uint32 {
	// Unrolled, and in two sums that do not wait for each other.
	a := int64(in[0])*int64(w[0]) + int64(in[1])*int64(w[1])
	b := int64(in[2])*int64(w[2]) + int64(in[3])*int64(w[3])
	a += int64(in[4])*int64(w[4]) + int64(in[5])*int64(w[5])
	b += int64(in[6])*int64(w[6]) + int64(in[7])*int64(w[7])
	return Squash(int32((a + b) >> 16)) // far from overflow: see maxWeight
}

// moved returns a weight moved by its input times the scaled error.
func moved(w, in, errScaled int32) int32 {
	// error in 1/65536, input in 1/2048, rate in 1/65536, weight in 1/65536
	const shift = 16 + 11
	return min(max(w+int32((int64(in)*int64(errScaled)+1<<(shift-1))>>shift), -maxWeight), maxWeight)
}

// maxWeight keeps sums far from overflow: with maxInputs of MaxStretch, they are below
// 1<<41.
const maxWeight = 64 * Unit

// Code codes bit with the mixed probability of the inputs, and moves the weights against its
// error: by rate/65536 times error times input. The rate, the learning rate, is below 1<<15; a
// rate of 0 keeps the weights.
func (w *Weights) Code(c *Coder, in *Inputs, bit int, rate int32) int {
	if !hasVectors || rate == 0 {
		return w.codeScalar(c, in, bit, rate)
	}
	bit = codeAVX2(w, c, in, bit, rate)
	if c.rng < minRange {
		c.widen()
	}
	return bit
}

// codeScalar is Code in plain Go.
func (w *Weights) codeScalar(c *Coder, in *Inputs, bit int, rate int32) int {
	p := w.p(in)
	bit = c.Bit(bit, p)
	if rate != 0 {
		errScaled := (int32(bit)<<16 - int32(p)) * rate
		for i, x := range in {
			w[i] = moved(w[i], x, errScaled)
		}
	}
	return bit
}
