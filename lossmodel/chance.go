package lossmodel

import "math/bits"

// chance is a probability in units of 2^-63: 0 never hits, certain always does.
// Floats end here; from a chance on, decisions compare integers.
type chance uint64

const certain chance = 1 << 63

// chanceOf converts a probability. Scaling by a power of two is exact, so every
// machine gets the same threshold.
func chanceOf(p float64) chance {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return certain
	}
	return chance(p * (1 << 63))
}

// hit decides by a uniform 64-bit word.
func (c chance) hit(word uint64) bool { return word>>1 < uint64(c) }

// anyOf returns the chance that at least one of n independent trials hits:
// 1-(1-c)^n, in fixed point.
func (c chance) anyOf(n int) chance {
	miss := uint64(certain - c)
	all := uint64(certain)
	for range n {
		hi, lo := bits.Mul64(all, miss)
		all = hi<<1 | lo>>63
	}
	return certain - chance(all)
}

// scale returns the share of n that word picks: uniform on 0..n-1, n > 0.
func scale(word, n uint64) uint64 {
	hi, _ := bits.Mul64(word, n)
	return hi
}
