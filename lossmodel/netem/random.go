package netem

// lfsr is P. L'Ecuyer's LFSR113 (Tables of maximally equidistributed combined LFSR
// generators, 1999), the kernel's prandom_u32_state.
type lfsr struct{ s1, s2, s3, s4 uint32 }

// newLFSR seeds as the kernel does: each word must not be below a least value, and
// nothing is thrown away to warm up.
func newLFSR(seed uint64) lfsr {
	x := uint32(seed>>32) ^ uint32(seed<<10) ^ uint32(seed)
	atLeast := func(least uint32) uint32 {
		if x < least {
			return x + least
		}
		return x
	}
	return lfsr{atLeast(2), atLeast(8), atLeast(16), atLeast(128)}
}

func (g *lfsr) next() uint32 {
	g.s1 = (g.s1&^1)<<18 ^ (g.s1<<6^g.s1)>>13
	g.s2 = (g.s2&^7)<<2 ^ (g.s2<<2^g.s2)>>27
	g.s3 = (g.s3&^15)<<7 ^ (g.s3<<13^g.s3)>>21
	g.s4 = (g.s4&^127)<<13 ^ (g.s4<<3^g.s4)>>12
	return g.s1 ^ g.s2 ^ g.s3 ^ g.s4
}

// correlated is netem's correlation: each value a weighted mean of a fresh one
// and the value before. That narrows the spread of the values to the middle, so
// comparing them with a threshold no longer hits as often as it says.
type correlated struct {
	last uint32 // the kernel starts it from no seed
}

// next draws once in any case.
func (c *correlated) next(g *lfsr, rho share) uint32 {
	fresh := g.next()
	if rho == 0 {
		return fresh
	}
	weight := uint64(rho) + 1
	c.last = uint32((uint64(fresh)*(1<<32-weight) + uint64(c.last)*weight) >> 32)
	return c.last
}
