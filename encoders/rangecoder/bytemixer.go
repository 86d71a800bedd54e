package rangecoder

// A ByteMixer codes bits in many contexts at once, as lpaq does: each context has a counter of
// its own for the bits so far. The predictions are mixed in the logistic domain by two sets of
// weights, which learn for two views of the situation, and refined by two APM stages (Mahoney,
// "Adaptive weighing of context models", 2005; Mattern 2012). The counters of all contexts
// share one table, which is addressed by a hash and never checked: contexts that are rare get
// overwritten, and the mixing learns to distrust them.
type ByteMixer struct {
	Hashes [maxByteContexts]uint32 // of the contexts, without the bits so far

	counters []Counter // a power of two
	shift    uint      // of a 32-bit hash, to address the counters
	contexts int
	limit    int   // of Counter.Update
	rate     int64 // at which weights learn

	weights []int32                      // sets of 2*contexts+1, in units of 1/65536
	inputs  [2*maxByteContexts + 1]int32 // two of each counter, and the bias
	slots   [maxByteContexts]uint32      // the counters of the present decision
	nibbles [maxByteContexts]uint32      // the first of sixteen counters, for each context
	sets    [2]int                       // where the weight sets in use begin
	mixed   [2]uint32                    // the probabilities they give
	apms    [2]apm
}

// A Selector selects the weight sets of a decision, and the contexts, below apmContexts, of the
// APM stages.
type Selector struct{ SetA, SetB, ContextA, ContextB int }

const (
	maxByteContexts = 20
	byteBias        = 2048
	minError        = 1 << 16 / 300 // of 65536; weights do not learn from smaller errors
	maxByteLogit    = 8*stretchOne - 1
)

// NewByteMixer returns a mixer of some contexts with 1<<tableBits counters and sets of weights.
func NewByteMixer(contexts int, tableBits uint, sets, limit int, rate int64) *ByteMixer {
	m := &ByteMixer{
		counters: make([]Counter, 1<<tableBits), shift: 32 - tableBits, contexts: contexts, limit: limit, rate: rate,
		weights: make([]int32, sets*(2*contexts+1)), apms: newAPMs(),
	}
	Fill(m.counters, NewCounter(One/2, 0))
	for i := range m.weights {
		if at := i % (2*contexts + 1); at%2 == 0 && at < 2*contexts {
			m.weights[i] = Unit * 3 / 10
		}
	}
	return m
}

// CopyFrom makes m a copy of o. Both must have been made with the same arguments.
func (m *ByteMixer) CopyFrom(o *ByteMixer) {
	counters, weights, apms := m.counters, m.weights, m.apms
	*m = *o
	m.counters, m.weights, m.apms = counters, weights, apms
	copy(m.counters, o.counters)
	copy(m.weights, o.weights)
	for i := range m.apms {
		copy(m.apms[i].table, o.apms[i].table)
	}
}

// CodeBit codes a decision. node stands for the decisions before it in the same symbol.
func (m *ByteMixer) CodeBit(c *Coder, bit int, node uint32, s Selector) int {
	for i, h := range m.Hashes[:m.contexts] {
		m.slots[i] = spread(h, node) >> m.shift
	}
	return m.code(c, bit, s)
}

// SelectNibble goes to the counters of the next four bits of a symbol, of which node are the
// bits before. The sixteen counters of a context lie side by side, so that they are fetched
// from memory together.
func (m *ByteMixer) SelectNibble(node uint32) {
	for i, h := range m.Hashes[:m.contexts] {
		m.nibbles[i] = spread(h, node) >> m.shift &^ 15
	}
}

// SetCounter replaces the counter of a context for the next decision at node of the nibble.
func (m *ByteMixer) SetCounter(context int, hash, node uint32) {
	m.nibbles[context] = hash>>m.shift - node
}

// CodeNibble codes a bit after SelectNibble. node are the bits since, behind a leading one.
func (m *ByteMixer) CodeNibble(c *Coder, bit int, node uint32, s Selector) int {
	for i, at := range m.nibbles[:m.contexts] {
		m.slots[i] = at + node
	}
	return m.code(c, bit, s)
}

