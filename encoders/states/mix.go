package states

import "wirelab/encoders/rangecoder"

type counter = rangecoder.Counter

const (
	lanes       = 16
	maxContexts = 6
	firstExpert = 6
	maxExperts  = 9
	biasLane    = 15
	bias        = 800
	firstWeight = rangecoder.Unit * 3 / 10
)

// weights mix the opinions on a decision.
type weights struct {
	of [lanes]int32
}

// mixer codes decisions by logistic mixing of the counters of several contexts, and of what
// experts say.
type mixer struct {
	c     *rangecoder.Coder
	m     *memo
	limit int
	rate  int32

	ctx [maxContexts]uint32
	n   int
	in  [lanes]int32
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

// confidence says how much a counter's opinion counts by how often it was asked, of 256.
var confidence = func() (t [32]int32) {
	for i := range t {
		t[i] = int32(i * 2560 / (10*i + 4))
	}
	return t
}()

// bit codes a decision, the node-th of those in the present contexts, of which the first use
// are looked at; set names the weights.
func (x *mixer) bit(v int, node, set uint32, use int) int {
	var at [maxContexts]*counter
	m := x.m
	w := &m.weights[(set*0x9E3779B1)>>(32-weightBits)]
	salt := node * 0x9E3779B1 >> 7
	use = min(use, x.n)
	for i := range use {
		k := &m.model[(x.ctx[i]+salt)*0x85EBCA6B>>(32-modelBits)]
		at[i] = k
		x.in[i] = rangecoder.Stretch(k.P()) * confidence[min(k.N(), 31)] >> 8
	}
	for i := use; i < firstExpert; i++ {
		x.in[i] = 0
	}
	x.in[biasLane] = bias
	var sum int64
	for i, s := range x.in {
		sum += int64(s) * int64(w.of[i])
	}
	p := rangecoder.Squash(int32(sum >> 16))
	v = x.c.Bit(v, p)
	n := w.of[biasLane] // its upper bits count
	_ = n
	wrong := int64((int32(v)<<16 - int32(p)) * x.rate)
	for i, s := range x.in {
		w.of[i] += int32((int64(s)*wrong + 1<<26) >> 27)
	}
	for _, k := range at[:use] {
		k.Update(v, x.limit)
	}
	return v
}

// quiet forgets what experts said.
func (x *mixer) quiet() {
	for i := firstExpert; i < biasLane; i++ {
		x.in[i] = 0
	}
}
