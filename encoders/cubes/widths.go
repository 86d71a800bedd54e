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

// word is a run of up to 57 bits of a packet that are coded at once, because half of all time
// is spent on differences: a writer puts them together, a reader takes them off.
type word struct {
	bits uint64 // to be written, or left to be read; low ones first
	n    uint   // how many were put or taken
}

// put appends the difference v, which must fit.
func (x *word) put(w widths, v int32) {
	if z := zigzag(v); z < 1<<w.small {
		x.bits |= uint64(z) << (x.n + 1)
		x.n += 1 + w.small
	} else {
		x.bits |= (uint64(z-1<<w.small)<<1 | 1) << x.n
		x.n += 1 + w.large
	}
}

// take takes off a difference.
func (x *word) take(w widths) int32 {
	n, from := w.small, uint32(0)
	if x.bits&1 != 0 {
		n, from = w.large, 1<<w.small
	}
	z := uint32(x.bits>>1&(1<<n-1)) + from
	x.bits >>= n + 1
	x.n += n + 1
	return unzigzag(z)
}

// three codes three differences, which must fit. A reader replaces them by what it reads.
func (w widths) three(c *coder, v *[3]int32) {
	if c.reading {
		x := word{bits: c.r.Peek()}
		v[0], v[1], v[2] = x.take(w), x.take(w), x.take(w)
		c.r.Skip(x.n)
		return
	}
	var x word
	x.put(w, v[0])
	x.put(w, v[1])
	x.put(w, v[2])
	c.w.Bits(x.bits, x.n)
}
