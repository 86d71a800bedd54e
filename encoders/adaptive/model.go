package adaptive

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// model codes bytes by how often each followed the last ones, in the trained text and in
// the messages that were mixed in. Each order is weighted by its number of observations;
// the rest comes from the order below.
type model struct {
	trained *[orders]table // shared by all clients
	own     [orders]table  // of this client
	order   int
	weight  uint64

	// root is the probability of a 1 without any context, by the bits of the byte so far behind a
	// leading 1. It is computed once for a model.
	root [256]uint16
}

// orders is the number of orders: bytes are predicted from up to three before them.
const orders = 4

// prior is the weight of the order below, in units of 1/16 of an observation.
var prior = [orders]uint64{256, 400, 200, 120}

// ready builds the client's part of the model from the tally in the keys of the highest
// order.
func (m *model) ready(p packing) {
	m.own[m.order].ready(p)
	for k := m.order; k > 1; k-- {
		m.own[k-1].fold(&m.own[k])
	}
	var own, given [rowSize]uint32
	m.own[m.order].totals(&own)
	copy(given[:], m.trained[0].dense)
	for node := 1; node < len(m.root); node++ {
		width := 256 >> (bits.Len(uint(node)) - 1)
		from := node * width & 0xff // the bytes that begin with these bits
		middle, to := from+width/2, from+width
		m.root[node] = uint16(m.blend(0, rangecoder.One/2,
			given[middle]-given[from], given[to]-given[middle], own[middle]-own[from], own[to]-own[middle]))
	}
}

// blend combines the counts with the probability of the order below.
func (m *model) blend(k int, p uint64, lowG, highG, lowO, highO uint32) uint64 {
	ones := 16 * (uint64(highG) + uint64(highO)*m.weight)
	all := ones + 16*(uint64(lowG)+uint64(lowO)*m.weight)
	if all == 0 {
		return p
	}
	return (ones<<16 + prior[k]*p) / (all + prior[k])
}

// code codes one byte after the last ones, from its highest bit down.
func (m *model) code(c *rangecoder.Coder, last uint32, b byte) byte {
	var given, own [orders]cursor
	for k := 1; k <= m.order; k++ {
		given[k], own[k] = m.trained[k].find(last), m.own[k].find(last)
	}
	so := byte(0)
	for mask, node := byte(128), 1; mask > 0; mask >>= 1 {
		middle := so | mask
		p := uint64(m.root[node])
		var cutGiven, cutOwn [orders]uint32
		for k := 1; k <= m.order; k++ {
			var lowG, highG, lowO, highO uint32
			cutGiven[k], lowG, highG = m.trained[k].split(given[k], middle)
			cutOwn[k], lowO, highO = m.own[k].split(own[k], middle)
			p = m.blend(k, p, lowG, highG, lowO, highO)
		}
		bit := c.Bit(rangecoder.Flag(b&mask != 0), uint32(min(max(p, least), rangecoder.One-least)))
		for k := 1; k <= m.order; k++ {
			if bit != 0 {
				given[k].lo, own[k].lo = cutGiven[k], cutOwn[k]
			} else {
				given[k].hi, own[k].hi = cutGiven[k], cutOwn[k]
			}
		}
		so, node = so|byte(bit)*mask, 2*node+bit
	}
	return so
}

// least is the smallest probability of a bit.
const least = 16

// bytes returns the memory of the client's part.
func (m *model) bytes() int {
	n := 0
	for k := range m.order + 1 {
		n += m.own[k].bytes()
	}
	return n
}

// heldModels is the number of models that an end holds beside the trained one.
const heldModels = 7

// A label names a model in a packet in three bits: one of the last seven, or the trained
// one, which every end holds.
const labelTrained = heldModels

func labelOf(index uint64) int {
	if index == 0 {
		return labelTrained
	}
	return int((index - 1) % heldModels)
}

// modelChain holds the models of one end, each made from the one before by mixing in
// batches. Model 0 is the trained one; the others are kept as differences and built when
// they are used.
type modelChain struct {
	packing
	base    tally                 // of the oldest model held
	steps   [heldModels - 1]tally // step i is what made model i of model i-1
	hash    uint32                // of the request that asked for the newest
	oldest  uint64                // the model that base is of
	newest  uint64
	ready   uint64 // the model that is ready
	isReady bool
	model   model
}

// mostSeen bounds the count of bytes in a model. Beyond it all counts are halved, so
// that the model follows a changing stream.
const mostSeen = 1 << 15

// Bounds of a model and of the difference between two, in entries, by order.
var (
	maxEntries = [orders]int{256, 1536, 16384, 16384}
	mostStep   = [orders]int{256, 704, 4096, 8192}
)

// find returns the model of a label, and whether it is held.
func (l *modelChain) find(label int) (index uint64, ok bool) {
	if label == labelTrained {
		return 0, true
	}
	for i := l.newest; i > 0 && i+heldModels > l.newest; i-- {
		if labelOf(i) == label {
			return i, i >= l.oldest
		}
	}
	return 0, false
}

// push makes a new model of the newest one and the statistics.
func (l *modelChain) push(sums tally, hash uint32) {
	if l.newest-l.oldest == heldModels-1 {
		l.oldest++
		l.base = l.mix(l.base, *l.step(l.oldest))
	}
	l.newest++
	step := l.step(l.newest)
	*step = grow((*step)[:0], len(sums))
	copy(*step, sums)
	l.hash = hash
}

// step is the difference from model i-1 to model i.
func (l *modelChain) step(i uint64) *tally { return &l.steps[i%(heldModels-1)] }

// pop removes the newest model.
func (l *modelChain) pop() {
	if l.ready == l.newest {
		l.isReady = false
	}
	l.newest--
	l.hash = 0
}

func (l *modelChain) mix(into, sums tally) tally {
	return l.limit(l.add(into, sums), maxEntries[l.order], mostSeen)
}

// use builds a model, 0 for the trained one, and returns it.
func (l *modelChain) use(index uint64) *model {
	if l.isReady && l.ready == index {
		return &l.model
	}
	top := &l.model.own[l.order]
	t, from := top.keys[:0], l.oldest
	switch {
	case index == 0:
	case l.isReady && l.ready >= l.oldest && l.ready < index:
		t, from = top.tally(l.packing), l.ready // most often the one before
	default:
		t = grow(t, len(l.base))
		copy(t, l.base)
	}
	for i := from + 1; i <= index; i++ {
		t = l.mix(t, *l.step(i))
	}
	top.keys = t
	l.model.ready(l.packing)
	l.ready, l.isReady = index, true
	return &l.model
}

// bytes returns the memory of the models.
func (l *modelChain) bytes() int {
	n := 4*cap(l.base) + l.model.bytes()
	for _, s := range l.steps {
		n += 4 * cap(s)
	}
	return n
}

// held lists the models held: the trained one, then the others in ascending order, so
// that each can be built from the one before.
func (l *modelChain) held(dst []uint64) []uint64 {
	dst = append(dst, 0)
	for i := max(l.oldest, 1); i <= l.newest; i++ {
		dst = append(dst, i)
	}
	return dst
}
