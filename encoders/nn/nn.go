// Package nn runs small fully connected nets on a coding path: encoder and
// decoder must compute the same probabilities on every processor there is, so
// everything here is integers and nothing can overflow.
//
// Inputs are fixed point with ten binary places, clamped to [-4, 4]. Weights are
// int16 with as many binary places as their row affords. Hidden values have ten
// places again, held within [-32, 32) and passed through a leaky ReLU whose slope
// is 13/128; outputs have twelve places and no bend.
//
// One multiplication serves two products: the weights of two neighbouring outputs are in
// one 64-bit word, hi<<32 + lo, and one word times one input adds to both sums at once. The
// low sum may borrow from the high one, which is undone at the end, because the low sum is
// known then, provided that both fit 32 bits. Read and Quantise refuse nets with a sum that
// some input could make larger.
//
// Where the processor has AVX2, its vector instructions do the same some five times as fast
// (lanes_amd64.go), unless the tag purego is set. The results are the same integers, and the
// code in this file is the reference.
//
// Package train/mdn learns nets.
package nn

import (
	"errors"
	"fmt"
	"math"
)

// The fixed point of a net's values.
const (
	InputBits  = 10                                    // binary places of an input and of a hidden value
	InputMax   = 4 << InputBits                        // inputs are clamped to [-InputMax, InputMax]
	outputBits = 12                                    // binary places of an output
	hiddenMax  = math.MaxInt16                         // hidden values are clamped to [-hiddenMax, hiddenMax]
	slopeNum   = 13                                    // the leaky ReLU's slope below zero is
	slopeBits  = 7                                     // slopeNum / 1<<slopeBits, rounded down
	maxShift   = 24                                    // places of a weight beyond which none needs more
	minShift   = 2                                     // so that sums are never scaled up
	maxLayers  = 8                                     // of a net
	maxWidth   = 1 << 11                               // of a layer
	block      = 4                                     // words summed side by side, in registers
	Slope      = float32(slopeNum) / (1 << slopeBits)  // the leaky ReLU's slope, for trainers
	HiddenMax  = float32(hiddenMax) / (1 << InputBits) // bound of a hidden value, for trainers
)

// errNet means that layers or bytes make no net, or one that could overflow.
var errNet = errors.New("not a net")

// Net is a fully connected net. It is immutable: any number of goroutines may
// run it, each with its own Scratch.
type Net struct {
	layers []layer
	lanes  lanes // the same for vector instructions
}

// layer holds one layer's weights in the order in which they are used.
type layer struct {
	in, out int
	// words holds, for each block of 2*block outputs, for each input, the weights of
	// outputs 2k and 2k+1 in the halves of word k. Outputs beyond out have weights of
	// zero.
	words [][block]uint64
	bias  []uint64 // where the sums of each word begin, rounding included
	shift []uint8  // of each output: how far its sum is scaled down
}

// Scratch is the memory of a run. The zero Scratch is ready; it grows once.
type Scratch struct {
	in    []input // of a layer: those that are not zero
	act   []int32 // the values of the layer before
	lanes laneScratch
}

// input is the value of input i.
type input struct {
	v uint64
	i int
}

// In returns the number of inputs.
func (n *Net) In() int { return n.layers[0].in }

// Out returns the number of outputs.
func (n *Net) Out() int { return n.layers[len(n.layers)-1].out }

// Run computes the outputs, with 12 binary places, of the inputs x, which have InputBits
// places and are clamped to [-InputMax, InputMax]. It panics unless out and x have the net's sizes.
// It allocates only when s has to grow.
func (n *Net) Run(out, x []int32, s *Scratch) {
	if len(x) != n.In() || len(out) != n.Out() {
		panic(fmt.Sprintf("nn: %d inputs and %d outputs for a net of %d and %d", len(x), len(out), n.In(), n.Out()))
	}
	if !n.lanes.run(out, x, &s.lanes) {
		n.run(out, x, s)
	}
}

// run is Run in plain Go.
func (n *Net) run(out, x []int32, s *Scratch) {
	s.begin(x)
	last := len(n.layers) - 1
	for i := range last {
		l := &n.layers[i]
		s.act = grow(s.act, l.out)
		l.run(s.act, s)
		s.bend(s.act)
	}
	n.layers[last].run(out, s)
}

// begin stores the inputs of the first layer.
func (s *Scratch) begin(x []int32) {
	n := 0
	s.in = grow(s.in, len(x))
	for i, v := range x {
		n = s.take(n, i, min(max(v, -InputMax), InputMax))
	}
	s.in = s.in[:n]
}

// bend stores the sums of a hidden layer as the inputs of the next.
func (s *Scratch) bend(sums []int32) {
	n := 0
	s.in = grow(s.in, len(sums))
	for i, v := range sums {
		v = min(max(v, -hiddenMax), hiddenMax)
		if v < 0 {
			v = v * slopeNum >> slopeBits
		}
		n = s.take(n, i, v)
	}
	s.in = s.in[:n]
}