// spread returns the hash of a context for the bits so far.
func spread(h, node uint32) uint32 {
	h = (h + node*0x9E3779B1) * 0x85EBCA6B
	return (h ^ h>>15) * 0xC2B2AE35
}

// code codes a decision by the counters in slots.
func (m *ByteMixer) code(c *Coder, bit int, s Selector) int {
	m.fetch()
	logit := m.mix(s.SetA, s.SetB)
	p := 2*Squash(logit) + 3*m.apms[0].refine(logit, s.ContextA) + 3*m.apms[1].refine(logit, s.ContextB)
	bit = c.Bit(bit, min(max(p/8, 1), One-1))
	m.learn(bit)
	return bit
}

// fetch reads the counters. Each gives two inputs: its logit, and its distance from one half
// times its confidence.
func (m *ByteMixer) fetch() {
	in := m.inputs[:2*m.contexts+1]
	for i, slot := range m.slots[:m.contexts] {
		k := m.counters[slot]
		pair := in[2*i : 2*i+2 : 2*i+2]
		pair[0] = int32(stretchUpper[k>>20])
		pair[1] = (int32(k>>16) - One/2) * int32(min(k&maxCount, 16)) >> 5
	}
	in[2*m.contexts] = byteBias
}

// mix returns the mean of the weighted sums that two sets of weights give.
func (m *ByteMixer) mix(setA, setB int) int32 {
	n := 2*m.contexts + 1
	m.sets = [2]int{setA * n, setB * n}
	in := m.inputs[:n]
	a := m.weights[m.sets[0]:][:len(in)]
	b := m.weights[m.sets[1]:][:len(in)]
	var sumA, sumB int64
	for i, x := range in {
		sumA += int64(x) * int64(a[i])
		sumB += int64(x) * int64(b[i])
	}
	logitA := int32(min(max(sumA>>16, -maxByteLogit), maxByteLogit))
	logitB := int32(min(max(sumB>>16, -maxByteLogit), maxByteLogit))
	m.mixed = [2]uint32{Squash(logitA), Squash(logitB)}
	return (logitA + logitB) / 2
}

// learn moves the weights, counters and APM entries in use towards bit. Each weight set learns
// from the error of its own probability.
func (m *ByteMixer) learn(bit int) {
	n := 2*m.contexts + 1
	in := m.inputs[:n]
	for s, set := range m.sets {
		errScaled := int64(bit)<<16 - int64(m.mixed[s])
		if errScaled < minError && errScaled > -minError {
			continue
		}
		errScaled *= m.rate
		w := m.weights[set:][:len(in)]
		for i, x := range in {
			w[i] += int32((int64(x)*errScaled + 1<<20) >> 21)
		}
	}
	for _, slot := range m.slots[:m.contexts] {
		m.counters[slot].Update(bit, m.limit)
	}
	for i := range m.apms {
		m.apms[i].update(bit)
	}
}

// An apm (adaptive probability map, or secondary symbol estimation) refines a probability by
// the bits that such probabilities led to in a context.
type apm struct {
	table   []uint16 // apmSteps probabilities for each context, over -8 to 8 nats
	nearest int      // the entry that learns from the next bit
}

const (
	apmSteps    = 33
	apmContexts = 1024
	apmRate     = 6 // logarithm of the inverse
)

func newAPMs() [2]apm {
	const size = apmContexts * apmSteps
	table := make([]uint16, 2*size)
	for i := range table {
		table[i] = uint16(Squash(int32(i%apmSteps-apmSteps/2) * stretchOne / 2))
	}
	return [2]apm{{table: table[:size]}, {table: table[size:]}}
}

// refine returns the probability for a logit in a context, interpolated between two entries.
func (a *apm) refine(logit int32, context int) uint32 {
	at := logit + maxByteLogit + 1
	i, part := context*apmSteps+int(at>>10), uint32(at&1023)
	a.nearest = i + int(part>>9)
	return (uint32(a.table[i])*(1024-part) + uint32(a.table[i+1])*part) >> 10
}

// update moves the entry nearest to the last logit towards bit.
func (a *apm) update(bit int) {
	p := &a.table[a.nearest]
	if bit != 0 {
		*p += (One - 1 - *p) >> apmRate
	} else {
		*p -= *p >> apmRate
	}
}
