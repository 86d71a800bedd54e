package entropy

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// The decisions of a signed number: the length of the magnitude by a binary tree of
// four levels, the sign, and the two bits below the leading one. The remaining bits
// are coded with probability 1/2.
const (
	lengthNodes = 16 // 1..15, numbered as a tree's nodes are; 0 is not used
	topNodes    = 24 // three for each length from 2 to 9, beyond it shared

	longest = lengthNodes - 1 // longer ones add escape bits
	escape  = 3
)

// numberModel codes the decisions of a number with adaptive or trained probabilities.
type numberModel interface {
	length(node, bit int) int
	sign(bit int) int
	top(node, bit int) int
}

// number codes v, which has at most 22 bits. A reader returns no longer one.
func number(c *rangecoder.Coder, o numberModel, v int32) int32 {
	size := uint32(max(v, -v))
	n := uint32(bits.Len32(size))
	at, short := 1, int(min(n, longest))
	for i := 3; i >= 0; i-- {
		at = at<<1 | o.length(at, short>>i&1)
	}
	if at -= lengthNodes; at == longest {
		n = longest + uint32(c.Direct(uint64(n-longest)&(1<<escape-1), escape))
	} else {
		n = uint32(at)
	}
	if n == 0 {
		return 0
	}
	negative := o.sign(flag(v < 0)) != 0
	if m := int32(below(c, o, n, size)); !negative {
		return m
	} else {
		return -m
	}
}

// below codes the bits below the leading one of a magnitude of n bits.
func below(c *rangecoder.Coder, o numberModel, n, size uint32) uint32 {
	left, top := n-1, uint32(1)
	node := 3*int(min(max(n, 2), 9)-2) - 1
	for left > 0 && top < 4 {
		left--
		top = top<<1 | uint32(o.top(node+int(top), int(size>>left&1)))
	}
	if left > 0 {
		top = top<<left | uint32(c.Direct(uint64(size&(1<<left-1)), uint(left)))
	}
	return top
}
