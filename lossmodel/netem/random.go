package netem

// lfsr is P. L'Ecuyer's generator LFSR113 (Tables of maximally equidistributed combined LFSR
// generators, 1999), the kernel's prandom_u32_state.
type lfsr struct{ s1, s2, s3, s4 uint32 }

// newLFSR seeds a generator as the kernel does: each word has a minimum, and no values are
// discarded.
func newLFSR(seed uint64) lfsr {
	x := uint32(seed>>32) ^ uint32(seed<<10) ^ uint32(seed)
	atLeast := func(minimum uint32) uint32 {
		if x < minimum {
			return x + minimum
		}
		return x
	}
	return lfsr{atLeast(2), atLeast(8), atLeast(16), atLeast(128)}
}

// next returns the next random number.
func (g *lfsr) next() uint32 {
	g.s1 = (g.s1&^1)<<18 ^ (g.s1<<6^g.s1)>>13
	g.s2 = (g.s2&^7)<<2 ^ (g.s2<<2^g.s2)>>27
	g.s3 = (g.s3&^15)<<7 ^ (g.s3<<13^g.s3)>>21
	g.s4 = (g.s4&^127)<<13 ^ (g.s4<<3^g.s4)>>12
	return g.s1 ^ g.s2 ^ g.s3 ^ g.s4
}

// correlated is netem's correlation: each value is a weighted mean of a random value and the
// value before. This narrows the distribution of the values around the middle, so that they hit a
// threshold with a different probability than intended.
type correlated struct {
	last uint32 // the last value; the kernel initializes it without a seed
}

// next returns the next value for the correlation rho, uniform only if rho is 0. It always draws one
// random number from g. With a rho of 0, last is not changed, as in the kernel.
func (c *correlated) next(g *lfsr, rho probability) uint32 {
	fresh := g.next()
	if rho == 0 {
		return fresh
	}
	weight := uint64(rho) + 1 // weight of the last value, in units of 2^-32
	c.last = uint32((uint64(fresh)*(1<<32-weight) + uint64(c.last)*weight) >> 32)
	return c.last
}
