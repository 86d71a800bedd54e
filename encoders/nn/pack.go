package nn

import (
	"fmt"
	"math"
)

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
