package random

import "math/bits"

// Chance is a probability in units of 2^-63: 0 never hits, Certain always does. Decisions compare
// a Chance with a random word, without floats.
type Chance uint64

// Certain is the probability 1.
const Certain Chance = 1 << 63

// NewChance converts a probability, limited to 0..1; NaN counts as 0. Scaling by a power of two is
// exact, so all machines give the same result.
func NewChance(p float64) Chance {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return Certain
	}
	return Chance(p * (1 << 63))
}

// Draw is a random decision: it hits if the number of Word is below Chance.
type Draw struct {
	Chance Chance // 0 means that nothing was drawn
	Word   uint64
}

// Shares returns the probability and the drawn number, both from 0 to 1.
func (d Draw) Shares() (chance, drawn float64) {
	return float64(d.Chance) / (1 << 63), float64(d.Word>>1) / (1 << 63)
}

// Hit returns true with the probability c for a uniformly distributed word.
func (c Chance) Hit(word uint64) bool { return word>>1 < uint64(c) }

// AnyOf returns the probability that at least one of n independent trials hits: 1-(1-c)^n, in
// fixed point.
func (c Chance) AnyOf(n int) Chance {
	miss := uint64(Certain - c)
	all := uint64(Certain) // probability that all trials so far miss
	for range n {
		hi, lo := bits.Mul64(all, miss)
		all = hi<<1 | lo>>63 // the product in units of 2^-63
	}
	return Certain - Chance(all)
}

// Below converts a uniformly distributed word to a uniformly distributed number in [0, n), n > 0.
func Below(word, n uint64) uint64 {
	hi, _ := bits.Mul64(word, n) // word * n / 2^64
	return hi
}
