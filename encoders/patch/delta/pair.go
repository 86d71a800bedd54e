package delta

import "wirelab/encoders/rangecoder"

// pair guesses bytes from a small context and a larger one.
type pair struct {
	small, large []rangecoder.Counter
	shift        uint // of a 32-bit hash, to address large
}

const (
	smallBits = 8
	largeBits = 18
)

func newPair(bits uint) pair {
	p := pair{make([]rangecoder.Counter, 1<<(smallBits+8)), make([]rangecoder.Counter, 1<<bits), 32 - bits}
	rangecoder.Fill(p.small, rangecoder.NewCounter(rangecoder.One/2, 0))
	rangecoder.Fill(p.large, rangecoder.NewCounter(rangecoder.One/2, 0))
	return p
}

func (p *pair) copyFrom(o *pair) {
	copy(p.small, o.small)
	copy(p.large, o.large)
}

// code codes v, four bits at a time, whose counters in the large context lie side
// by side. That counts for more once it has been seen.
func (p *pair) code(c *rangecoder.Coder, v byte, small byte, large uint32) byte {
	a := p.small[int(small)<<8:][:256]
	base := hash(large, 3) * 0x9E3779B1
	node := uint32(1)
	for half := uint(4); ; half = 0 {
		at := (base + node*0x85EBCA6B) * 0xC2B2AE35 >> (p.shift + 4) << 4
		b := p.large[at:][:16]
		near := uint32(1)
		for k := uint(4); k > 0; k-- {
			x, y := &a[node&255], &b[near&15]
			bit := c.Bit(int(v>>(half+k-1)&1), guess(*x, *y))
			x.Update(bit, quickLimit)
			y.Update(bit, quickLimit)
			node, near = node<<1|uint32(bit), near<<1|uint32(bit)
		}
		if half == 0 {
			return byte(node)
		}
	}
}

// guess mixes what the small context says with what the large one does.
func guess(x, y rangecoder.Counter) uint32 {
	switch n := y.N(); {
	case n < 2:
		return max(x.P(), 1)
	case n < 8:
		return max((x.P()+y.P())/2, 1)
	}
	return max((x.P()+3*y.P())/4, 1)
}
