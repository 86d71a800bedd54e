package entropy

import "wirelab/encoders/rangecoder"

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
