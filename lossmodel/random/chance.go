package random

import "math/bits"

// Chance is a probability in units of 2^-63: 0 never hits, Certain always does.
// Floats end here; from a Chance on, decisions compare integers.
type Chance uint64

// Certain is the chance of what always happens.
const Certain Chance = 1 << 63

// ChanceOf converts a probability. Scaling by a power of two is exact, so every
// machine gets the same threshold.
func ChanceOf(p float64) Chance {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return Certain
	}
	return Chance(p * (1 << 63))
}

// Hit decides by a uniform 64-bit word.
func (c Chance) Hit(word uint64) bool { return word>>1 < uint64(c) }

// AnyOf returns the chance that at least one of n independent trials hits:
// 1-(1-c)^n, in fixed point.
func (c Chance) AnyOf(n int) Chance {
	miss := uint64(Certain - c)
	all := uint64(Certain)
	for range n {
		hi, lo := bits.Mul64(all, miss)
		all = hi<<1 | lo>>63
	}
	return Certain - Chance(all)
}

// Below returns the number below n that word stands for: uniform on 0..n-1, n > 0.
func Below(word, n uint64) uint64 {
	hi, _ := bits.Mul64(word, n)
	return hi
}
