package entropy

import "wirelab/encoders/rangecoder"

// mixed codes decisions by several opinions at once: what came of such a decision
// in other recordings, in each of several contexts; and what came of it here, in
// one more. They count by how much it has paid to believe them.
type mixing struct {
	coder          *rangecoder.Coder
	mixer          rangecoder.Mixer
	trained        []int8          // by context: the stretch of a probability, in steps
	model          []counter       // by context: what was learnt along the chain
	weights        []int32         // by set
	limit          int             // how many decisions a counter rests on at most
	rate           int32           // at which weights move
	trainedWeights []int32         // of a trainer: weights that last from frame to frame, nil in a codec
	counts         *decisionCounts // of a trainer: counts the decisions, nil in a codec

	ctx      [maxContexts]int // contexts of the decision at hand, or of a number's first
	n        int              // how many
	adaptive int              // the context in model
	set      int              // which weights
}

const (
	maxContexts = 5
	setSize     = maxContexts + 2
	bias        = 512 // an opinion that never changes, so that weights can shift
)

// decide codes a decision, the node-th of those in the present contexts.
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

// plain codes a decision by one trained opinion.
func (m *mixing) codeTrained(at, v int) int {
	v = m.coder.Bit(v, squashed[uint8(m.trained[at])])
	if m.counts != nil {
		m.counts.count(at, v)
	}
	return v
}

// consider sets the contexts of the next decision or number. Their tables follow
// each other from first on and have the sizes given.
func (m *mixing) setContexts(first int, sizes []int, ctx ...int) {
	m.n = len(ctx)
	for i, c := range ctx {
		m.ctx[i] = first + c
		first += sizes[i]
	}
}

// mixedNumber is the opinions on a number: its length is mixed, the rest is not
// worth it.
type mixingNumber struct {
	*mixing
	signAt, topAt int
}

func (m *mixingNumber) length(node, v int) int { return m.codeMixed(node, v) }
func (m *mixingNumber) sign(v int) int         { return m.codeTrained(m.signAt, v) }
func (m *mixingNumber) top(node, v int) int    { return m.codeTrained(m.topAt+node, v) }
