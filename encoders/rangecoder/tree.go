package rangecoder

// Tree codes a symbol v of n bits, the highest first. Every bit has the counter of the
// node that the bits before it lead to: nodes are numbered from 1, those below node i
// are 2i and 2i+1, and there are 1<<n with one in front that is not used. A limit of 0
// leaves the counters alone, otherwise they learn as in Counter.Update.
//
// It does what Bit does n times, with the state in registers.
func (c *Coder) Tree(nodes []Counter, v int, n uint, limit int) int {
	nodes = nodes[:1<<n]
	if c.reading {
		return c.readTree(nodes, limit)
	}
	at, low, rng := 1, c.low, c.rng
	for n > 0 {
		n--
		k, bit := &nodes[at&(len(nodes)-1)], v>>n&1
		from, width := cut(rng, uint32(uint64(rng)*uint64(k.P())>>16), bit)
		low, rng, at = low+from, width, at<<1|bit
		if limit != 0 {
			k.Update(bit, limit)
		}
		if rng < minRange {
			c.low, c.rng = low, rng
			c.shift()
			low, rng = c.low, c.rng
		}
	}
	c.low, c.rng = low, rng
	return v
}

func (c *Coder) readTree(nodes []Counter, limit int) int {
	at, code, rng := 1, c.code, c.rng
	for at < len(nodes) {
		k, bit := &nodes[at], 0
		code, rng, bit = decide(code, rng, uint32(uint64(rng)*uint64(k.P())>>16))
		at = at<<1 | bit
		if limit != 0 {
			k.Update(bit, limit)
		}
		if rng < minRange {
			c.code, c.rng = code, rng
			c.refill()
			code, rng = c.code, c.rng
		}
	}
	c.code, c.rng = code, rng
	return at - len(nodes)
}
