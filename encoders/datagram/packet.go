package datagram

import (
	"fmt"
	"slices"

	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
)

// A packet of an empty datagram is empty. Others have a decision whether they are raw, which is
// a byte of 0 and then the datagram; a decision whether the model seems not to fit; the length of
// the datagram, given that of the packet; and its units.
const (
	rawP   = 256 // of 65536: raw packets, and no others, begin with a byte of 0
	doubtP = 2048
)

// maxDatagram bounds a datagram, in bytes.
const maxDatagram = 1 << 16

// coder has the memory to code datagrams, in one direction.
type coder struct {
	m    *model
	w    walk
	x    mixer
	c    rangecoder.Coder
	read bool

	// A writer computes all probabilities first and codes then: the cost of the length depends
	// on the length of the packet, and so on everything else.
	ops    []op
	doubt  bool
	second []byte
	bare   bool // leave out the length, for its trainer
	text   [maxSpan]byte
	values [8 * maxSpan]byte
}

// op is a decision.
type op struct {
	p     uint32 // 0 means that the op is some bits of probability 1/2
	value uint8
	bits  uint8
}

func newCoder(m *model, read bool) *coder {
	k := &coder{m: m, read: read}
	k.x.w, k.x.t = &k.w, newTables()
	return k
}

// encode appends the packet of d to dst.
func (k *coder) encode(dst, d []byte, l *log) []byte {
	if len(d) == 0 {
		return dst
	}
	if len(d) > maxBytes {
		return append(append(dst, 0), d...)
	}
	base := len(dst)
	dst = k.try(dst, d, l, false)
	if k.bare || (len(dst)-base)*8 < len(d)*7 {
		return dst
	}
	k.second = k.try(k.second[:0], d, l, true)
	if len(k.second) < len(dst)-base {
		dst = append(dst[:base], k.second...)
	}
	return dst
}

// try encodes with full or with bounded trust in the model.
func (k *coder) try(dst, d []byte, l *log, doubt bool) []byte {
	k.begin(len(d), l, doubt)
	for rest := d; len(rest) > 0; {
		rest = rest[len(k.group(rest)):]
	}
	base := len(dst)
	if k.bare {
		return k.write(dst, -1)
	}
	least := k.least()
	most := min(len(d), least+4)
	for size := least; size <= most; size++ {
		dst = k.write(dst[:base], size)
		if len(dst)-base <= size {
			for len(dst)-base < size {
				dst = append(dst, 0)
			}
			return dst
		}
	}
	return append(append(dst[:base], 0), d...)
}

// begin starts a datagram of n bytes.
func (k *coder) begin(n int, l *log, doubt bool) {
	k.ops, k.doubt = k.ops[:0], doubt
	k.x.limit = sure
	if doubt {
		k.x.limit = doubtful
	}
	k.w.begin(k.m, n, l)
}

// group codes the next bytes, which are the first of d for a writer, and returns them.
func (k *coder) group(d []byte) []byte {
	w := &k.w
	g := w.group()
	if g == nil {
		k.text[0] = 0
		if !k.read {
			k.text[0] = d[0]
		}
		k.text[0] = k.unit(k.text[0], 8)
		w.bytes(k.text[:1])
		return k.text[:1]
	}
	text := k.text[:g.span]
	if !k.read {
		copy(text, d)
		g.split(text, &k.values)
	}
	for i, u := range g.units {
		k.values[i] = k.unit(k.values[i], uint(u.bits))
	}
	if k.read {
		g.join(text, &k.values)
	}
	w.bytes(text)
	return text
}

// follow walks through a known datagram. It calls each, if not nil, before each unit.
func (k *coder) follow(d []byte, l *log, each func(v byte, bits uint)) {
	w := &k.w
	w.begin(k.m, len(d), l)
	unit := func(v byte, bits uint) {
		if each != nil {
			each(v, bits)
		}
		w.unit(v)
	}
	for len(d) > 0 {
		n := 1
		if g := w.group(); g == nil {
			unit(d[0], 8)
		} else {
			n = int(g.span)
			g.split(d, &k.values)
			for i := range g.units {
				unit(k.values[i], uint(g.units[i].bits))
			}
		}
		w.bytes(d[:n])
		d = d[n:]
	}
	w.close(w.done)
}

