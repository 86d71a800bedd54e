package datagram

import (
	"fmt"
	"slices"

	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
)

// Packet layout. The packet of an empty datagram is empty. A raw packet is a byte of 0 followed by the datagram.
// Any other packet is one range-coded sequence:
//
//	bit    0: not raw
//	bit    1 if the logits of the mixer are limited to lowTrustLogit
//	length of the datagram, given the size of the packet: see lengths.code
//	units  of the datagram, in the order of parser: see codeUnit
//
// Trailing zero bytes of the range coder are trimmed. The packet is then padded with zeros to the
// size that the length was coded for.
const (
	// rawProb is the probability of a 1 as the first bit, of 65536. It reserves exactly the
	// packets that begin with a byte of 0 for raw datagrams.
	rawProb = 256

	lowTrustProb = 2048 // of 65536
)

// maxDatagram is the maximum size of a datagram, in bytes.
const maxDatagram = 1 << 16

// A coder encodes or decodes datagrams. It holds all working memory, so that coding does not
// allocate. A coder must not be used by several goroutines.
type coder struct {
	model    *model           // of the program's datagrams
	parser   parser           // divides the datagram into messages and units
	mixer    mixer            // predicts the bits of a unit
	rc       rangecoder.Coder // range coder of the packet
	decoding bool             // the coder decodes; otherwise it encodes

	// An encoder collects all decisions before it writes them: the datagram's length comes first
	// in the packet, and its probabilities depend on the packet's size.
	decisions []decision

	lowTrust       bool              // the current datagram is coded with logits limited to lowTrustLogit
	lowTrustPacket []byte            // the second attempt of encode
	omitLength     bool              // leave out the datagram's length; used while the model of lengths is trained
	groupBytes     [maxSpan]byte     // bytes of the current group
	unitValues     [8 * maxSpan]byte // units of the current group
}

// A decision is one binary decision, or up to 8 bits that are coded directly.
type decision struct {
	p     uint32 // probability of a 1, of 65536; 0 means that value is coded directly
	value uint8  // the bit, or the bits coded directly
	bits  uint8  // number of bits in value if p is 0
}

// The parameter decoding of newCoder and newCodec.
const asEncoder, asDecoder = false, true

// newCoder returns an encoder, or a decoder if decoding is true.
func newCoder(m *model, decoding bool) *coder {
	k := &coder{model: m, decoding: decoding}
	k.mixer.parser, k.mixer.tables = &k.parser, newTables()
	return k
}

// encode appends the packet of datagram d to dst. acked holds the acknowledged messages, nil if the
// model does not use them. If the packet has at least 7/8 of the size of d, the model fits badly:
// encode tries low trust as well and uses the shorter packet.
func (k *coder) encode(dst, d []byte, acked *ackedLog) []byte {
	if len(d) == 0 {
		return dst
	}
	if len(d) > maxBytes { // too long for the model: a raw packet
		return append(append(dst, 0), d...)
	}
	const fullTrust, lowTrust = false, true
	base := len(dst)
	dst = k.encodeOnce(dst, d, acked, fullTrust)
	if k.omitLength || (len(dst)-base)*8 < len(d)*7 {
		return dst
	}
	k.lowTrustPacket = k.encodeOnce(k.lowTrustPacket[:0], d, acked, lowTrust)
	if len(k.lowTrustPacket) < len(dst)-base {
		dst = append(dst[:base], k.lowTrustPacket...)
	}
	return dst
}

// encodeOnce appends the packet of d with the given trust to dst. The length of d is coded given the
// size of the packet, and its cost changes that size. So encodeOnce assumes a size, beginning with the
// smallest possible, until the packet fits into the assumed size. If none up to len(d) fits, the
// packet is raw.
func (k *coder) encodeOnce(dst, d []byte, acked *ackedLog, lowTrust bool) []byte {
	k.begin(len(d), acked, lowTrust)
	for rest := d; len(rest) > 0; {
		coded := k.codeGroup(rest)
		rest = rest[len(coded):]
	}
	base := len(dst)
	if k.omitLength {
		return k.writePacket(dst, noLength)
	}
	// The four bytes leave room for the length, which the lower bound does not include, and for rounding.
	minSize := k.minPacketSize()
	maxSize := min(len(d), minSize+4)
	for size := minSize; size <= maxSize; size++ {
		dst = k.writePacket(dst[:base], size)
		if len(dst)-base <= size {
			for len(dst)-base < size {
				dst = append(dst, 0)
			}
			return dst
		}
	}
	return append(append(dst[:base], 0), d...)
}

