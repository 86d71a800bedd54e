package entropy

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// The decisions of a signed number, in this order: the bit length of the magnitude by a binary tree
// of four levels; the sign, unless the number is 0; and the two bits below the leading one. Any
// lower bits are coded with probability 1/2.
const (
	lengthBits  = 4
	lengthNodes = 1 << lengthBits // nodes 1 to 15 of the tree; 0 is not used
	topNodes    = 24              // three for each length from 2 to 9; longer numbers share the last
	topBits     = 2

	longest = lengthNodes - 1 // this length symbol stands for all lengths from 15 on
	escape  = 3               // bits of the length beyond longest, after that symbol
)

// codeEscape returns the bit length for a symbol of the length tree. For the symbol longest it codes
// the rest of the length. n is the length when encoding and not used when decoding.
func codeEscape(c *rangecoder.Coder, symbol, n int) uint {
	if symbol == longest {
		return longest + uint(c.Direct(uint64(n-longest)&(1<<escape-1), escape))
	}
	return uint(symbol)
}

// splitTopBits splits the bits below the leading one of a magnitude of n bits: the upper modelled
// bits have contexts, in a tree whose root is context node+1, and the lower direct bits are coded
// with probability 1/2.
func splitTopBits(n uint) (modelled uint, node int, direct uint) {
	modelled = min(n-1, topBits)
	const nodesOfLength = 3 // of a tree of two bits; a tree begins at node+1, so node is 1 less
	return modelled, nodesOfLength*int(min(max(n, 2), 9)-2) - 1, n - 1 - modelled
}

// codeLowBits codes the lower direct bits of a magnitude and returns the whole magnitude; top has its
// upper bits, with the leading one.
func codeLowBits(c *rangecoder.Coder, top, direct uint, magnitude uint32) int32 {
	if direct > 0 {
		top = top<<direct | uint(c.Direct(uint64(magnitude&(1<<direct-1)), direct))
	}
	return int32(top)
}

// codeNumber encodes v, of at most 22 bits, or decodes and returns it, in the contexts of l.numberCtx: the bit length
// of its magnitude, the sign unless v is 0, and the bits below the leading one.
func (l *contextCoder) codeNumber(v int32) int32 {
	c, magnitude := &l.coder.Coder, uint32(max(v, -v))
	ownLen := bits.Len32(magnitude) // the length to encode; not used when decoding
	bitLen := codeEscape(c, l.codeTree(l.numberCtx.length, min(ownLen, longest), lengthBits), ownLen)
	if bitLen == 0 {
		return 0
	}
	negative := -int32(l.codeBit(l.numberCtx.sign, rangecoder.Flag(v < 0))) // all ones or zero; the result negates with it
	modelled, node, direct := splitTopBits(bitLen)
	top := uint(l.codeTree(l.numberCtx.top+node, int(magnitude>>direct)&(1<<modelled-1), modelled)) | 1<<modelled
	return codeLowBits(c, top, direct, magnitude) ^ negative - negative
}
