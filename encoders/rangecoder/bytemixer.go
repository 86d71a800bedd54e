package rangecoder

// A ByteMixer codes the bits of bytes in many contexts, as lpaq does: each context selects a
// counter for the bits of the symbol so far. Two weight sets, selected by different properties of
// the situation, mix the predictions in the logistic domain; two APM stages refine the result
// (Mahoney, "Adaptive weighing of context models", 2005; Mattern 2012). The counters of all
// contexts share one table, addressed by a hash. Collisions are not checked: rare contexts are
// overwritten, and the weights adapt to that.
type ByteMixer struct {
	Hashes [maxByteContexts]uint32 // of the contexts, without the bits so far; set by the caller

	counters  []Counter // counters that hashes select; the length is a power of two
	hashShift uint      // shifts a 32-bit hash to an index of counters
	contexts  int       // number of contexts
	limit     int       // largest number of decisions that a counter averages, see Counter.Update
	learnRate int64     // learning rate of the weights, in units of 2^-21

	weights     []int32                      // sets of 2*contexts+1, in units of 1/65536
	inputs      [2*maxByteContexts + 1]int32 // two for each counter, and the bias
	active      [maxByteContexts]uint32      // indices of the counters of the current decision, by context
	nibbleStart [maxByteContexts]uint32      // index of the first of sixteen counters, by context
	weightStart [2]int                       // index of the first weight of each of the two sets in use
	mixedP      [2]uint32                    // the probabilities of both weight sets
	apms        [2]apm                       // two stages that refine the mixed probability
}

// A Selector selects the two weight sets of a decision, and the contexts, below apmContexts, of the
// two APM stages.
type Selector struct{ SetA, SetB, ContextA, ContextB int }

const (
	maxByteContexts = 20
	byteBias        = 2048             // the bias input
	minError        = 1 << 16 / 300    // of 65536; weights do not adapt to smaller errors
	maxByteLogit    = 8*stretchOne - 1 // the APM tables cover -8 to 8 nats
)

// NewByteMixer returns a mixer of the given number of contexts, with 1<<tableBits counters and the
// given number of weight sets. limit is that of Counter.Update, rate the learning rate of weights.
func NewByteMixer(contexts int, tableBits uint, sets, limit int, rate int64) *ByteMixer {
	m := &ByteMixer{
		counters: make([]Counter, 1<<tableBits), hashShift: 32 - tableBits, contexts: contexts, limit: limit, learnRate: rate,
		weights: make([]int32, sets*(2*contexts+1)), apms: newAPMs(),
	}
	Fill(m.counters, NewCounter(One/2, 0))
	// Each context has two inputs; the first is the logit of its counter. The last input of all is the bias. The
	// logits start with a weight of 0.3, all other inputs with 0.
	for i := range m.weights {
		if input := i % (2*contexts + 1); input%2 == 0 && input < 2*contexts {
			m.weights[i] = One * 3 / 10
		}
	}
	return m
}

// CopyFrom makes m a copy of o, in m's memory. Both must come from NewByteMixer with the same
// arguments.
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

// CodeBit encodes bit with c, or decodes and returns a bit if c is a decoder; bit is then ignored. node
// identifies the earlier decisions of the same symbol.
func (m *ByteMixer) CodeBit(c *Coder, bit int, node uint32, selector Selector) int {
	for i, h := range m.Hashes[:m.contexts] {
		m.active[i] = hashWithNode(h, node) >> m.hashShift
	}
	return m.codeDecision(c, bit, selector)
}

// SelectNibble selects the counters of the next four bits of a symbol; node identifies the bits
// before. The sixteen counters of a context are adjacent, so that they share a cache line.
func (m *ByteMixer) SelectNibble(node uint32) {
	for i, h := range m.Hashes[:m.contexts] {
		m.nibbleStart[i] = hashWithNode(h, node) >> m.hashShift &^ 15
	}
}

// SetCounter replaces the counter of a context for the next decision, at node of the nibble, by the
// one that hash selects.
func (m *ByteMixer) SetCounter(context int, hash, node uint32) {
	m.nibbleStart[context] = hash>>m.hashShift - node // CodeNibble adds node
}

// CodeNibble codes a bit like CodeBit, with the counters that SelectNibble selected. node holds the bits coded
// since SelectNibble, after a leading 1.
func (m *ByteMixer) CodeNibble(c *Coder, bit int, node uint32, selector Selector) int {
	for i, start := range m.nibbleStart[:m.contexts] {
		m.active[i] = start + node
	}
	return m.codeDecision(c, bit, selector)
}

// hashWithNode combines the hash of a context with the bits so far.
func hashWithNode(h, node uint32) uint32 {
	h = (h + node*0x9E3779B1) * 0x85EBCA6B
	return (h ^ h>>15) * 0xC2B2AE35
}