// begin starts a datagram of size bytes. lowTrust selects the limit of the logits.
func (k *coder) begin(size int, acked *ackedLog, lowTrust bool) {
	k.decisions, k.lowTrust = k.decisions[:0], lowTrust
	k.mixer.maxLogit = fullTrustLogit
	if lowTrust {
		k.mixer.maxLogit = lowTrustLogit
	}
	k.parser.begin(k.model, size, acked)
}

// codeGroup codes the next group of bytes, or a single byte where the model has no group, and returns
// the bytes, which are valid until the next call. An encoder passes the part of the datagram that is
// not coded yet as rest; a decoder passes nil.
func (k *coder) codeGroup(rest []byte) []byte {
	p := &k.parser
	g := p.currentGroup()
	if g == nil {
		k.groupBytes[0] = 0
		if !k.decoding {
			k.groupBytes[0] = rest[0]
		}
		k.groupBytes[0] = k.codeUnit(k.groupBytes[0], 8)
		p.addBytes(k.groupBytes[:1])
		return k.groupBytes[:1]
	}
	groupBytes := k.groupBytes[:g.span]
	if !k.decoding {
		copy(groupBytes, rest)
		g.split(groupBytes, &k.unitValues)
	}
	for i, u := range g.units {
		k.unitValues[i] = k.codeUnit(k.unitValues[i], uint(u.bits))
	}
	if k.decoding {
		g.join(groupBytes, &k.unitValues)
	}
	p.addBytes(groupBytes)
	return groupBytes
}

// parse moves the parser through the datagram d without coding it. It calls visit, if not nil, with
// the value and the number of bits of each unit before the parser adds the unit.
func (k *coder) parse(d []byte, acked *ackedLog, visit func(v byte, bits uint)) {
	p := &k.parser
	p.begin(k.model, len(d), acked)
	visitAndAdd := func(v byte, bits uint) {
		if visit != nil {
			visit(v, bits)
		}
		p.addUnit(v)
	}
	for len(d) > 0 {
		n := 1
		if g := p.currentGroup(); g == nil {
			visitAndAdd(d[0], 8)
		} else {
			n = int(g.span)
			g.split(d, &k.unitValues)
			for i := range g.units {
				visitAndAdd(k.unitValues[i], uint(g.units[i].bits))
			}
		}
		p.addBytes(d[:n])
		d = d[n:]
	}
	p.endMessage(p.unitCount)
}

// split sets values[i] to unit i of the group, whose bits it gathers from groupBytes.
func (g *group) split(groupBytes []byte, values *[8 * maxSpan]byte) {
	for i := range g.units {
		u, v := &g.units[i], byte(0)
		for _, from := range u.bitIndex[:u.bits] {
			v = v<<1 | groupBytes[from>>3]>>(from&7)&1
		}
		values[i] = v
	}
}

// join sets groupBytes from the values of its units. It is the inverse of split.
func (g *group) join(groupBytes []byte, values *[8 * maxSpan]byte) {
	clear(groupBytes)
	for i := range g.units {
		u, v := &g.units[i], values[i]
		for j := int(u.bits) - 1; j >= 0; j-- {
			groupBytes[u.bitIndex[j]>>3] |= v & 1 << (u.bitIndex[j] & 7)
			v >>= 1
		}
	}
}

