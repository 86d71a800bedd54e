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
