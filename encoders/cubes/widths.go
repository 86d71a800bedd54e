package cubes

// widths are the bits that a signed difference takes: small if it fits there,
// else large. One bit says which. Since a large value is known not to be small,
// the large range begins where the small one ends, on both sides.
type widths struct{ small, large uint }

// zigzag maps 0, -1, 1, -2, 2, ... to 0, 1, 2, 3, 4, ..., so that a range of n
// bits around zero, [-2^(n-1), 2^(n-1)-1], is the range below 2^n.
func zigzag(v int32) uint32 { return uint32(v<<1) ^ uint32(v>>31) }

// unzigzag is the inverse of zigzag.
func unzigzag(z uint32) int32 { return int32(z>>1) ^ -int32(z&1) }

// fits reports whether w can express the difference z, in zigzag.
func (w widths) fits(z uint32) bool { return z < 1<<w.small+1<<w.large }

// bits returns what the difference z takes, in zigzag; it must fit.
func (w widths) bits(z uint32) int {
	if z < 1<<w.small {
		return 1 + int(w.small)
	}
	return 1 + int(w.large)
}

// difference codes v, which must fit: flag and value, spelled out for either
// direction because half of all time is spent here.
func (w widths) difference(c *coder, v int32) int32 {
	if c.reading {
		if c.r.Bits(1) == 0 {
			return unzigzag(uint32(c.r.Bits(w.small)))
		}
		return unzigzag(uint32(c.r.Bits(w.large)) + 1<<w.small)
	}
	if z := zigzag(v); z < 1<<w.small {
		c.w.Bits(uint64(z)<<1, w.small+1)
	} else {
		c.w.Bits(uint64(z-1<<w.small)<<1|1, w.large+1)
	}
	return v
}
