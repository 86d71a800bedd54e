package rangecoder

// Zeros codes decisions by the counters named, as long as they are 0, and returns how many
// that were: a writer takes all for 0, a reader stops before the first that is 1. Counters
// learn as Update has them, unless limit is 0. It does what Bit and Update do, faster, for
// where most decisions are foreseen: a counter that comes again and again stays unpacked.
func (c *Coder) Zeros(model []Counter, at []int32, limit int) (done int) {
	if len(at) == 0 {
		return 0
	}
	ctx := at[0]
	p, n := uint32(model[ctx])>>countBits, uint32(model[ctx])&maxCount
	rng, off, code := c.rng, uint64(0), ^uint32(0)
	if c.reading {
		code = c.code
	}
	for ; done < len(at); done++ {
		if next := at[done]; next != ctx {
			model[ctx] = Counter(p<<countBits | n)
			ctx = next
			p, n = uint32(model[ctx])>>countBits, uint32(model[ctx])&maxCount
		}
		bound := uint32(uint64(rng) * uint64(p/fine) >> 16)
		if code < bound && c.reading {
			break
		}
		off, code, rng = off+uint64(bound), code-bound, rng-bound
		if limit != 0 {
			p = max(p-uint32((uint64(p)*uint64(steps[n])+One-1)>>16), fine)
			n += uint32(int32(n)-int32(limit)) >> 31
		}
		if rng < minRange {
			c.move(off, code, rng)
			rng, off = c.rng, 0
			if c.reading {
				code = c.code
			}
		}
	}
	model[ctx] = Counter(p<<countBits | n)
	c.move(off, code, rng)
	return done
}

// move leaves the interval to the part of it that begins at off, where a reader's code is
// code, and makes it wide enough again.
func (c *Coder) move(off uint64, code, rng uint32) {
	c.rng = rng
	if c.reading {
		c.code = code
		c.refill()
	} else {
		c.low += off
		c.shift()
	}
}
