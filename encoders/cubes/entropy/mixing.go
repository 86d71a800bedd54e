package entropy

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// mixing codes a decision by logistic mixing of several predictions: the trained
// probabilities of several contexts and the adaptive probability of one. The mixing
// weights adapt.
type mixing struct {
	coder          *rangecoder.Coder
	squashed       *[256]uint32         // of the bytes of trained
	trained        []int8               // by context: the logit of a probability, in steps
	counters       []rangecoder.Counter // by context: the adaptive probabilities
	weights        []rangecoder.Weights // by set
	limit          int                  // how many decisions a counter rests on at most
	rate           int32                // learning rate of the weights
	trainedWeights []rangecoder.Weights // of a trainer: weights kept from frame to frame; nil in a codec
	counts         *decisionCounts      // of a trainer: counts the decisions; nil in a codec

	ctx      [maxContexts]int // contexts of the present decision or number; always in trained
	n        int              // how many count, at least maxContexts-2
	adaptive int              // the context in counters
	set      int              // which weights
	signAt   int              // the trained contexts of a number's sign and of its top bits
	topAt    int
}

const (
	maxContexts = 5
	setSize     = maxContexts + 2 // weights in use: of the contexts, the counter, the bias
	bias        = 512             // a constant input
)

// codeMixed codes decision node in the present contexts.
func (m *mixing) codeMixed(node, v int) int {
	k := &m.counters[m.adaptive+node]
	// At most two contexts do not count; the counter and the bias take their places. Unrolled, because
	// that is faster than a loop.
	var in rangecoder.Inputs
	t, c := m.trained, &m.ctx
	in[0] = int32(t[c[0]+node]) * stretchStep
	in[1] = int32(t[c[1]+node]) * stretchStep
	in[2] = int32(t[c[2]+node]) * stretchStep
	in[3] = int32(t[c[3]+node]) * stretchStep
	in[4] = int32(t[c[4]+node]) * stretchStep
	in[m.n], in[m.n+1] = rangecoder.Stretch(k.P()), bias
	v = m.weights[m.set+node].Code(m.coder, &in, v, m.rate)
	k.Update(v, m.limit)
	if m.counts != nil {
		for _, at := range m.ctx[:m.n] {
			m.counts.count(at+node, v)
		}
	}
	return v
}

// codeTrained codes a decision with one trained probability.
func (m *mixing) codeTrained(at, v int) int {
	v = m.coder.Bit(v, m.squashed[uint8(m.trained[at])])
	if m.counts != nil {
		m.counts.count(at, v)
	}
	return v
}

// setContexts sets the n contexts of the next decision or number, each within its own
// table. Those that do not count are 0.
func (m *mixing) setContexts(n int, tables *[maxContexts]int, ctx [maxContexts]int) {
	m.n = n
	for i := range m.ctx {
		m.ctx[i] = tables[i] + ctx[i]
	}
}

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

// contextCoder and mixing each have a function for numbers, because calls through an interface take
// longer. These are the parts that they share.

// wholeLength returns the length for a symbol of the tree: n, unless c reads.
func wholeLength(c *rangecoder.Coder, symbol, n int) uint {
	if symbol == longest {
		return longest + uint(c.Direct(uint64(n-longest)&(1<<escape-1), escape))
	}
	return uint(symbol)
}

// topOf splits the bits below the leading one of a magnitude of n bits: with bits have contexts,
// after context node, and left bits are coded directly.
func topOf(n uint) (with uint, node int, left uint) {
	with = min(n-1, topBits)
	return with, 3*int(min(max(n, 2), 9)-2) - 1, n - 1 - with
}

// lowest codes the bits of size below those in top.
func lowest(c *rangecoder.Coder, top, left uint, size uint32) int32 {
	if left > 0 {
		top = top<<left | uint(c.Direct(uint64(size&(1<<left-1)), left))
	}
	return int32(top)
}

// number codes v, which has at most 22 bits. A reader returns no longer one.
func (l *contextCoder) number(v int32) int32 {
	c, size := &l.e.Coder, uint32(max(v, -v))
	short := bits.Len32(size)
	n := wholeLength(c, l.tree(l.at.length, min(short, longest), lengthBits), short)
	if n == 0 {
		return 0
	}
	negative := -int32(l.bit(l.at.sign, rangecoder.Flag(v < 0))) // all ones or zero
	with, node, left := topOf(n)
	top := uint(l.tree(l.at.top+node, int(size>>left)&(1<<with-1), with)) | 1<<with
	return lowest(c, top, left, size) ^ negative - negative
}

// number is that of contextCoder, but the length is mixed.
func (m *mixing) number(v int32) int32 {
	c, size := m.coder, uint32(max(v, -v))
	short, at := bits.Len32(size), 1
	for i := lengthBits - 1; i >= 0; i-- {
		at = at<<1 | m.codeMixed(at, min(short, longest)>>i&1)
	}
	n := wholeLength(c, at-lengthNodes, short)
	if n == 0 {
		return 0
	}
	negative := -int32(m.codeTrained(m.signAt, rangecoder.Flag(v < 0))) // all ones or zero
	with, node, left := topOf(n)
	top := 1
	for i := with; i > 0; i-- {
		top = top<<1 | m.codeTrained(m.topAt+node+top, int(size>>(left+i-1)&1))
	}
	return lowest(c, uint(top), left, size) ^ negative - negative
}
