package datagram

import "wirelab/encoders/rangecoder"

// The length of a datagram is coded given that of its packet, which the reader knows:
// it is one of those that were frequent, or the packet's and some bytes.
const (
	sizes     = 64 // of packets told apart
	common    = 64 // frequent lengths; 0 stands for none of them
	offsets   = 32 // of a length to the packet's, less 1 for "written out"
	offsetMin = -16
)

type lengths struct {
	known [common]uint16
	index [maxBytes + 1]uint8 // of known
	which [sizes][common]uint16
	off   [offsets]uint16
}

// code codes n, of a packet of size bytes.
func (l *lengths) code(c *rangecoder.Coder, n, size int) int {
	i := int(l.index[min(n, maxBytes)])
	if i = tree(c, l.which[min(size, sizes-1)][:], i, 6); i != 0 {
		return int(l.known[i])
	}
	d := n - size - offsetMin
	if d < 0 || d >= offsets {
		d = offsets - 1
	}
	if d = tree(c, l.off[:], d, 5); d < offsets-1 {
		return min(max(d+size+offsetMin, 1), maxBytes)
	}
	return min(max(int(c.Direct(uint64(n&(1<<11-1)), 11)), 1), maxBytes)
}

// tree codes n bits of v with a probability for each node.
func tree(c *rangecoder.Coder, p []uint16, v, n int) int {
	at := 1
	for i := n - 1; i >= 0; i-- {
		at = at<<1 | c.Bit(v>>i&1, uint32(p[at]))
	}
	return at - 1<<n
}

func (l *lengths) fill() {
	l.index = [maxBytes + 1]uint8{}
	for i := common - 1; i > 0; i-- {
		if n := l.known[i]; n > 0 {
			l.index[n] = uint8(i)
		}
	}
}
