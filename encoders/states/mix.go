package states

import "wirelab/encoders/rangecoder"

const (
	lanes       = 16
	maxContexts = 6
	firstExpert = 7 // after the bias and the contexts
	maxExperts  = 9
	bias        = 800
)

// counter is a probability that knows on how many decisions it rests: of its 16 bits the upper
// 12 are the probability of a 1, the lower 4 the class of that number. Memory is scarce, and
// twice as many counters are worth more than finer ones.
type counter uint16

const newCounter = counter(1 << 15)

// counts are the classes of numbers of decisions.
var counts = [16]int32{0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26, 34, 46, 60}

// steps are how far a counter moves, chances how likely it goes on to the next class, both of
// 65536.
var steps, chances = func() (s, c [16]int32) {
	for i, n := range counts {
		s[i] = 1 << 16 * 5 / (5*n + 8)
		if i+1 < len(counts) {
			c[i] = 1 << 16 / (counts[i+1] - n)
		}
	}
	return s, c
}()

// confidence is how much a counter's opinion counts, of 256.
var confidence = func() (t [16]int32) {
	for i, n := range counts {
		t[i] = n * 2560 / (10*n + 4)
	}
	return t
}()

// stretched are the logits of counters' probabilities.
var stretched = func() (t [1 << 12]int16) {
	for i := range t {
		t[i] = int16(rangecoder.Stretch(uint32(i)<<4 + 8))
	}
	return t
}()

// opinion returns what a counter has to say, as a logit.
func (k counter) opinion() int32 { return int32(stretched[k>>4]) * confidence[k&15] >> 8 }

// learn moves a counter towards a bit. What is finer than its steps is left to chance, of
// 65536, which is the same at both ends.
func (k *counter) learn(bit int, chance int32, last int32) {
	n, p := int32(*k&15), int32(*k>>4)
	p += ((int32(-bit)&(1<<12-1)-p)*steps[n] + chance) >> 16
	n -= (n - last) >> 31 & ((chance - chances[n]) >> 31) // one more if both are less, without a branch
	*k = counter(p<<4 | n)
}

// weights mix the opinions on a decision, in units of 1/8192.
type weights struct {
	Of [lanes]int16
	N  uint16 // decisions
}

const (
	weightShift = 13
	firstWeight = 1 << weightShift * 3 / 10
)

// mixer codes decisions by logistic mixing of the counters of several contexts, and of what
// experts say.
type mixer struct {
	c    *rangecoder.Coder
	m    *memo
	last int32 // class of counters that count no further
	rate int32
	seed uint32 // of what is left to chance

	ctx  [maxContexts]uint32
	n    int
	in   [lanes]int32
	top  int       // lanes that are in use; the others are zero
	book []counter // what was learnt before; nil: nothing
}

func hash(a, b, c, d uint32) uint32 {
	h := a*0x9E3779B1 + b*0x85EBCA6B + c*0xC2B2AE35 + d*0x27D4EB2F
	h ^= h >> 15
	h *= 0x2C1B3C6D
	return h ^ h>>13
}

// begin clears the contexts.
func (x *mixer) begin() { x.n = 0 }

// see adds a context: a hash of its parts.
func (x *mixer) see(a, b, c, d uint32) {
	x.ctx[x.n] = hash(a, b, c, d+uint32(x.n)<<28)
	x.n++
}

// bit codes a decision, the node-th of those in the present contexts, of which the first use
// are looked at; set names the weights.
func (x *mixer) bit(v int, node, set uint32, use int) int {
	var at [maxContexts]*counter
	m := x.m
	w := &m.weights[(set*0x9E3779B1)>>(32-weightBits)]
	salt := node * 0x9E3779B1 >> 7
	use = min(use, x.n)
	for i, h := range x.ctx[:use] {
		k := &m.model[(h+salt)*0x85EBCA6B>>m.shift]
		at[i] = k
		x.in[1+i] = k.opinion()
	}
	for i := 1 + use; i < firstExpert; i++ {
		x.in[i] = 0
	}
	x.in[0] = bias
	if x.book != nil && use <= maxContexts-2 {
		x.in[firstExpert-2] = x.consult(x.ctx[min(1, use-1)] + salt)
		x.in[firstExpert-1] = x.consult(x.ctx[use-1] + salt)
	}
	var sum int64
	in := x.in[:x.top]
	of := w.Of[:len(in)]
	for i, s := range in {
		sum += int64(s) * int64(of[i])
	}
	p := rangecoder.Squash(int32(min(max(sum>>weightShift, -1<<20), 1<<20)))
	v = x.c.Bit(v, p)
	x.seed = x.seed*1664525 + 1013904223
	chance := x.seed
	wrong := (int32(v)<<16 - int32(p)) * (x.rate + haste[w.N>>3])
	if w.N < maxHaste {
		w.N++
	}
	if hasVectors {
		learnVectors(&w.Of, &x.in, x.top, wrong, chance>>2)
	} else {
		learnScalar(&w.Of, &x.in, x.top, wrong, chance>>2)
	}
	for i, k := range at[:use] {
		k.learn(v, int32(chance>>(3*uint(i))&0xffff), x.last)
	}
	return v
}

// learnScalar moves the weights of the first inputs by those times wrong, and by chance, which
// is below 1<<30. Those of inputs that are zero stay. It is what the vector instructions must do.
func learnScalar(of *[lanes]int16, in *[lanes]int32, top int, wrong int32, chance uint32) {
	for i, s := range in[:top] {
		by := int32(of[i]) + int32((int64(s)*int64(wrong)+int64(chance))>>30)
		of[i] = int16(min(max(by, -1<<15), 1<<15-1))
	}
}

const (
	maxHaste   = 1<<12 - 1
	firstHaste = 2600
)

// haste is how much faster weights learn at first.
var haste = func() (t [(maxHaste + 1) / 8]int32) {
	for i := range t {
		t[i] = int32(firstHaste / (1 + i/3))
	}
	return t
}()

// consult returns what the book has to say on a context.
func (x *mixer) consult(h uint32) int32 { return x.book[h*0x85EBCA6B>>(32-bookBits)].opinion() }

// quiet forgets what experts said.
func (x *mixer) quiet() {
	if x.top > firstExpert {
		clear(x.in[firstExpert:])
	}
	x.top = firstExpert
}

// hear makes room for what experts say.
func (x *mixer) hear(list []expert) {
	clear(x.in[firstExpert:])
	x.top = firstExpert
	for i := range list {
		x.top = max(x.top, firstExpert+list[i].lane+1)
	}
}
