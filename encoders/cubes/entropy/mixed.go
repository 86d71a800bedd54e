package entropy

import "wirelab/encoders/rangecoder"

// mixed codes decisions by several opinions at once: what came of such a decision
// in other recordings, in each of several contexts; and what came of it here, in
// one more. They count by how much it has paid to believe them.
type mixed struct {
	coder   *rangecoder.Coder
	mixer   rangecoder.Mixer
	trained []int8    // by context: the stretch of a probability, in steps
	model   []counter // by context: what was learnt along the chain
	weights []int32   // by set
	limit   int       // how many decisions a counter rests on at most
	rate    int32     // at which weights move
	lasting []int32   // of a trainer: weights that last from frame to frame, nil in a codec
	school  *tally    // of a trainer: counts the decisions, nil in a codec

	ctx [maxOpinions]int // contexts of the decision at hand, or of a number's first
	n   int              // how many
	own int              // the context in model
	set int              // which weights
}

const (
	maxOpinions = 5
	setSize     = maxOpinions + 2
	bias        = 512 // an opinion that never changes, so that weights can shift
)

// decide codes a decision, the node-th of those in the present contexts.
func (m *mixed) decide(node, v int) int {
	m.mixer.Reset()
	for _, at := range m.ctx[:m.n] {
		m.mixer.Add(int32(m.trained[at+node]) * stretchStep)
	}
	k := &m.model[m.own+node]
	m.mixer.Add(rangecoder.Stretch(k.P()))
	m.mixer.Add(bias)
	w := m.weights[(m.set+node)*setSize:]
	v = m.mixer.Code(m.coder, w[:m.n+2], v, m.rate)
	k.Update(v, m.limit)
	if m.school != nil {
		for _, at := range m.ctx[:m.n] {
			m.school.count(at+node, v)
		}
	}
	return v
}

// plain codes a decision by one trained opinion.
func (m *mixed) plain(at, v int) int {
	v = m.coder.Bit(v, squashed[uint8(m.trained[at])])
	if m.school != nil {
		m.school.count(at, v)
	}
	return v
}

// consider sets the contexts of the next decision or number. Their tables follow
// each other from first on and have the sizes given.
func (m *mixed) consider(first int, sizes []int, ctx ...int) {
	m.n = len(ctx)
	for i, c := range ctx {
		m.ctx[i] = first + c
		first += sizes[i]
	}
}

// mixedNumber is the opinions on a number: its length is mixed, the rest is not
// worth it.
type mixedNumber struct {
	*mixed
	signAt, topAt int
}

func (m *mixedNumber) length(node, v int) int { return m.decide(node, v) }
func (m *mixedNumber) sign(v int) int         { return m.plain(m.signAt, v) }
func (m *mixedNumber) top(node, v int) int    { return m.plain(m.topAt+node, v) }
