package entropy

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// mixing codes a decision by logistic mixing (PAQ): the sum of weighted logits of several
// predictions. Three to five of them are trained probabilities, one for each context of the
// decision; one is an adaptive counter; one is a constant bias. The weights adapt.
type mixing struct {
	rangeCoder     *rangecoder.Coder    // writes or reads the decisions
	probs          *[256]uint32         // probability of each trained logit, by its byte
	trainedLogits  []int8               // of each context, in steps of stretchStep
	counters       []rangecoder.Counter // adaptive probabilities, of the frame's memo
	weights        []rangecoder.Weights // weight sets, of the frame's memo
	limit          int                  // largest number of decisions that a counter averages, see Counter.Update
	rate           int32                // learning rate of the weights
	trainedWeights []rangecoder.Weights // in training: weights that continue from frame to frame; nil in a codec
	counts         *decisionCounts      // in training: counts the decisions; nil in a codec

	// The contexts of the current decision, or of the current number, whose decisions have these
	// contexts plus a node.
	contexts       [maxContexts]int // indices into trainedLogits; 0 beyond numContexts
	numContexts    int              // number of contexts in use: maxContexts-2 to maxContexts
	counterContext int              // index into counters of the decision's adaptive probability
	weightSet      int              // index into weights of the decision's weight set
	signContext    int              // index into trainedLogits of a number's sign
	topContext     int              // index into trainedLogits of the first node of a number's top bits
}

const (
	maxContexts = 5
	setSize     = maxContexts + 2 // weights in use: of the contexts, the counter and the bias
	bias        = 512             // the constant input: a logit of 1/4
)

// flagNode is the node of decisions that are not part of a tree.
const flagNode = 0

// codeMixed encodes the bit v, or decodes and returns it, and updates the counter and the weights. node
// is the number of the decision in the current contexts: a node of a number's length tree, else flagNode.
func (m *mixing) codeMixed(node, v int) int {
	counter := &m.counters[m.counterContext+node]
	// The inputs of the counter and the bias follow those of the numContexts contexts and overwrite
	// the inputs of unused ones. Unrolled, because that is faster than a loop.
	var in rangecoder.Inputs
	logits, contexts := m.trainedLogits, &m.contexts
	in[0] = int32(logits[contexts[0]+node]) * stretchStep
	in[1] = int32(logits[contexts[1]+node]) * stretchStep
	in[2] = int32(logits[contexts[2]+node]) * stretchStep
	in[3] = int32(logits[contexts[3]+node]) * stretchStep
	in[4] = int32(logits[contexts[4]+node]) * stretchStep
	in[m.numContexts], in[m.numContexts+1] = rangecoder.Stretch(counter.P()), bias
	v = m.weights[m.weightSet+node].Code(m.rangeCoder, &in, v, m.rate)
	counter.Update(v, m.limit)
	if m.counts != nil {
		for _, context := range m.contexts[:m.numContexts] {
			m.counts.count(context+node, v)
		}
	}
	return v
}

// codeTrained encodes v with the trained probability of one context, or decodes and returns it.
func (m *mixing) codeTrained(context, v int) int {
	v = m.rangeCoder.Bit(v, m.probs[uint8(m.trainedLogits[context])])
	if m.counts != nil {
		m.counts.count(context, v)
	}
	return v
}

// setContexts sets the n contexts of the next decision or number. contexts[i] is an index
// into the table that begins at tables[i]; unused elements of both are 0.
func (m *mixing) setContexts(n int, tables *[maxContexts]int, contexts [maxContexts]int) {
	m.numContexts = n
	for i := range m.contexts {
		m.contexts[i] = tables[i] + contexts[i]
	}
}

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

// contextCoder and mixing have a function codeNumber each, because calls through an interface are
// slower. The following functions are the parts that both share.

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

// codeNumber encodes v, of at most 22 bits, or decodes and returns it, in the current contexts. The
// decisions about the length are mixed; those about sign and top bits have one trained context each.
func (m *mixing) codeNumber(v int32) int32 {
	c, magnitude := m.rangeCoder, uint32(max(v, -v))
	ownLen := bits.Len32(magnitude) // the length to encode; not used when decoding
	tree := 1                       // node of the length tree, from the root to a leaf
	for i := lengthBits - 1; i >= 0; i-- {
		tree = tree<<1 | m.codeMixed(tree, min(ownLen, longest)>>i&1)
	}
	bitLen := codeEscape(c, tree-lengthNodes, ownLen)
	if bitLen == 0 {
		return 0
	}
	negative := -int32(m.codeTrained(m.signContext, rangecoder.Flag(v < 0))) // all ones or zero; the result negates with it
	modelled, node, direct := splitTopBits(bitLen)
	top := 1
	for i := modelled; i > 0; i-- {
		top = top<<1 | m.codeTrained(m.topContext+node+top, int(magnitude>>(direct+i-1)&1))
	}
	return codeLowBits(c, uint(top), direct, magnitude) ^ negative - negative
}
