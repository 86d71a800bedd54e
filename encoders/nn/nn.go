// Package nn runs small fully connected neural nets in encoders and decoders, which must compute
// the same probabilities on every processor. All arithmetic is therefore integer, and no net that
// could overflow is accepted.
//
// Values are fixed-point numbers. Inputs have ten fractional bits and are clamped to [-4, 4].
// Weights are int16 with as many fractional bits as their row allows. Hidden values have ten
// fractional bits, are clamped to [-32, 32) and passed through a leaky ReLU of slope 13/128.
// Outputs have twelve fractional bits and no activation function.
//
// One multiplication computes two products: the weights of two adjacent outputs are in one 64-bit
// word, hi<<32 + lo, and the product of a word and an input is added to both sums at once. The low
// sum may borrow from the high one. This is corrected at the end, when the low sum is known,
// provided that both sums fit 32 bits. Read and Quantise refuse nets with a sum that some input
// could make larger.
//
// On processors with AVX2, vector instructions compute the same results about five times as fast
// (vector_amd64.go), unless the build tag purego is set. The code in this file is the reference.
//
// Package train/mdn trains nets.
package nn

import (
	"errors"
	"fmt"
	"math"
)

// The fixed-point formats and the bounds of a net.
const (
	InputBits  = 10                                    // fractional bits of an input and of a hidden value
	InputMax   = 4 << InputBits                        // inputs are clamped to [-InputMax, InputMax]
	outputBits = 12                                    // fractional bits of an output
	hiddenMax  = math.MaxInt16                         // hidden values are clamped to [-hiddenMax, hiddenMax]
	slopeNum   = 13                                    // slope of the leaky ReLU below zero:
	slopeBits  = 7                                     // slopeNum / 1<<slopeBits, rounded down
	maxShift   = 24                                    // maximum fractional bits of a weight; more would not matter
	minShift   = 2                                     // minimum fractional bits of a weight, so that sums are never scaled up
	maxLayers  = 8                                     // of a net
	maxWidth   = 1 << 11                               // of a layer
	block      = 4                                     // words summed in parallel, in registers
	Slope      = float32(slopeNum) / (1 << slopeBits)  // slope of the leaky ReLU, for trainers
	HiddenMax  = float32(hiddenMax) / (1 << InputBits) // bound of a hidden value, for trainers
)

// errInvalidNet means that layers or bytes are not a net, or are a net that could overflow.
var errInvalidNet = errors.New("not a net")

// Net is a fully connected net. It is immutable and safe for concurrent use, if each goroutine has
// its own Scratch.
type Net struct {
	layers  []layer
	vectors vectorNet // the layers in the order of vector instructions
}

// A layer holds the weights of one layer in the order in which run uses them.
type layer struct {
	in, out int // numbers of inputs and outputs
	// weightPairs holds, for each block of 2*block outputs, for each input, the weights of
	// outputs 2k and 2k+1 in the halves of word k. Outputs beyond out have weights of
	// zero.
	weightPairs [][block]uint64
	bias        []uint64 // initial values of the sums of each word, including rounding
	sumShift    []uint8  // by output: number of bits by which the sum is scaled down
}

// Scratch is the working memory of a run. The zero Scratch is ready to use; it grows with the first
// run.
type Scratch struct {
	nonZero []input // inputs of the current layer that are not zero
	sums    []int32 // scaled sums of the current layer
	vectors vectorScratch
}

// An input is a value and its index.
type input struct {
	value uint64 // sign-extended to 64 bits
	index int
}

// In returns the number of inputs.
func (n *Net) In() int { return n.layers[0].in }

// Out returns the number of outputs.
func (n *Net) Out() int { return n.layers[len(n.layers)-1].out }

// Run computes the outputs for the inputs x, which have InputBits fractional bits and are clamped
// to [-InputMax, InputMax]. The outputs have 12 fractional bits. Run panics unless out and x have
// the net's sizes. It allocates only if s has to grow.
func (n *Net) Run(out, x []int32, s *Scratch) {
	if len(x) != n.In() || len(out) != n.Out() {
		panic(fmt.Sprintf("nn: got %d inputs and %d outputs, expected %d and %d", len(x), len(out), n.In(), n.Out()))
	}
	if !n.vectors.run(out, x, &s.vectors) {
		n.run(out, x, s)
	}
}

// run is Run without vector instructions.
func (n *Net) run(out, x []int32, s *Scratch) {
	s.loadInputs(x)
	last := len(n.layers) - 1
	for i := range last {
		l := &n.layers[i]
		s.sums = resize(s.sums, l.out)
		l.run(s.sums, s)
		s.activate(s.sums)
	}
	n.layers[last].run(out, s)
}

// loadInputs clamps the inputs x of the first layer and stores those that are not 0, with their indices, in nonZero.
func (s *Scratch) loadInputs(x []int32) {
	n := 0
	s.nonZero = resize(s.nonZero, len(x))
	for i, v := range x {
		n = s.appendNonZero(n, i, min(max(v, -InputMax), InputMax))
	}
	s.nonZero = s.nonZero[:n]
}

// activate clamps the sums of a hidden layer, applies the leaky ReLU and stores the results in
// nonZero, as inputs of the next layer.
func (s *Scratch) activate(sums []int32) {
	n := 0
	s.nonZero = resize(s.nonZero, len(sums))
	for i, v := range sums {
		v = min(max(v, -hiddenMax), hiddenMax)
		if v < 0 {
			v = v * slopeNum >> slopeBits // times the slope, rounded down
		}
		n = s.appendNonZero(n, i, v)
	}
	s.nonZero = s.nonZero[:n]
}

