package adaptive

import "wirelab/encoders/rangecoder"

// model codes bytes by how often each followed the last ones, in what both ends were
// given at the start and in what the receiver has asked to be mixed in. An order
// counts as much as it has seen; what it lacks comes from the order below.
type model struct {
	trained *[orders]table // shared by all clients
	own     [orders]table  // of this client
	order   int
	weight  uint64
}

// orders is how many there are: bytes are predicted from up to three before them.
const orders = 4

// prior is how many observations the order below is worth, in units of 1/16.
var prior = [orders]uint64{256, 400, 200, 120}

// ready makes the tally that stands in the keys of the highest order the client's
// part of the model.
func (m *model) ready(p packing) {
	m.own[m.order].ready(p)
	for k := m.order; k > 0; k-- {
		m.own[k-1].fold(&m.own[k])
	}
}

// code codes one byte after the last ones, from its highest bit down.
func (m *model) code(c *rangecoder.Coder, last uint32, b byte) byte {
	var given, own [orders]cursor
	for k := range m.order + 1 {
		given[k], own[k] = m.trained[k].find(last), m.own[k].find(last)
	}
	so := byte(0)
	for mask := byte(128); mask > 0; mask >>= 1 {
		middle := so | mask
		p := uint64(rangecoder.One / 2)
		var cutGiven, cutOwn [orders]uint32
		for k := range m.order + 1 {
			var lowG, highG, lowO, highO uint32
			cutGiven[k], lowG, highG = m.trained[k].split(given[k], middle)
			cutOwn[k], lowO, highO = m.own[k].split(own[k], middle)
			ones := 16 * (uint64(highG) + uint64(highO)*m.weight)
			all := ones + 16*(uint64(lowG)+uint64(lowO)*m.weight)
			p = (ones<<16 + prior[k]*p) / (all + prior[k])
		}
		bit := 0
		if b&mask != 0 {
			bit = 1
		}
		bit = c.Bit(bit, uint32(min(max(p, least), rangecoder.One-least)))
		for k := range m.order + 1 {
			if bit != 0 {
				given[k].lo, own[k].lo = cutGiven[k], cutOwn[k]
			} else {
				given[k].hi, own[k].hi = cutGiven[k], cutOwn[k]
			}
		}
		so |= byte(bit) * mask
	}
	return so
}

// least is the smallest probability of a bit: nothing is impossible.
const least = 16

// bytes is what the client's part takes in memory.
func (m *model) bytes() int {
	n := 0
	for k := range m.order + 1 {
		n += m.own[k].bytes()
	}
	return n
}