// codeUnit codes a unit of the given number of bits: v if encoding, otherwise v is ignored. It returns
// the unit and adds it to the parser.
//
// Where the model has found the unit to be nearly always the expected one, one decision codes whether
// it is. Otherwise the bits follow, the highest first, as in PAQ: the upper and the lower four bits
// are coded in two trees of 15 nodes, each with its own slots. Bits that training found to be
// unpredictable are coded directly.
func (k *coder) codeUnit(v byte, bits uint) byte {
	p, x := &k.parser, &k.mixer
	um := &k.model.units[p.modelIndex()]
	if um.random {
		v = k.codeDirect(v, bits)
		p.field.active = false // its intervals do not follow bits that are coded directly
		p.addUnit(v)
		return v
	}
	x.begin()
	if x.hasSteadyFlag() {
		expected := byte(x.expected[0])
		if k.codeBit(rangecoder.Flag(v == expected), x.steadyProb()) == 1 {
			p.field.skipBits(expected, bits)
			p.addUnit(expected)
			return expected
		}
		x.excludeSteady()
	}
	// head is a 1 followed by the bits of the unit so far; node is a 1 followed by those of the current
	// tree. The leading 1 makes sequences of different lengths different numbers.
	head, node := uint32(1), uint32(1)
	for n := bits; n > 0; n-- {
		if n == 4 && bits > 4 && um.lowRandom {
			head = head<<4 | uint32(k.codeDirect(v&15, 4))
			p.field.active = false
			break
		}
		if n == bits || n == 4 && bits > 4 {
			x.findSlots(head)
			node = 1
		}
		bit := k.codeBit(int(v>>(n-1)&1), x.prob(head, node, bits, n))
		if p.field.active {
			p.field.observeBit(bit)
		}
		head, node = head<<1|uint32(bit), node<<1|uint32(bit)
	}
	v = byte(head)
	if bits < 8 {
		v &= 1<<bits - 1
	}
	p.field.endUnit(v)
	p.addUnit(v)
	return v
}

// codeBit codes a bit whose probability of being 1 is p, of 65536, and returns it. An encoder only notes the
// decision; a decoder ignores bit.
func (k *coder) codeBit(bit int, p uint32) int {
	if k.decoding {
		return k.rc.Bit(0, p)
	}
	k.decisions = append(k.decisions, decision{p: p, value: uint8(bit)})
	return bit
}

// codeDirect codes the lowest count bits of v, each with probability 1/2, and returns them. An encoder only
// notes them; a decoder ignores v.
func (k *coder) codeDirect(v byte, count uint) byte {
	if k.decoding {
		return byte(k.rc.Direct(0, count))
	}
	k.decisions = append(k.decisions, decision{value: v, bits: uint8(count)})
	return v
}

// minPacketSize returns a lower bound of the packet's size: the information content of the decisions,
// in bytes, without the length of the datagram.
func (k *coder) minPacketSize() int {
	bits := 0 // in 1/256
	for _, d := range k.decisions {
		switch {
		case d.p == 0: // coded directly
			bits += int(d.bits) << 8
		case d.value == 0:
			bits += int(k.mixer.tables.bitCost[(rangecoder.One-d.p)>>4]) // bitCost is indexed by a 16th of the probability
		default:
			bits += int(k.mixer.tables.bitCost[d.p>>4])
		}
	}
	return max((bits+8<<8-1)>>11, 1) // from 1/256 bit to bytes of 8<<8, rounded up
}

// noLength is the size for writePacket that leaves out the datagram's length.
const noLength = -1

// writePacket appends a packet of the collected decisions to dst. size is the packet size for which the
// datagram's length is coded, or noLength. The packet may be shorter or longer than size.
func (k *coder) writePacket(dst []byte, size int) []byte {
	rc := &k.rc
	rc.Write(dst)
	rc.Bit(0, rawProb) // not raw
	rc.Bit(rangecoder.Flag(k.lowTrust), lowTrustProb)
	if size >= 0 {
		k.model.lengths.code(rc, k.parser.size, size)
	}
	for _, d := range k.decisions {
		if d.p == 0 {
			rc.Direct(uint64(d.value), uint(d.bits))
		} else {
			rc.Bit(int(d.value), d.p)
		}
	}
	return rc.FinishTrimmed()
}

// decode appends the datagram of packet to dst. Any packet decodes to some datagram of at most
// maxDatagram bytes, except a raw one that is too long. acked must have the same messages as for encode.
func (k *coder) decode(dst, packet []byte, acked *ackedLog) ([]byte, error) {
	if len(packet) == 0 {
		return dst, nil
	}
	if packet[0] == 0 { // raw
		if len(packet) > 1+maxDatagram {
			return dst, fmt.Errorf("datagram: %w: a raw datagram of %d bytes, expected at most %d", encoders.ErrCorrupt, len(packet)-1, maxDatagram)
		}
		return append(dst, packet[1:]...), nil
	}
	k.rc.Read(packet)
	k.rc.Bit(0, rawProb) // 0, not raw, because the first byte is not 0
	lowTrust := k.rc.Bit(0, lowTrustProb) == 1
	n := k.model.lengths.code(&k.rc, 0, len(packet))
	dst = slices.Grow(dst, n)
	k.begin(n, acked, lowTrust)
	for k.parser.pos < n {
		dst = append(dst, k.codeGroup(nil)...)
	}
	return dst, nil
}
