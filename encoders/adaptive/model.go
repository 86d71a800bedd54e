package adaptive

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// A model predicts a byte from the bytes before it. For each order, it counts how often each byte
// followed the context in the pretraining text and in the messages that were mixed in. Orders are
// blended from the lowest: each order is weighted by its number of observations, the remaining
// weight belongs to the order below.
type model struct {
	pretrained   *[numOrders]table // counts of the training text, shared by all clients
	learnt       [numOrders]table  // counts of this client's messages
	order        int               // the highest order used
	learntWeight uint64            // weight of a learnt observation relative to a pretrained one

	// root is the probability of a 1 without any context, by the bits of the byte so far behind a
	// leading 1. It is computed once for a model.
	root [256]uint16
}

// numOrders is the number of orders: a context has up to three bytes.
const numOrders = 4

// lowerOrderWeight is the weight of the prediction of the order below, by order, in units of 1/16
// of an observation.
var lowerOrderWeight = [numOrders]uint64{256, 400, 200, 120}

// prepare builds the learnt tables from the tally in the keys of the highest order's table, and m.root: for each
// node of the binary tree of a byte's bits (1 has no bits yet, then 2*node+bit), the probability without a
// context that the next bit is 1.
func (m *model) prepare(p layout) {
	m.learnt[m.order].prepare(p)
	for k := m.order; k > 1; k-- {
		m.learnt[k-1].foldFrom(&m.learnt[k])
	}
	var learnt, pretrained [rowSize]uint32
	m.learnt[m.order].totals(&learnt)
	copy(pretrained[:], m.pretrained[0].dense)
	for node := 1; node < len(m.root); node++ {
		width := 256 >> (bits.Len(uint(node)) - 1)
		from := node * width & 0xff // the bytes that begin with these bits
		middle, end := from+width/2, from+width
		m.root[node] = uint16(m.blend(0, rangecoder.One/2,
			pretrained[middle]-pretrained[from], pretrained[end]-pretrained[middle], learnt[middle]-learnt[from], learnt[end]-learnt[middle]))
	}
}

// blend returns the probability of a 1 at order k, of 65536: that of the observations, to which p, the probability
// of the order below, is added with the weight lowerOrderWeight. pretrained0 to learnt1 are the numbers of
// observations of 0 and 1, in the pretrained and in the learnt statistics.
func (m *model) blend(k int, p uint64, pretrained0, pretrained1, learnt0, learnt1 uint32) uint64 {
	// In units of 1/16 of an observation, like lowerOrderWeight.
	ones := 16 * (uint64(pretrained1) + uint64(learnt1)*m.learntWeight)
	total := ones + 16*(uint64(pretrained0)+uint64(learnt0)*m.learntWeight)
	if total == 0 {
		return p
	}
	return (ones<<16 + lowerOrderWeight[k]*p) / (total + lowerOrderWeight[k])
}

// codeByte codes byte b, from its highest bit to the lowest, and returns it; a reader ignores b.
// recent holds the three bytes before b; see nextContext.
func (m *model) codeByte(c *rangecoder.Coder, recent uint32, b byte) byte {
	var pretrained, learnt [numOrders]cursor
	for k := 1; k <= m.order; k++ {
		pretrained[k], learnt[k] = m.pretrained[k].find(recent), m.learnt[k].find(recent)
	}
	// Each cursor is the range of a table's entries of this context whose bytes begin with the bits coded so far.
	known := byte(0) // these bits
	for mask, node := byte(128), 1; mask > 0; mask >>= 1 {
		middle := known | mask // the smallest byte whose next bit is 1
		p := uint64(m.root[node])
		var pretrainedSplit, learntSplit [numOrders]uint32
		for k := 1; k <= m.order; k++ {
			var pretrained0, pretrained1, learnt0, learnt1 uint32
			pretrainedSplit[k], pretrained0, pretrained1 = m.pretrained[k].countHalves(pretrained[k], middle)
			learntSplit[k], learnt0, learnt1 = m.learnt[k].countHalves(learnt[k], middle)
			p = m.blend(k, p, pretrained0, pretrained1, learnt0, learnt1)
		}
		bit := c.Bit(rangecoder.Flag(b&mask != 0), uint32(min(max(p, minP), rangecoder.One-minP)))
		for k := 1; k <= m.order; k++ {
			if bit != 0 {
				pretrained[k].lo, learnt[k].lo = pretrainedSplit[k], learntSplit[k]
			} else {
				pretrained[k].hi, learnt[k].hi = pretrainedSplit[k], learntSplit[k]
			}
		}
		known, node = known|byte(bit)*mask, 2*node+bit
	}
	return known
}

// minP is the smallest probability of a bit, of 65536.
const minP = 16