// codeDecision codes a decision with the active counters. The probability is the mean of the mixed
// one (weight 2/8) and those of both APM stages (3/8 each).
func (m *ByteMixer) codeDecision(c *Coder, bit int, selector Selector) int {
	m.readCounters()
	logit := m.mix(selector.SetA, selector.SetB)
	p := 2*Squash(logit) + 3*m.apms[0].refine(logit, selector.ContextA) + 3*m.apms[1].refine(logit, selector.ContextB)
	bit = c.Bit(bit, min(max(p/8, 1), One-1))
	m.learn(bit)
	return bit
}

// readCounters sets the inputs. Each active counter gives two: its logit, and its distance from one
// half times its number of updates, up to 16.
func (m *ByteMixer) readCounters() {
	in := m.inputs[:2*m.contexts+1]
	for i, index := range m.active[:m.contexts] {
		k := m.counters[index] // its upper 12 and 16 bits are the probability at two resolutions
		pair := in[2*i : 2*i+2 : 2*i+2]
		pair[0] = int32(stretchUpper[k>>20])
		pair[1] = (int32(k>>16) - One/2) * int32(min(k&maxCount, 16)) >> 5
	}
	in[2*m.contexts] = byteBias
}

// mix returns the mean of the logits that two weight sets give.
func (m *ByteMixer) mix(setA, setB int) int32 {
	n := 2*m.contexts + 1
	m.weightStart = [2]int{setA * n, setB * n}
	in := m.inputs[:n]
	a := m.weights[m.weightStart[0]:][:len(in)]
	b := m.weights[m.weightStart[1]:][:len(in)]
	var sumA, sumB int64
	for i, x := range in {
		sumA += int64(x) * int64(a[i])
		sumB += int64(x) * int64(b[i])
	}
	logitA := int32(min(max(sumA>>16, -maxByteLogit), maxByteLogit))
	logitB := int32(min(max(sumB>>16, -maxByteLogit), maxByteLogit))
	m.mixedP = [2]uint32{Squash(logitA), Squash(logitB)}
	return (logitA + logitB) / 2
}

// learn updates the weights, counters and APM entries in use with bit. Each weight set adapts to
// the error of its own probability, unless that is below minError.
func (m *ByteMixer) learn(bit int) {
	n := 2*m.contexts + 1
	in := m.inputs[:n]
	for s, set := range m.weightStart {
		predictionError := int64(bit)<<16 - int64(m.mixedP[s])
		if predictionError < minError && predictionError > -minError {
			continue
		}
		errScaled := predictionError * m.learnRate
		w := m.weights[set:][:len(in)]
		for i, x := range in {
			w[i] += int32((int64(x)*errScaled + 1<<20) >> 21) // rounded; learnRate is relative to 2^-21
		}
	}
	for _, index := range m.active[:m.contexts] {
		m.counters[index].Update(bit, m.limit)
	}
	for i := range m.apms {
		m.apms[i].update(bit)
	}
}

// An apm (adaptive probability map, also secondary symbol estimation) refines a probability: for
// each context and each of 33 levels of the probability, it holds the frequency with which a 1
// followed.
type apm struct {
	table   []uint16 // apmSteps probabilities for each context, of 65536, over -8 to 8 nats
	nearest int      // index of the entry that the next update changes
}

const (
	apmSteps    = 33
	apmContexts = 1024
	apmRate     = 6 // the adaptation rate is 2^-apmRate
)

// newAPMs returns two stages that do not change a probability yet: each entry holds the probability
// that it stands for. Entries are half a nat apart.
func newAPMs() [2]apm {
	const size = apmContexts * apmSteps
	table := make([]uint16, 2*size)
	for i := range table {
		table[i] = uint16(Squash(int32(i%apmSteps-apmSteps/2) * stretchOne / 2))
	}
	return [2]apm{{table: table[:size]}, {table: table[size:]}}
}

// refine returns the refined probability for a logit in a context, interpolated between two
// entries.
func (a *apm) refine(logit int32, context int) uint32 {
	position := logit + maxByteLogit + 1 // in units of 1/1024 of a table step, from 0
	i, fraction := context*apmSteps+int(position>>10), uint32(position&1023)
	a.nearest = i + int(fraction>>9) // i+1 if the fraction is at least one half
	return (uint32(a.table[i])*(1024-fraction) + uint32(a.table[i+1])*fraction) >> 10
}

// update moves the entry that was nearest to the last logit towards bit.
func (a *apm) update(bit int) {
	p := &a.table[a.nearest]
	if bit != 0 {
		*p += (One - 1 - *p) >> apmRate
	} else {
		*p -= *p >> apmRate
	}
}
