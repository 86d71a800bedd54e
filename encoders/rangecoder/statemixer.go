package rangecoder

import "math/bits"

// The inputs of a StateMixer: the bias, the counters of up to maxContexts contexts, and up to
// MaxPredictors numeric predictions.
const (
	MaxPredictors  = 9
	firstPredictor = 1 + maxContexts // index of the first numeric prediction
	maxStateInputs = firstPredictor + MaxPredictors
	stateBias      = 800 // logit of the bias input
)

// StateWeights are the weights of a StateMixer's inputs, in units of 1/8192.
type StateWeights struct {
	Weight  [maxStateInputs]int16 // weight of each input, in units of 1/8192
	Updates uint16                // number of updates, counted up to warmupUpdates
}

const stateWeightShift = 13

// NewStateWeights returns weights of 0.3 for all inputs.
func NewStateWeights() (w StateWeights) {
	Fill(w.Weight[:], 1<<stateWeightShift*3/10)
	return w
}

// A StateMixer codes decisions by logistic mixing where memory is scarce: its counters and weights
// take 16 bits. It combines the predictions of the counters that contexts select by their hashes with
// numeric predictions of the caller. The learning rate of weights is higher at the start (warm-up).
type StateMixer struct {
	Coder      *Coder
	StateLimit int32 // highest confidence state; lower adapts faster
	LearnRate  int32 // learning rate of the weights, in units of 1/65536
	contexts

	counters    []StateCounter        // counters that hashes select; the length is a power of two
	hashShift   uint                  // shifts a 32-bit hash to an index of counters
	weights     []StateWeights        // weight sets that hashes select; the length is a power of two
	weightShift uint                  // shifts a 32-bit hash to an index of weights
	rndState    uint32                // of the generator for stochastic rounding
	inputs      [maxStateInputs]int32 // the bias and the predictions as logits, see Stretch
	nInputs     int                   // inputs from here on are zero
}

// SetModel sets the counters and weights that x codes with and adapts. The numbers of both are
// powers of two. seed starts the generator for stochastic rounding.
func (x *StateMixer) SetModel(counters []StateCounter, weights []StateWeights, seed uint32) {
	x.counters, x.hashShift = counters, uint(32-bits.TrailingZeros(uint(len(counters))))
	x.weights, x.weightShift = weights, uint(32-bits.TrailingZeros(uint(len(weights))))
	x.rndState = seed
}

// Begin removes the contexts and the numeric predictions of the symbol before. The counters and weights,
// which are the model, are kept.
func (x *StateMixer) Begin() {
	x.N = 0
	if x.nInputs > firstPredictor {
		clear(x.inputs[firstPredictor:])
	}
	x.nInputs = firstPredictor
}

// AddContext adds a context: the hash of four values and of the context's position.
func (x *StateMixer) AddContext(a, b, c, d uint32) { x.pushContext(Hash(a, b, c, d+uint32(x.N)<<28)) }

// ReservePredictors sets the number of numeric predictions, at most MaxPredictors. They are 0, which
// means no information, until Predict sets them.
func (x *StateMixer) ReservePredictors(n int) {
	clear(x.inputs[firstPredictor:])
	x.nInputs = firstPredictor + n
}

// Predict sets numeric prediction i of the next decisions: the logit of a 1, as Stretch returns it.
func (x *StateMixer) Predict(i int, logit int32) { x.inputs[firstPredictor+i] = logit }

// CodeFlag is CodeBit for a bool.
func (x *StateMixer) CodeFlag(v bool, node, weightSet uint32, n int) bool {
	return x.CodeBit(Flag(v), node, weightSet, n) != 0
}

// CodeBit codes v, or decodes and returns a bit, in the current contexts. node distinguishes the
// decisions of one symbol; weightSet selects the weights by its hash; only the first n contexts, at least
// one, are used.
func (x *StateMixer) CodeBit(v int, node, weightSet uint32, n int) int {
	var used [maxContexts]*StateCounter
	w := &x.weights[weightSet*0x9E3779B1>>(x.weightShift&31)] // &31 spares the check of a large shift
	salt := nodeSalt(node)
	n = min(n, x.N)
	for i, h := range x.Hashes[:n] {
		// The multiplier is a constant of MurmurHash3; the upper bits of the product are the index.
		counter := &x.counters[(h+salt)*0x85EBCA6B>>(x.hashShift&31)]
		used[i] = counter
		x.inputs[1+i] = counter.StretchedP()
	}
	for i := 1 + n; i < firstPredictor; i++ {
		x.inputs[i] = 0 // unused contexts
	}
	x.inputs[0] = stateBias
	var sum int64
	in := x.inputs[:x.nInputs]
	weights := w.Weight[:len(in)]
	for i, input := range in {
		sum += int64(input) * int64(weights[i])
	}
	p := Squash(int32(min(max(sum>>stateWeightShift, -1<<20), 1<<20))) // Squash takes an int32 and limits it further
	v = x.Coder.Bit(v, p)
	x.rndState = x.rndState*1664525 + 1013904223 // the generator "ranqd1" of Numerical Recipes
	rnd := x.rndState
	errScaled := (int32(v)<<16 - int32(p)) * (x.LearnRate + warmupRates[w.Updates>>3])
	if w.Updates < warmupUpdates {
		w.Updates++
	}
	if hasVectors {
		learnAVX2(&w.Weight, &x.inputs, (x.nInputs+7)/8, errScaled, rnd>>2)
	} else {
		learnScalar(&w.Weight, &x.inputs, x.nInputs, errScaled, rnd>>2)
	}
	for i, counter := range used[:n] { // each counter gets other bits of rnd
		counter.update(v, int32(rnd>>(3*uint(i))&0xffff), x.StateLimit)
	}
	return v
}

// learnScalar moves the weights of the first n inputs by the input times errScaled, with stochastic
// rounding by rnd, which is below 1<<30. It is learnAVX2 in plain Go.
func learnScalar(weights *[maxStateInputs]int16, in *[maxStateInputs]int32, n int, errScaled int32, rnd uint32) {
	for i, s := range in[:n] {
		moved := int32(weights[i]) + int32((int64(s)*int64(errScaled)+int64(rnd))>>30)
		weights[i] = int16(min(max(moved, -1<<15), 1<<15-1))
	}
}

// Warm-up: warmupRates is added to the learning rate, by the number of updates of a weight set
// divided by 8.
const (
	warmupUpdates = 1<<12 - 1
	initialRate   = 2600
)

var warmupRates = func() (t [(warmupUpdates + 1) / 8]int32) {
	for i := range t {
		t[i] = int32(initialRate / (1 + i/3))
	}
	return t
}()