// bytes returns the memory of the learnt tables.
func (m *model) bytes() int {
	n := 0
	for k := range m.order + 1 {
		n += m.learnt[k].bytes()
	}
	return n
}

// maxModels is the number of models that an endpoint keeps, not counting the pretrained one.
const maxModels = 7

// labelTrained is the label of the pretrained model, which every endpoint has. A label names a
// model in three bits: one of the last seven models, or the pretrained one.
const labelTrained = maxModels

// labelOf returns the label of the model with the given index in the chain. Model 0 is the pretrained one; the
// labels of the others repeat after maxModels models.
func labelOf(index uint64) int {
	if index == 0 {
		return labelTrained
	}
	return int((index - 1) % maxModels)
}

// A modelChain holds the models of one endpoint. Model 0 is the pretrained one; each other model is
// the one before with batches mixed in. Models are stored as differences and built when they are
// used.
type modelChain struct {
	layout
	base       tally                // the learnt counts of model oldest
	deltas     [maxModels - 1]tally // the delta of model i is deltas[i%(maxModels-1)]; it leads from model i-1 to i
	hash       uint32               // fingerprint of the batches of the newest model; 0 if unknown
	oldest     uint64               // index of the oldest stored model
	newest     uint64               // index of the newest stored model
	builtIndex uint64               // index of the model that is built
	built      bool                 // false if model is not valid
	model      model                // the model that is built
}

// maxModelCount bounds the sum of a model's counts. Beyond it all counts are halved, so that the
// model follows a changing stream.
const maxModelCount = 1 << 15

// Bounds of the number of entries, by order, of a model and of the difference between two models.
var (
	maxEntries      = [numOrders]int{256, 1536, 16384, 16384}
	maxDeltaEntries = [numOrders]int{256, 704, 4096, 8192}
)

// find returns the index of the model with a label; ok is false if it is not stored.
func (l *modelChain) find(label int) (index uint64, ok bool) {
	if label == labelTrained {
		return 0, true
	}
	for i := l.newest; i > 0 && i+maxModels > l.newest; i-- {
		if labelOf(i) == label {
			return i, i >= l.oldest
		}
	}
	return 0, false
}

// push adds a model: the newest one with sums mixed in. hash is the fingerprint of sums. If maxModels
// models are stored, push drops the oldest.
func (l *modelChain) push(sums tally, hash uint32) {
	if l.newest-l.oldest == maxModels-1 { // base becomes the next model
		l.oldest++
		l.base = l.mixIn(l.base, *l.delta(l.oldest))
	}
	l.newest++
	step := l.delta(l.newest)
	*step = grow((*step)[:0], len(sums))
	copy(*step, sums)
	l.hash = hash
}

// delta returns the difference from model index-1 to model index.
func (l *modelChain) delta(index uint64) *tally { return &l.deltas[index%(maxModels-1)] }

// pop removes the newest model. The fingerprint of the one before is not stored, so hash is unknown
// from then on.
func (l *modelChain) pop() {
	if l.builtIndex == l.newest {
		l.built = false
	}
	l.newest--
	l.hash = 0
}

// mixIn adds sums to into, in into's memory, within the bounds of a model.
func (l *modelChain) mixIn(into, sums tally) tally {
	return l.halve(l.add(into, sums), maxEntries[l.order], maxModelCount)
}

// build returns the model with an index, and builds it unless it is already built. The result is
// valid until the next call.
func (l *modelChain) build(index uint64) *model {
	if l.built && l.builtIndex == index {
		return &l.model
	}
	top := &l.model.learnt[l.order]
	keys, from := top.keys[:0], l.oldest
	switch {
	case index == 0: // the pretrained model has no learnt counts
	case l.built && l.builtIndex >= l.oldest && l.builtIndex < index:
		keys, from = top.tally(l.layout), l.builtIndex // continue from the model that is built
	default:
		keys = grow(keys, len(l.base))
		copy(keys, l.base)
	}
	for i := from + 1; i <= index; i++ {
		keys = l.mixIn(keys, *l.delta(i))
	}
	top.keys = keys
	l.model.prepare(l.layout)
	l.builtIndex, l.built = index, true
	return &l.model
}

// bytes returns the memory of the models.
func (l *modelChain) bytes() int {
	n := 4*cap(l.base) + l.model.bytes()
	for _, s := range l.deltas {
		n += 4 * cap(s)
	}
	return n
}

// appendAvailable appends the indices of all stored models to dst: 0, then the others in ascending
// order, so that each can be built from the one before.
func (l *modelChain) appendAvailable(dst []uint64) []uint64 {
	dst = append(dst, 0)
	for i := max(l.oldest, 1); i <= l.newest; i++ {
		dst = append(dst, i)
	}
	return dst
}
