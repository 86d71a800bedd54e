//go:build !purego

package nn

import "golang.org/x/sys/cpu"

// lanes is a net as vector instructions read it: sixteen outputs side by side, and for each
// of them two inputs at a time. Weights and inputs are int16, of which the products are added
// in int32. Sums may wrap on the way, but fit at the end, as Read and Quantise check. So the
// results are those of layer.run, to the bit.
type lanes []laneLayer

const wide = 16 // outputs side by side

// laneLayer is one layer. Outputs are filled up to a multiple of wide, inputs to a
// multiple of two; those added have weights of zero.
type laneLayer struct {
	weights []int16 // for each wide outputs, for each two inputs, for each output: both weights
	bias    []int32 // where sums begin, rounding included
	shift   []int32 // by how many bits sums are scaled down
	pairs   int     // of inputs
	groups  int     // of wide outputs
}

// laneScratch is the memory of a run.
type laneScratch struct {
	x    []int16
	sums []int32
}

// newLanes returns the layers as lanes, nil if this processor has no AVX2.
func newLanes(layers []layer) lanes {
	if !cpu.X86.HasAVX2 {
		return nil
	}
	n := make(lanes, len(layers))
	for i := range layers {
		_, outBits := limits(i, len(layers))
		n[i] = newLaneLayer(&layers[i], outBits)
	}
	return n
}

func newLaneLayer(l *layer, outBits int) laneLayer {
	w := laneLayer{pairs: (l.in + 1) / 2, groups: (l.out + wide - 1) / wide}
	w.weights = make([]int16, w.groups*w.pairs*2*wide)
	w.bias, w.shift = make([]int32, w.groups*wide), make([]int32, w.groups*wide)
	for k, r := range l.rows(outBits) {
		w.bias[k], w.shift[k] = r.bias+1<<l.shift[k]/2, int32(l.shift[k])
		group := w.weights[k/wide*w.pairs*2*wide:]
		for i, v := range r.weight {
			group[i/2*2*wide+k%wide*2+i%2] = v
		}
	}
	return w
}

// run is Net.Run with vector instructions. It returns false if n is nil.
func (n lanes) run(out, x []int32, s *laneScratch) bool {
	if n == nil {
		return false
	}
	width := padded(len(x))
	for i := range n {
		width = max(width, n[i].groups*wide)
	}
	s.x, s.sums = grow(s.x, width), grow(s.sums, width)
	sums := s.sums[:padded(len(x))]
	clear(sums[copy(sums, x):])
	narrow(s.x[:len(sums)], sums, InputMax, 1<<slopeBits) // a slope of one
	for i := range n {
		l := &n[i]
		sums = s.sums[:l.groups*wide]
		sumAVX2(&sums[0], &l.bias[0], &l.shift[0], &l.weights[0], &s.x[0], l.pairs, l.groups)
		if i < len(n)-1 {
			narrow(s.x[:len(sums)], sums, hiddenMax, slopeNum)
		}
	}
	copy(out, sums)
	return true
}

func padded(n int) int { return (n + wide - 1) / wide * wide }

// narrow sets dst to the values of src, a multiple of wide of them, held within -limit and
// limit. Those below zero are multiplied by slope / 1<<slopeBits and rounded down; slope is at
// most 1<<slopeBits.
func narrow(dst []int16, src []int32, limit, slope int32) {
	narrowAVX2(&dst[0], &src[0], len(src)/wide, limit, slope)
}

// sumAVX2 sets sums to the scaled sums of a layer's products with the inputs x.
//
//go:noescape
func sumAVX2(sums, bias, shift *int32, weights, x *int16, pairs, groups int)

//go:noescape
func narrowAVX2(dst *int16, src *int32, groups int, limit, slope int32)
