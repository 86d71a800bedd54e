package entropy

import "wirelab/encoders/rangecoder"

// mixing codes a decision by logistic mixing of several predictions: the trained
// probabilities of several contexts and the adaptive probability of one. The mixing
// weights adapt.
type mixing struct {
	coder          *rangecoder.Coder
	mixer          rangecoder.Mixer
	trained        []int8          // by context: the logit of a probability, in steps
	model          []counter       // by context: the adaptive probabilities
	weights        []int32         // by set
	limit          int             // how many decisions a counter rests on at most
	rate           int32           // learning rate of the weights
	trainedWeights []int32         // of a trainer: weights kept from frame to frame, nil in a codec
	counts         *decisionCounts // of a trainer: counts the decisions, nil in a codec

	ctx      [maxContexts]int // contexts of the present decision or number
	n        int              // how many
	adaptive int              // the context in model
	set      int              // which weights
}

const (
	maxContexts = 5
	setSize     = maxContexts + 2
	bias        = 512 // a constant input
)

// codeMixed codes a decision, the node-th of those in the present contexts.
func (m *mixing) codeMixed(node, v int) int {
	m.mixer.Reset()
	for _, at := range m.ctx[:m.n] {
		m.mixer.Add(int32(m.trained[at+node]) * stretchStep)
	}
	k := &m.model[m.adaptive+node]
	m.mixer.Add(rangecoder.Stretch(k.P()))
	m.mixer.Add(bias)
	w := m.weights[(m.set+node)*setSize:]
	v = m.mixer.Code(m.coder, w[:m.n+2], v, m.rate)
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
	v = m.coder.Bit(v, squashed[uint8(m.trained[at])])
	if m.counts != nil {
		m.counts.count(at, v)
	}
	return v
}

// setContexts sets the contexts of the next decision or number. Their tables follow each
// other from first on and have the given sizes.
func (m *mixing) setContexts(first int, sizes []int, ctx ...int) {
	m.n = len(ctx)
	for i, c := range ctx {
		m.ctx[i] = first + c
		first += sizes[i]
	}
}

// mixingNumber is a numberModel that mixes the length only.
type mixingNumber struct {
	*mixing
	signAt, topAt int
}

func (m *mixingNumber) length(node, v int) int { return m.codeMixed(node, v) }
func (m *mixingNumber) sign(v int) int         { return m.codeTrained(m.signAt, v) }
func (m *mixingNumber) top(node, v int) int    { return m.codeTrained(m.topAt+node, v) }
