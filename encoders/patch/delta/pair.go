package delta

import "wirelab/encoders/rangecoder"

// pair predicts bytes from a small context and a larger one.
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
	rangecoder.Fill(p.small, even)
	rangecoder.Fill(p.large, even)
	return p
}

func (p *pair) copyFrom(o *pair) {
	copy(p.small, o.small)
	copy(p.large, o.large)
}

// code codes v, four bits at a time: their counters of the large context lie side by side.
// The large context counts for more the more often it was seen.
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
			bit := c.Bit(int(v>>(half+k-1)&1), average(*x, *y))
			x.Update(bit, quickLimit)
			y.Update(bit, quickLimit)
			node, near = node<<1|uint32(bit), near<<1|uint32(bit)
		}
		if half == 0 {
			return byte(node)
		}
	}
}

// average returns the weighted mean of the probabilities of the small context x and of the
// large one y.
func average(x, y rangecoder.Counter) uint32 {
	switch n := y.N(); {
	case n < 2:
		return max(x.P(), 1)
	case n < 8:
		return max((x.P()+y.P())/2, 1)
	}
	return max((x.P()+3*y.P())/4, 1)
}