// split makes units of bytes.
func (g *group) split(text []byte, values *[8 * maxSpan]byte) {
	for i := range g.units {
		u, v := &g.units[i], byte(0)
		for _, from := range u.from[:u.bits] {
			v = v<<1 | text[from>>3]>>(from&7)&1
		}
		values[i] = v
	}
}

// join is the inverse.
func (g *group) join(text []byte, values *[8 * maxSpan]byte) {
	clear(text)
	for i := range g.units {
		u, v := &g.units[i], values[i]
		for j := int(u.bits) - 1; j >= 0; j-- {
			text[u.from[j]>>3] |= v & 1 << (u.from[j] & 7)
			v >>= 1
		}
	}
}

// unit codes a unit of some bits.
func (k *coder) unit(v byte, bits uint) byte {
	w, x := &k.w, &k.x
	p := &k.m.places[w.at()]
	if p.random {
		v = k.any(v, bits)
		w.num.active = false
		w.unit(v)
		return v
	}
	x.begin()
	if x.steady() {
		e := byte(x.expect[0])
		if k.bit(rangecoder.Flag(v == e), x.steadyP()) == 1 {
			w.num.whole(e, bits)
			w.unit(e)
			return e
		}
		x.excludeSteady()
	}
	head, node := uint32(1), uint32(1)
	for n := bits; n > 0; n-- {
		if n == 4 && bits > 4 && p.low {
			head = head<<4 | uint32(k.any(v&15, 4))
			w.num.active = false
			break
		}
		if n == bits || n == 4 && bits > 4 {
			x.findLines(head)
			node = 1
		}
		bit := k.bit(int(v>>(n-1)&1), x.p(head, node, bits, n))
		if w.num.active {
			w.num.observeBit(bit)
		}
		head, node = head<<1|uint32(bit), node<<1|uint32(bit)
	}
	v = byte(head)
	if bits < 8 {
		v &= 1<<bits - 1
	}
	w.num.leave(v)
	w.unit(v)
	return v
}

// bit codes a decision.
func (k *coder) bit(bit int, p uint32) int {
	if k.read {
		return k.c.Bit(0, p)
	}
	k.ops = append(k.ops, op{p: p, value: uint8(bit)})
	return bit
}

// any codes bits of probability 1/2.
func (k *coder) any(v byte, bits uint) byte {
	if k.read {
		return byte(k.c.Direct(0, bits))
	}
	k.ops = append(k.ops, op{value: v, bits: uint8(bits)})
	return v
}

// least returns the least number of bytes that the ops take.
func (k *coder) least() int {
	bits := 0
	for _, o := range k.ops {
		switch {
		case o.p == 0:
			bits += int(o.bits) << 8
		case o.value == 0:
			bits += int(k.x.t.cost[(rangecoder.One-o.p)>>4])
		default:
			bits += int(k.x.t.cost[o.p>>4])
		}
	}
	return max((bits+8<<8-1)>>11, 1)
}

// write codes the ops. size is the size that the packet is meant to have, or -1 to leave out the
// length.
func (k *coder) write(dst []byte, size int) []byte {
	c := &k.c
	c.Write(dst)
	c.Bit(0, rawP)
	c.Bit(rangecoder.Flag(k.doubt), doubtP)
	if size >= 0 {
		k.m.length.code(c, k.w.n, size)
	}
	for _, o := range k.ops {
		if o.p == 0 {
			c.Direct(uint64(o.value), uint(o.bits))
		} else {
			c.Bit(int(o.value), o.p)
		}
	}
	return c.FinishTrimmed()
}

// decode appends the datagram of a packet to dst.
func (k *coder) decode(dst, packet []byte, l *log) ([]byte, error) {
	if len(packet) == 0 {
		return dst, nil
	}
	if packet[0] == 0 {
		if len(packet) > 1+maxDatagram {
			return dst, fmt.Errorf("datagram: %w: %d bytes, expected at most %d", encoders.ErrCorrupt, len(packet)-1, maxDatagram)
		}
		return append(dst, packet[1:]...), nil
	}
	k.c.Read(packet)
	k.c.Bit(0, rawP)
	doubt := k.c.Bit(0, doubtP) == 1
	n := k.m.length.code(&k.c, 0, len(packet))
	dst = slices.Grow(dst, n)
	k.begin(n, l, doubt)
	for k.w.pos < n {
		dst = append(dst, k.group(nil)...)
	}
	return dst, nil
}
