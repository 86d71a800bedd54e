package datagram

import "wirelab/encoders/rangecoder"

// The length of a datagram is coded given that of its packet, which the reader knows: one of the
// frequent lengths, or else the packet's length and an offset, or else 11 bits.
const (
	sizes     = 64 // of packets that are distinguished
	common    = 64 // frequent lengths; 0 stands for none of them
	offsets   = 32 // of a length to the packet's; the last stands for none of them
	offsetMin = -16
)

// lengths is the model of lengths.
type lengths struct {
	known [common]uint16
	index [maxBytes + 1]uint8 // of known
	which [sizes][common]uint16
	off   [offsets]uint16
}

// code codes n, the length of a datagram, given the size of its packet.
func (l *lengths) code(c *rangecoder.Coder, n, size int) int {
	i := tree(c, l.which[min(size, sizes-1)][:], int(l.index[min(n, maxBytes)]), 6)
	if i != 0 {
		return int(l.known[i])
	}
	d := n - size - offsetMin
	if d < 0 || d >= offsets {
		d = offsets - 1
	}
	d = tree(c, l.off[:], d, 5)
	if d < offsets-1 {
		return min(max(d+size+offsetMin, 1), maxBytes)
	}
	return min(max(int(c.Direct(uint64(n&(1<<11-1)), 11)), 1), maxBytes)
}

// tree codes n bits of v, the highest first, with a fixed probability for each node.
func tree(c *rangecoder.Coder, p []uint16, v, n int) int {
	at := 1
	for i := n - 1; i >= 0; i-- {
		at = at<<1 | c.Bit(v>>i&1, uint32(p[at]))
	}
	return at - 1<<n
}

// fill computes the index.
func (l *lengths) fill() {
	l.index = [maxBytes + 1]uint8{}
	for i := common - 1; i > 0; i-- {
		if n := l.known[i]; n > 0 {
			l.index[n] = uint8(i)
		}
	}
}
