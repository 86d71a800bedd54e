//go:build !purego

package nn

import "golang.org/x/sys/cpu"

// A vectorNet is a net in the order of vector instructions: outputs in groups of sixteen, and for
// each group two inputs at a time. Weights and inputs are int16, their products are added in int32.
// Intermediate sums may wrap, but the final sums fit, as Read and Quantise have checked, so the
// results equal those of layer.run.
type vectorNet []vectorLayer

// groupSize is the number of outputs in a group.
const groupSize = 16

// A vectorLayer is one layer. The number of outputs is padded to a multiple of groupSize, that of
// inputs to a multiple of two, with weights of zero.
type vectorLayer struct {
	weights []int16 // by group, then by pair of inputs, then by output of the group: both weights
	bias    []int32 // initial values of sums, including rounding
	shift   []int32 // number of bits by which sums are scaled down
	pairs   int     // number of pairs of inputs
	groups  int     // number of groups of outputs
}

// vectorScratch is the working memory of a run.
type vectorScratch struct {
	x    []int16 // inputs of the current layer
	sums []int32 // scaled sums of the current layer
}

// newVectorNet converts layers; it returns nil if this processor has no AVX2.
func newVectorNet(layers []layer) vectorNet {
	if !cpu.X86.HasAVX2 {
		return nil
	}
	n := make(vectorNet, len(layers))
	for i := range layers {
		_, outBits := limits(i, len(layers))
		n[i] = newVectorLayer(&layers[i], outBits)
	}
	return n
}

// newVectorLayer converts a layer whose outputs have outBits fractional bits. The weights are stored in the
// order in which the vector routine reads them: by group of groupSize outputs, then by pair of inputs, then by
// output of the group, two weights each.
func newVectorLayer(l *layer, outBits int) vectorLayer {
	packed := vectorLayer{pairs: (l.in + 1) / 2, groups: (l.out + groupSize - 1) / groupSize}
	packed.weights = make([]int16, packed.groups*packed.pairs*2*groupSize)
	packed.bias, packed.shift = make([]int32, packed.groups*groupSize), make([]int32, packed.groups*groupSize)
	for k, r := range l.rows(outBits) {
		// Half of the unit of the scaled sum, 1<<sumShift[k], is added to the bias, which rounds the sum.
		packed.bias[k], packed.shift[k] = r.bias+1<<l.sumShift[k]/2, int32(l.sumShift[k])
		group := packed.weights[k/groupSize*packed.pairs*2*groupSize:]
		for i, v := range r.weight {
			// Pair i/2 of inputs, output k%groupSize of the group, first or second input of the pair.
			group[i/2*2*groupSize+k%groupSize*2+i%2] = v
		}
	}
	return packed
}

// run is Net.Run with vector instructions. It returns false if n is nil.
func (n vectorNet) run(out, x []int32, s *vectorScratch) bool {
	if n == nil {
		return false
	}
	width := padToGroup(len(x))
	for i := range n {
		width = max(width, n[i].groups*groupSize)
	}
	s.x, s.sums = resize(s.x, width), resize(s.sums, width)
	sums := s.sums[:padToGroup(len(x))]
	clear(sums[copy(sums, x):])                           // the inputs, followed by zeros
	narrow(s.x[:len(sums)], sums, InputMax, 1<<slopeBits) // a slope of 1: only clamp
	for i := range n {
		l := &n[i]
		sums = s.sums[:l.groups*groupSize]
		sumAVX2(&sums[0], &l.bias[0], &l.shift[0], &l.weights[0], &s.x[0], l.pairs, l.groups)
		if i < len(n)-1 {
			narrow(s.x[:len(sums)], sums, hiddenMax, slopeNum)
		}
	}
	copy(out, sums)
	return true
}

// padToGroup returns n rounded up to a multiple of groupSize.
func padToGroup(n int) int { return (n + groupSize - 1) / groupSize * groupSize }

// narrow stores the values of src, whose length is a multiple of groupSize, in dst, limited to
// +-limit. Negative values are multiplied by slope / 1<<slopeBits and rounded down; slope is at
// most 1<<slopeBits.
func narrow(dst []int16, src []int32, limit, slope int32) {
	narrowAVX2(&dst[0], &src[0], len(src)/groupSize, limit, slope)
}

// sumAVX2 stores in sums the scaled sums of the products of a layer's weights with the inputs x.
//
//go:noescape
func sumAVX2(sums, bias, shift *int32, weights, x *int16, pairs, groups int)

// narrowAVX2 is narrow for groups of values.
//
//go:noescape
func narrowAVX2(dst *int16, src *int32, groups int, limit, slope int32)
