package rangecoder

import "math/bits"

// Golomb is a model of a signed number that is mostly near zero (signed
// Exp-Golomb): whether it is zero, its sign, the number of its bits in unary, its
// highest bits below the leading one in the context of those, and the rest, about
// which little can be known, directly.
type Golomb struct {
	Zero, Sign Counter
	Exp        [golombBits]Counter    // is there another bit?
	Top        [golombBits][4]Counter // the two bits below the leading one, by length
}

// golombBits of a magnitude are the most there can be.
const golombBits = 31

// MaxGolomb is the largest magnitude that a Golomb codes.
const MaxGolomb = 1<<golombBits - 1

// NewGolomb returns a Golomb that expects nothing but that larger numbers are
// rarer.
func NewGolomb() Golomb {
	g := Golomb{Zero: NewCounter(One/2, 0), Sign: NewCounter(One/2, 0)}
	Fill(g.Exp[:], NewCounter(One/2, 0))
	for i := range g.Top {
		Fill(g.Top[i][:], NewCounter(One/2, 0))
	}
	return g
}

// Code codes v, at most MaxGolomb either way, and learns from it. A reader
// returns nothing outside of that, whatever it reads.
func (g *Golomb) Code(c *Coder, v int32, limit int) int32 {
	if g.Zero.Code(c, flag(v == 0), limit) != 0 {
		return 0
	}
	negative := g.Sign.Code(c, flag(v < 0), limit) != 0
	m := uint32(v)
	if v < 0 {
		m = -m
	}
	m = g.magnitude(c, m, limit)
	if negative {
		return -int32(m)
	}
	return int32(m)
}

// magnitude codes m, at least 1.
func (g *Golomb) magnitude(c *Coder, m uint32, limit int) uint32 {
	n := bits.Len32(m)
	length := 1
	for length < golombBits && g.Exp[length].Code(c, flag(n > length), limit) != 0 {
		length++
	}
	left, top := uint(length-1), uint32(1)
	for range min(left, 2) {
		left--
		top = top<<1 | uint32(g.Top[length-1][top&3].Code(c, int(m>>left&1), limit))
	}
	return top<<left | uint32(c.Direct(uint64(m&(1<<left-1)), left))
}

// flag returns 1 for true.
func flag(v bool) int {
	if v {
		return 1
	}
	return 0
}
