package delta

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// A predictor guesses a bit from many contexts at once: each has a counter of its
// own for what came so far, and what they say is mixed in the logistic domain by
// two sets of weights, which learn for two views of the situation, and refined by
// two maps of what such a probability turned out to mean (Mahoney, "Adaptive
// weighing of context models", 2005; Mattern 2012). The counters of all contexts
// share one table, which is addressed by a hash and never checked: contexts that
// are rare get overrun, and the mixing learns to distrust them.
type predictor struct {
	table []rangecoder.Counter // a power of two
	shift uint                 // of a 32-bit hash, to address the table
	limit int                  // of the counters: what they forget by
	rate  int64                // at which weights learn

	weights []int32 // sets of 2*contexts+1, in units of 1/65536
	maps    []uint16
	inputs  [2*maxContexts + 1]int32
	slots   [maxContexts]uint32
	turned  [maxContexts]uint32 // the first of sixteen, for each context
	base    [maxContexts]uint32 // hash of each context, without the bits so far
	n       int                 // contexts
	sets    [2]int              // of weights, in force
	mixed   [2]int32            // what each makes of it, 1..65535
	near    [2]int              // the entries of maps that learn
}

const (
	maxContexts = 20
	mapSteps    = 33 // entries of a map, over -8..8 nats
	mapCount    = 1024
	fair        = 1 << 16 / 300 // an error from which there is nothing to learn for weights
	clamp       = 8*2048 - 1    // nats/2048 beyond which mixing does not go
)

// stretches holds rangecoder.Stretch in the middle of each 1/4096.
var stretches = func() (t [4096]int16) {
	for i := range t {
		t[i] = int16(rangecoder.Stretch(uint32(i*16 + 8)))
	}
	return t
}()

func newPredictor(contexts int, tableBits uint, sets, limit int, rate int64) *predictor {
	m := &predictor{
		table: make([]rangecoder.Counter, 1<<tableBits), shift: 32 - tableBits, n: contexts,
		limit: limit, rate: rate,
		weights: make([]int32, sets*(2*contexts+1)), maps: make([]uint16, 2*mapCount*mapSteps),
	}
	rangecoder.Fill(m.table, rangecoder.NewCounter(rangecoder.One/2, 0))
	for i := range m.weights {
		if at := i % (2*contexts + 1); at%2 == 0 && at < 2*contexts {
			m.weights[i] = rangecoder.Unit * 3 / 10
		}
	}
	for i := range m.maps {
		m.maps[i] = uint16(rangecoder.Squash(int32(i%mapSteps-mapSteps/2) * 1024))
	}
	return m
}

// copyFrom makes m what o is. Both must have been made alike.
func (m *predictor) copyFrom(o *predictor) {
	table, weights, maps := m.table, m.weights, m.maps
	copy(table, o.table)
	copy(weights, o.weights)
	copy(maps, o.maps)
	*m = *o
	m.table, m.weights, m.maps = table, weights, maps
}

// code codes bit, of which node are the bits before it in the same symbol. The
// sets are those of weights; ctx, 0..1023, choose the maps.
func (m *predictor) code(c *rangecoder.Coder, bit int, node uint32, setA, setB, ctxA, ctxB int) int {
	m.look(node)
	p := m.mix(setA, setB, ctxA, ctxB)
	bit = c.Bit(bit, p)
	m.learn(bit)
	return bit
}

// turn goes to the counters of the next four bits of a symbol, of which node are
// those before. The sixteen of a context lie side by side, so that they are fetched
// from memory together.
func (m *predictor) turn(node uint32) {
	for i, h := range m.base[:m.n] {
		h = (h + node*0x9E3779B1) * 0x85EBCA6B
		m.turned[i] = (h ^ h>>15) * 0xC2B2AE35 >> m.shift &^ 15
	}
}

// symbol codes a bit of a symbol after turn, of which near are those since, and a
// leading one.
func (m *predictor) symbol(c *rangecoder.Coder, bit int, near uint32, setA, setB, ctxA, ctxB int) int {
	for i, at := range m.turned[:m.n] {
		m.slots[i] = at + near
	}
	m.fetch()
	p := m.mix(setA, setB, ctxA, ctxB)
	bit = c.Bit(bit, p)
	m.learn(bit)
	return bit
}

// look fetches what each context says.
func (m *predictor) look(node uint32) {
	for i, h := range m.base[:m.n] {
		h = (h + node*0x9E3779B1) * 0x85EBCA6B
		m.slots[i] = (h ^ h>>15) * 0xC2B2AE35 >> m.shift
	}
	m.fetch()
}

// fetch reads the counters.
func (m *predictor) fetch() {
	in := m.inputs[:2*m.n+1]
	for i, slot := range m.slots[:m.n] {
		v := uint32(m.table[slot])
		pair := in[2*i : 2*i+2 : 2*i+2]
		pair[0] = int32(stretches[v>>20]) // next to nothing for one that has seen nothing
		pair[1] = (int32(v>>16) - 32768) * int32(min(v&1023, 16)) >> 5
	}
	in[2*m.n] = 2048
}

// mix makes one probability of what the contexts say.
func (m *predictor) mix(setA, setB, ctxA, ctxB int) uint32 {
	n := 2*m.n + 1
	m.sets = [2]int{setA * n, setB * n}
	in := m.inputs[:n]
	a := m.weights[m.sets[0]:][:len(in)]
	b := m.weights[m.sets[1]:][:len(in)]
	var sumA, sumB int64
	for i, x := range in {
		sumA += int64(x) * int64(a[i])
		sumB += int64(x) * int64(b[i])
	}
	stA := int32(min(max(sumA>>16, -clamp), clamp))
	stB := int32(min(max(sumB>>16, -clamp), clamp))
	m.mixed[0], m.mixed[1] = int32(rangecoder.Squash(stA)), int32(rangecoder.Squash(stB))
	st := (stA + stB) / 2
	p := rangecoder.Squash(st)
	qa := m.refine(0, st, ctxA)
	qb := m.refine(1, st, ctxB+mapCount)
	return min(max((2*p+3*qa+3*qb)/8, 1), rangecoder.One-1)
}

// refine reads map ctx between its entries and notes which is to learn.
func (m *predictor) refine(which int, st int32, ctx int) uint32 {
	at := st + 8*2048
	j, part := ctx*mapSteps+int(at>>10), uint32(at&1023)
	m.near[which] = j + int(part>>9)
	return (uint32(m.maps[j])*(1024-part) + uint32(m.maps[j+1])*part) >> 10
}

// learn moves everything that had a say towards bit.
func (m *predictor) learn(bit int) {
	n := 2*m.n + 1
	in := m.inputs[:n]
	for s, set := range m.sets {
		wrong := int64(bit)<<16 - int64(m.mixed[s])
		if wrong < fair && wrong > -fair {
			continue
		}
		wrong *= m.rate
		w := m.weights[set:][:len(in)]
		for i, x := range in {
			w[i] += int32((int64(x)*wrong + 1<<20) >> 21)
		}
	}
	for _, s := range m.slots[:m.n] {
		m.table[s].Update(bit, m.limit)
	}
	for _, j := range m.near {
		a := &m.maps[j]
		if bit != 0 {
			*a += (65535 - *a) >> 6
		} else {
			*a -= *a >> 6
		}
	}
}

// hash mixes two numbers into a context.
func hash(a, b uint32) uint32 {
	h := a*0x2C1B3C6D ^ (b+0x7F4A7C15)*0x297A2D39
	return h ^ h>>15
}

// class returns the number of bits of v.
func class(v int) int { return bits.Len(uint(v)) }