// take stores input i, which is v, after n others, and returns their number then. The next
// overwrites a zero, so that no branch depends on the value.
func (s *Scratch) take(n, i int, v int32) int {
	s.in[n] = input{uint64(int64(v)), i}
	return n + int(uint32(v|-v)>>31)
}

// grow returns v with length n, or a new slice if v is too small.
func grow[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}

// run sums a layer's products, block by block, and scales the sums.
func (l *layer) run(out []int32, s *Scratch) {
	for b := 0; b*block < len(l.bias); b++ {
		words := l.words[b*l.in : (b+1)*l.in]
		bias := (*[block]uint64)(l.bias[b*block:])
		s0, s1, s2, s3 := bias[0], bias[1], bias[2], bias[3]
		for _, x := range s.in {
			w := &words[x.i]
			s0 += w[0] * x.v
			s1 += w[1] * x.v
			s2 += w[2] * x.v
			s3 += w[3] * x.v
		}
		l.unpack(out, b*2*block, [block]uint64{s0, s1, s2, s3})
	}
}

// unpack scales the sums of one block into out, from output k on.
func (l *layer) unpack(out []int32, k int, sums [block]uint64) {
	for _, sum := range sums {
		if k >= l.out {
			return
		}
		lo := int32(sum)
		out[k] = lo >> l.shift[k]
		k++
		if k < l.out {
			out[k] = int32((sum-uint64(int64(lo)))>>32) >> l.shift[k]
		}
		k++
	}
}

// row is one output of a layer, in the form of the file.
type row struct {
	shift  uint8   // binary places of the weights
	bias   int32   // with the places of a sum: the weights' and the inputs'
	weight []int16 // one an input
}

// limits returns the bound of the inputs and the places of the outputs of layer i of n.
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

// down returns the bits by which a sum of weights with shift places is scaled down.
func down(shift uint8, outBits int) int { return int(shift) + InputBits - outBits }

// worst returns the largest magnitude that the row's sum can have, rounding included.
func (r *row) worst(inMax int64, outBits int) int64 {
	sum := max(int64(r.bias), -int64(r.bias)) + 1<<down(r.shift, outBits)/2
	for _, w := range r.weight {
		sum += max(int64(w), -int64(w)) * inMax
	}
	return sum
}

// pack makes layer i of n out of its rows. It refuses rows whose sums some input
// could drive out of 32 bits: the low half of a word would then spoil the high one.
func pack(rows []row, i, n int) (layer, error) {
	in, out := len(rows[0].weight), len(rows)
	blocks := (out + 2*block - 1) / (2 * block)
	l := layer{
		in: in, out: out,
		words: make([][block]uint64, blocks*in),
		bias:  make([]uint64, blocks*block),
		shift: make([]uint8, out),
	}
	inMax, outBits := limits(i, n)
	for k := range rows {
		r := &rows[k]
		if r.shift < minShift || r.shift > maxShift {
			return layer{}, fmt.Errorf("%w: layer %d, output %d: %d binary places, expected %d to %d", errNet, i, k, r.shift,
				minShift, maxShift)
		}
		if most := r.worst(inMax, outBits); most > math.MaxInt32 {
			return layer{}, fmt.Errorf("%w: layer %d, output %d: its sum can reach %d, expected at most %d", errNet, i, k, most,
				math.MaxInt32)
		}
		l.put(k, r, down(r.shift, outBits))
	}
	return l, nil
}

// put adds output k to its halves of words. A negative weight borrows from the upper half, as its
// products will.
func (l *layer) put(k int, r *row, shift int) {
	half := 32 * uint(k&1)
	l.shift[k] = uint8(shift)
	l.bias[k/2] += uint64(int64(r.bias)+1<<shift/2) << half
	first := k / (2 * block) * l.in
	for i, w := range r.weight {
		l.words[first+i][k/2%block] += uint64(int64(w)) << half
	}
}

// rows is the inverse of pack.
func (l *layer) rows(outBits int) []row {
	rows := make([]row, l.out)
	for k := range rows {
		r := row{weight: make([]int16, l.in)}
		r.shift = uint8(int(l.shift[k]) - InputBits + outBits)
		r.bias = half(l.bias[k/2], k) - 1<<l.shift[k]/2
		first := k / (2 * block) * l.in
		for i := range r.weight {
			r.weight[i] = int16(half(l.words[first+i][k/2%block], k))
		}
		rows[k] = r
	}
	return rows
}

// half returns output k's half of a word.
func half(word uint64, k int) int32 {
	lo := int32(word)
	if k&1 == 0 {
		return lo
	}
	return int32((word - uint64(int64(lo))) >> 32)
}
