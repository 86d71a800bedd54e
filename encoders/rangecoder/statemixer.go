package rangecoder

import "math/bits"

// The inputs of a StateMixer: the bias, the counters of up to maxContexts contexts, and up to
// MaxPredictors numeric predictions. Where there are fewer contexts than six, the last two
// places are those of the pretrained counters.
const (
	MaxPredictors  = 9
	firstPredictor = 1 + maxContexts
	maxStateInputs = firstPredictor + MaxPredictors
	stateBias      = 800
)

// StateWeightBits and PretrainedBits are the logarithms of the numbers of weight sets and of
// pretrained counters of a StateMixer.
const (
	StateWeightBits = 11
	PretrainedBits  = 18
)

// StateWeights are the weights of a StateMixer's inputs, in units of 1/8192. A file of trained
// weights holds them in this order.
type StateWeights struct {
	Weight  [maxStateInputs]int16
	Updates uint16
}

const stateWeightShift = 13

// NewStateWeights returns weights of 0.3.
func NewStateWeights() (w StateWeights) {
	Fill(w.Weight[:], 1<<stateWeightShift*3/10)
	return w
}

// A StateMixer codes decisions by logistic mixing where memory is scarce: its counters take 16
// bits and its weights 16. It combines the predictions of the counters that contexts select by
// their hashes with numeric predictions of the caller's, and with counters that were trained
// before and do not change. Weights learn faster at first (warm-up).
type StateMixer struct {
	Coder      *Coder
	StateLimit int32          // highest confidence state; lower adapts faster
	LearnRate  int32          // of weights, of 65536
	Pretrained []StateCounter // 1<<PretrainedBits, nil if there is no trained model
	contexts

	counters []StateCounter // a power of two
	shift    uint           // of hashes, to an index of counters
	weights  *[1 << StateWeightBits]StateWeights
	rndState uint32                // of the generator for stochastic rounding
	inputs   [maxStateInputs]int32 // stretched predictions
	nInputs  int                   // inputs beyond are zero
}

// Use makes x code with counters, a power of two, and 1<<StateWeightBits weights, which it
// changes. seed starts the generator for stochastic rounding.
func (x *StateMixer) Use(counters []StateCounter, weights []StateWeights, seed uint32) {
	x.counters, x.shift = counters, uint(32-bits.TrailingZeros(uint(len(counters))))
	x.weights = (*[1 << StateWeightBits]StateWeights)(weights)
	x.rndState = seed
}

// Begin clears the contexts and the numeric predictions.
func (x *StateMixer) Begin() {
	x.N = 0
	if x.nInputs > firstPredictor {
		clear(x.inputs[firstPredictor:])
	}
	x.nInputs = firstPredictor
}

// AddContext adds a context: a hash of its parts.
func (x *StateMixer) AddContext(a, b, c, d uint32) { x.push(Hash(a, b, c, d+uint32(x.N)<<28)) }

// ReservePredictors makes room for n numeric predictions, which are 0 until Predict.
func (x *StateMixer) ReservePredictors(n int) {
	clear(x.inputs[firstPredictor:])
	x.nInputs = firstPredictor + n
}

// Predict sets numeric prediction i, a logit.
func (x *StateMixer) Predict(i int, logit int32) { x.inputs[firstPredictor+i] = logit }

// CodeFlag is CodeBit of a condition.
func (x *StateMixer) CodeFlag(v bool, node, weightSet uint32, n int) bool {
	return x.CodeBit(Flag(v), node, weightSet, n) != 0
}

// CodeBit codes v, or decodes and returns a bit, in the present contexts. node distinguishes the
// decisions of one symbol; weightSet selects the weights; only the first n contexts count.
func (x *StateMixer) CodeBit(v int, node, weightSet uint32, n int) int {
	var used [maxContexts]*StateCounter
	w := &x.weights[weightSet*0x9E3779B1>>(32-StateWeightBits)]
	salt := nodeSalt(node)
	n = min(n, x.N)
	for i, h := range x.Hashes[:n] {
		k := &x.counters[(h+salt)*0x85EBCA6B>>(x.shift&31)]
		used[i] = k
		x.inputs[1+i] = k.StretchedP()
	}
	for i := 1 + n; i < firstPredictor; i++ {
		x.inputs[i] = 0
	}
	x.inputs[0] = stateBias
	if x.Pretrained != nil && n <= maxContexts-2 {
		x.inputs[firstPredictor-2] = x.pretrained(x.Hashes[min(1, n-1)] + salt)
		x.inputs[firstPredictor-1] = x.pretrained(x.Hashes[n-1] + salt)
	}
	var sum int64
	in := x.inputs[:x.nInputs]
	weights := w.Weight[:len(in)]
	for i, s := range in {
		sum += int64(s) * int64(weights[i])
	}
	p := Squash(int32(min(max(sum>>stateWeightShift, -1<<20), 1<<20)))
	v = x.Coder.Bit(v, p)
	x.rndState = x.rndState*1664525 + 1013904223 // Numerical Recipes
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
	for i, k := range used[:n] {
		k.update(v, int32(rnd>>(3*uint(i))&0xffff), x.StateLimit)
	}
	return v
}

// pretrained returns the stretched probability of a trained counter.
func (x *StateMixer) pretrained(h uint32) int32 {
	return x.Pretrained[h*0x85EBCA6B>>(32-PretrainedBits)].StretchedP()
}

// learnScalar moves the weights of the first n inputs by those times errScaled, rounded by rnd,
// which is below 1<<30. Weights of zero inputs stay. It is what learnAVX2 must do.
func learnScalar(weights *[maxStateInputs]int16, in *[maxStateInputs]int32, n int, errScaled int32, rnd uint32) {
	for i, s := range in[:n] {
		by := int32(weights[i]) + int32((int64(s)*int64(errScaled)+int64(rnd))>>30)
		weights[i] = int16(min(max(by, -1<<15), 1<<15-1))
	}
}

// Warm-up: what the learning rate is higher by at first, for every eight updates of a weight set.
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