// appendNonZero stores input i with value v at nonZero[n]. It returns n+1, or n if v is zero, so
// that the next input overwrites it. It has no branch, because the processor could not predict it.
func (s *Scratch) appendNonZero(n, i int, v int32) int {
	s.nonZero[n] = input{uint64(int64(v)), i}
	return n + int(uint32(v|-v)>>31) // the sign bit of v|-v is 0 only if v is 0
}

// resize returns v with length n, or a new slice if v is too small.
func resize[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}

// run computes the scaled sums of a layer from the inputs in s.nonZero, block by block, and stores them in out. A
// word holds the sums of two outputs.
func (l *layer) run(out []int32, s *Scratch) {
	for b := 0; b*block < len(l.bias); b++ {
		words := l.weightPairs[b*l.in : (b+1)*l.in]
		bias := (*[block]uint64)(l.bias[b*block:])
		s0, s1, s2, s3 := bias[0], bias[1], bias[2], bias[3]
		for _, x := range s.nonZero {
			w := &words[x.index]
			s0 += w[0] * x.value
			s1 += w[1] * x.value
			s2 += w[2] * x.value
			s3 += w[3] * x.value
		}
		l.unpack(out, b*2*block, [block]uint64{s0, s1, s2, s3})
	}
}

// unpack scales the sums of one block and stores them in out, from output k on, which is even. Each
// word holds the sum of an even output in its low half and that of the next one in its high half.
func (l *layer) unpack(out []int32, k int, sums [block]uint64) {
	for _, sum := range sums {
		if k >= l.out {
			return
		}
		lo := int32(sum)
		out[k] = lo >> l.sumShift[k]
		k++
		if k < l.out {
			// Subtracting the signed low sum undoes its borrow from the high one.
			out[k] = int32((sum-uint64(int64(lo)))>>32) >> l.sumShift[k]
		}
		k++
	}
}

// A row is one output of a layer, as stored in a file.
type row struct {
	shift  uint8   // fractional bits of the weights
	bias   int32   // with shift+InputBits fractional bits
	weight []int16 // weight of each input, with shift fractional bits
}

// limits returns the bound of the inputs and the fractional bits of the outputs of layer i of n
// layers: the first layer has the net's inputs, the last one its outputs.
func limits(i, n int) (inMax int64, outBits int) {
	inMax, outBits = hiddenMax, InputBits
	if i == 0 {
		inMax = InputMax
	}
	if i == n-1 {
		outBits = outputBits
	}
	return inMax, outBits
}

// sumShift returns the number of bits by which a sum is scaled down, if weights have shift
// fractional bits.
func sumShift(shift uint8, outBits int) int { return int(shift) + InputBits - outBits }

// maxSum returns the largest magnitude that the row's sum can have, including rounding, for inputs of
// up to inMax; see limits for the parameters.
func (r *row) maxSum(inMax int64, outBits int) int64 {
	sum := max(int64(r.bias), -int64(r.bias)) + 1<<sumShift(r.shift, outBits)/2
	for _, w := range r.weight {
		sum += max(int64(w), -int64(w)) * inMax
	}
	return sum
}

// packLayer returns layer i of n with the given rows. It refuses rows whose sum could exceed 32
// bits for some input, because the low half of a word would then change the high half.
func packLayer(rows []row, i, n int) (layer, error) {
	in, out := len(rows[0].weight), len(rows)
	blocks := (out + 2*block - 1) / (2 * block)
	l := layer{
		in: in, out: out,
		weightPairs: make([][block]uint64, blocks*in),
		bias:        make([]uint64, blocks*block),
		sumShift:    make([]uint8, out),
	}
	inMax, outBits := limits(i, n)
	for k := range rows {
		r := &rows[k]
		if r.shift < minShift || r.shift > maxShift {
			return layer{}, fmt.Errorf("%w: layer %d, output %d: %d fractional bits, expected %d to %d", errInvalidNet, i, k, r.shift,
				minShift, maxShift)
		}
		if largest := r.maxSum(inMax, outBits); largest > math.MaxInt32 {
			return layer{}, fmt.Errorf("%w: layer %d, output %d: sum can reach %d, expected at most %d", errInvalidNet, i, k, largest,
				math.MaxInt32)
		}
		l.setOutput(k, r, sumShift(r.shift, outBits))
	}
	return l, nil
}

// setOutput adds the weights of output k to its halves of words. A negative weight borrows from the
// upper half, as its products do.
func (l *layer) setOutput(k int, r *row, shift int) {
	half := 32 * uint(k&1) // the lowest bit of the output's half
	l.sumShift[k] = uint8(shift)
	l.bias[k/2] += uint64(int64(r.bias)+1<<shift/2) << half // 1<<shift/2 rounds the scaled sum
	first := k / (2 * block) * l.in
	for i, w := range r.weight {
		l.weightPairs[first+i][k/2%block] += uint64(int64(w)) << half
	}
}

// rows is the inverse of packLayer: it returns the weights, the bias and the shift of each output. outBits is the
// number of fractional bits of the layer's outputs.
func (l *layer) rows(outBits int) []row {
	rows := make([]row, l.out)
	for k := range rows {
		r := row{weight: make([]int16, l.in)}
		r.shift = uint8(int(l.sumShift[k]) - InputBits + outBits)
		r.bias = unpackHalf(l.bias[k/2], k) - 1<<l.sumShift[k]/2 // the stored bias has half a unit more, for rounding
		first := k / (2 * block) * l.in
		for i := range r.weight {
			r.weight[i] = int16(unpackHalf(l.weightPairs[first+i][k/2%block], k))
		}
		rows[k] = r
	}
	return rows
}

// unpackHalf returns output k's half of a word.
func unpackHalf(word uint64, k int) int32 {
	lo := int32(word)
	if k&1 == 0 {
		return lo
	}
	return int32((word - uint64(int64(lo))) >> 32)
}
