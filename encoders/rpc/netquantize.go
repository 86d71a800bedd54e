package rpc

import (
	"math"
	"math/bits"

	"wirelab/internal/bitio"
)

// UE's FVector_NetQuantize10: vectors of three floats, rounded to tenths, all three
// in as many bits as the largest needs (WritePackedVector<10, 24>, Epic Games). The
// bits are those that UE writes, least significant first.
const (
	quantum    = 10 // steps a unit
	mostBits   = 24 // of a component, which bounds it to +-1,677,721.5
	vectorSize = 3  // components
)

// vector is three components, rounded.
type vector [vectorSize]int32

// round returns v in tenths, rounded as UE does it: half up, in float32. ok is false
// for what is no number or needs more than mostBits.
func round(v float32) (i int32, ok bool) {
	x := float32(v * quantum)
	x = float32(x + 0.5)
	x = float32(math.Floor(float64(x)))
	const limit = 1 << mostBits
	if !(x > -limit && x < limit) {
		return 0, false
	}
	return int32(x), true
}

// unround returns the float that i tenths stand for.
func unround(i int32) float32 { return float32(float32(i) / quantum) }

// size returns the number k by which the vector states its width: each component
// takes k+2 bits.
func (v *vector) size() uint {
	most := uint32(0)
	for _, i := range v {
		most = max(most, uint32(max(i, -i)))
	}
	// ceil(log2(1+most)) is the number of bits of most.
	return uint(min(max(bits.Len32(most), 1), mostBits)) - 1
}

// sizeBits returns the bits in which k travels: a number below 24, of which the
// fifth bit is known if the other four leave no room for it.
func sizeBits(k uint) uint {
	if k&15 >= mostBits-16 {
		return 4
	}
	return 5
}

// bitsOf returns how many bits the vector takes.
func (v *vector) bitsOf() int {
	k := v.size()
	return int(sizeBits(k) + vectorSize*(k+2))
}

// write writes the vector.
func (v *vector) write(w *bitio.Writer) {
	k := v.size()
	w.Bits(uint64(k), sizeBits(k))
	for _, i := range v {
		w.Bits(uint64(i+1<<(k+1)), k+2)
	}
}

// read reads a vector; not ok if no writer would have put it so.
func (v *vector) read(r *bitio.Reader) (ok bool) {
	k := uint(r.Bits(4))
	if sizeBits(k) == 5 {
		k |= uint(r.Bits(1)) << 4
	}
	for c := range v {
		v[c] = int32(r.Bits(k+2)) - 1<<(k+1)
	}
	return v.size() == k
}
