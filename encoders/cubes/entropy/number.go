package entropy

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// The decisions of a signed number: the length of the magnitude by a binary tree of
// four levels, the sign, and the two bits below the leading one. The remaining bits
// are coded with probability 1/2.
const (
	lengthBits  = 4
	lengthNodes = 1 << lengthBits // 1..15, numbered as a tree's nodes are; 0 is not used
	topNodes    = 24              // three for each length from 2 to 9, beyond it shared
	topBits     = 2

	longest = lengthNodes - 1 // longer ones add escape bits
	escape  = 3
)

// numberModel codes the decisions of a number with adaptive or trained probabilities.
type numberModel interface {
	length(v int) int // 0..15
	sign(bit int) int
	top(node, v int, n uint) int // n bits, at most topBits, of which node+1 is the first
}

// number codes v, which has at most 22 bits. A reader returns no longer one.
func number(c *rangecoder.Coder, o numberModel, v int32) int32 {
	size := uint32(max(v, -v))
	n := uint32(bits.Len32(size))
	at := o.length(int(min(n, longest)))
	if at == longest {
		n = longest + uint32(c.Direct(uint64(n-longest)&(1<<escape-1), escape))
	} else {
		n = uint32(at)
	}
	if n == 0 {
		return 0
	}
	negative := -int32(o.sign(flag(v < 0))) // all ones or zero
	return (int32(below(c, o, n, size)) ^ negative) - negative
}

// below codes the bits below the leading one of a magnitude of n bits.
func below(c *rangecoder.Coder, o numberModel, n, size uint32) uint32 {
	left, top := uint(n-1), uint32(1)
	if k := min(left, topBits); k > 0 {
		left -= k
		node := 3*int(min(n, 9)-2) - 1
		top = 1<<k | uint32(o.top(node, int(size>>left&(1<<k-1)), k))
	}
	if left > 0 {
		top = top<<left | uint32(c.Direct(uint64(size&(1<<left-1)), left))
	}
	return top
}
