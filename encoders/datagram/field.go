package datagram

import (
	"math"
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// A field is a number of up to 32 bits with up to two predictions. The residual of each has a
// distribution over buckets, whose width grows with the distance.
type field struct {
	bits  uint8 // of the number
	units uint8 // the first has what does not fill 8 bits
	guess [guesses]guess
	share [guesses][classes][2][buckets]uint8
	// below holds the mass, of massOne, of the buckets below each on one side of the prediction,
	// by class: see number.beginField.
	below [guesses][classes][2][buckets + 1]uint32
}

// count returns the number of guesses: one if the second equals the first.
func (f *field) count() int {
	if f.guess[1] == f.guess[0] {
		return 1
	}
	return guesses
}

const (
	buckets = 128
	classes = 4
	guesses = 2
	massOne = 1 << 19
)

// bucket returns the bucket of distance k, where it begins, and the log of its width.
func bucket(k uint32) (i int, from uint32, log uint) {
	if k < 4 {
		return int(k), k, 0
	}
	l := uint(bits.Len32(k)) - 1
	sub := k >> (l - 2) & 3
	return int(4*(l-1)) + int(sub), (4 + sub) << (l - 2), l - 2
}

// fill computes masses from shares, which are in eighths of a bit.
func (f *field) fill() {
	for g := range f.count() {
		for c := range f.share[g] {
			fill(&f.below[g][c], &f.share[g][c])
		}
	}
}

func fill(below *[2][buckets + 1]uint32, share *[2][buckets]uint8) {
	sum := uint64(1)
	for side := range share {
		for _, s := range share[side] {
			sum += shareOf(s)
		}
	}
	for side := range share {
		so := uint64(0)
		for i, s := range share[side] {
			below[side][i] = uint32(so * massOne / sum)
			so += shareOf(s)
		}
		below[side][buckets] = uint32(so * massOne / sum)
	}
}

// shares removes the share of buckets beyond the field's bits, and returns the number of the others.
func (f *field) shares(share *[buckets]uint8) int {
	n := 4 * int(f.bits)
	for i := n; i < buckets; i++ {
		share[i] = 255
	}
	return n
}

// shareOf returns 2^(32-s/8).
func shareOf(s uint8) uint64 {
	eighths := [8]uint64{1 << 32, 3938502375, 3611622602, 3311872529, 3037000499, 2784941738, 2553802833, 2341847524}
	return eighths[s&7] >> (s >> 3)
}

// shareFrom returns the share, as shareOf takes it, of part in whole.
func shareFrom(part, whole int64) uint8 {
	p := uint32(min(max(part<<30/max(whole, 1), 2), 1<<30))
	return uint8(min(max((30*65536-rangecoder.Log2(p)+4096)>>13, 0), 255))
}

// under returns the mass of distances below k.
func under(t *[buckets + 1]uint32, k uint64) int64 {
	if k > math.MaxUint32 {
		return int64(t[buckets])
	}
	i, from, log := bucket(uint32(k))
	a := int64(t[i])
	return a + (int64(t[i+1])-a)*int64(k-uint64(from))>>log
}

// mass returns the mass of residuals below r. Residuals of half or more wrap to the lowest.
func mass(b *[2][buckets + 1]uint32, r, half int64) int64 {
	if r > half {
		return mass(b, half, half) + mass(b, r-2*half, half) - mass(b, -half, half)
	}
	if r >= 0 {
		return int64(b[1][buckets]) + under(&b[0], uint64(r))
	}
	return int64(b[1][buckets]) - under(&b[1], uint64(-r))
}

// value reads a number of some bits that begins at a unit.
func (m message) value(at int, bits uint8) int64 {
	var v int64
	for n := int(bits); n > 0; n -= 8 {
		v = v<<8 | int64(m.at(at))
		at++
	}
	return v & (1<<bits - 1)
}

// Ways of writing a time.
const (
	floatBig    = iota // seconds, highest byte first
	integerBig         // any unit
	floatLittle        // seconds, lowest byte first
	integerLittle
	timings
)

// clockTime reads a time from four bytes: integers unchanged, floats in 1/65536.
func clockTime(b uint32, timing uint8) uint32 {
	if timing >= floatLittle {
		b = bits.ReverseBytes32(b)
	}
	if timing&1 == integerBig {
		return b
	}
	mantissa := uint64(b&(1<<23-1) | 1<<23)
	shift := int(b>>23&255) - 150 + 16
	switch {
	case shift > 31 || shift < -31:
		return 0
	case shift >= 0:
		mantissa <<= shift
	default:
		mantissa >>= -shift
	}
	if b>>31 != 0 {
		mantissa = -mantissa
	}
	return uint32(mantissa)
}
