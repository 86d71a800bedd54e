package datagram

import (
	"encoding/binary"

	"wirelab/encoders/rangecoder"
)

// Bounds of a model.
const (
	maxKinds  = 16   // of messages
	maxPlaces = 64   // units of a message with a place of their own; later ones share the last four
	maxBytes  = 2047 // of a datagram that is modelled; longer ones are sent raw
	maxSpan   = 32   // bytes of a group
	maxUnits  = 8 * (maxBytes + maxSpan)
	recipes   = 3 // contexts of a place beside the place itself
	maxParts  = 3 // sources of a context
	maxShift  = 28
)

// model is a trained model of a game's datagrams. It does not change while it codes, so any
// number of encoders and decoders may share it.
type model struct {
	acked  bool // it was made to look at acknowledged datagrams
	kinds  []kind
	places []place // maxPlaces of each kind
	fields []field
	lines  []line // a hash table: see find
	shift  uint   // of a hash, to the number of its line
	found  [64][inputs]int16
	length lengths

	anchors anchors
}

// kind is a sort of messages, which begin alike or follow one another.
type kind struct {
	anchor uint32 // the four bytes that it begins with, if anchored
	hooked bool   // it has an anchor
	key    int8   // the unit that identifies what the message is about; -1 if none
	size   uint8  // bytes after which a message of kind then begins; 0 means no limit
	then   uint8
	clock  int8  // the byte where a time is; -1 if none
	timing uint8 // the format of that time
	groups []group
	at     [maxPlaces + maxSpan]uint8 // 1 + the group that begins at a byte
}

// group is some bytes that are coded together, as units of at most 8 bits, rearranged so that every
// number has its highest bits first.
type group struct {
	offset uint8 // of its first byte in the message
	span   uint8 // bytes
	units  []unit
}

// unit is up to 8 bits: their indices in the group, the highest first. Bit 8*i+k is worth 1<<k in
// byte i.
type unit struct {
	bits uint8
	from [8]uint8
}

// place is the model of one unit of a kind.
type place struct {
	seen   bool // in training
	random bool // nothing predicts the unit: its bits are coded directly
	low    bool // nothing predicts its last four bits
	steady bool // it is nearly always the reference's
	zero   bool // it is nearly always 0 where there is no reference
	zeros  int8 // the logit of that, as a node
	recipe [recipes]recipe
	near   [2][64]byte // logits of "as expected", by the bit and the units before
	weight [2][inputs]int16
	field  int16 // the field it is a part of; -1 if none
	part   uint8 // index of the unit in the field
}

// line is a hashed slot of one context: a check of its hash, and for each node of the tree over
// four bits the logit of a 1 in 1/16 nat.
type line [16]byte

// find returns the line of a context, noLine if the model has none.
func (m *model) find(hash uint32) *line {
	i := hash >> m.shift
	check := byte(hash) | 1
	if l := &m.lines[i]; l[0] == check {
		return l
	}
	if l := &m.lines[i^1]; l[0] == check {
		return l
	}
	return &noLine
}

var noLine line

// anchors finds the kind that begins with four bytes.
type anchors struct {
	bytes [64]uint32
	kind  [64]uint8 // 0: free
}

func (a *anchors) put(b uint32, kind uint8) {
	i := b * 0x9e3779b1 >> 26
	for a.kind[i] != 0 {
		i = (i + 1) & 63
	}
	a.bytes[i], a.kind[i] = b, kind
}

// find returns the kind that begins with four bytes, 0 if none.
func (a *anchors) find(b uint32) uint8 {
	for i := b * 0x9e3779b1 >> 26; a.kind[i] != 0; i = (i + 1) & 63 {
		if a.bytes[i] == b {
			return a.kind[i]
		}
	}
	return 0
}

// index computes anchors and the places of groups.
func (m *model) index() {
	m.anchors = anchors{}
	for i := range m.kinds {
		k := &m.kinds[i]
		if k.hooked && i > 0 && m.anchors.find(k.anchor) == 0 {
			m.anchors.put(k.anchor, uint8(i))
		}
		k.at = [len(k.at)]uint8{}
		for j, g := range k.groups {
			k.at[g.offset] = uint8(j + 1)
		}
	}
}

// mix32 spreads x over 32 bits.
func mix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// toNode rounds a logit of package rangecoder, in 1/2048 nat, to 1/16.
func toNode(stretch int32) int8 {
	return int8(min(max((stretch+64)>>7, -127), 127))
}

// ratio returns the logit of n1 ones and n0 zeros, as a node.
func ratio(n1, n0 int64) int8 {
	p := (10*n1 + 4) << 16 / (10*(n0+n1) + 8)
	return toNode(rangecoder.Stretch(uint32(min(max(p, 1), rangecoder.One-1))))
}

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

// Sources of contexts: the last units, and these.
const (
	srcRest   = history + iota // bytes to come
	srcRef                     // the same unit of the reference
	srcRef2                    // of the reference before that
	srcAny                     // of the last message of the kind
	srcDiff                    // difference of the unit before from the reference's
	srcSame                    // which of the four units before agree, and the sign of the difference
	srcNext                    // the reference's next unit
	srcMean                    // the unit of the field's prediction
	srcWrong                   // difference of the field so far from its prediction
	srcMissed                  // residual of the field before
	sources
)

// recipe is a context of some bits of each of n sources.
type recipe struct {
	n    uint8
	part [maxParts]part
}

type part struct{ source, mask uint8 }

// hash returns the hash of the recipe's context.
func (r *recipe) hash(seed uint32, src *[sources]byte) uint32 {
	for _, p := range r.part[:r.n] {
		seed = (seed+uint32(src[p.source]&p.mask)+1)*0x2c1b3c6d ^ seed>>15
	}
	return mix32(seed)
}

// gather fills the sources for the next unit.
func (w *walk) gather() {
	b := w.units[w.done : w.done+history]
	binary.LittleEndian.PutUint64(w.src[:], binary.BigEndian.Uint64(b[8:]))
	binary.LittleEndian.PutUint64(w.src[8:], binary.BigEndian.Uint64(b))
	w.src[srcRest] = byte(min(w.n-w.pos, 255))
	w.num.begin(w)
	w.src[srcMean], w.src[srcWrong], w.src[srcMissed] = w.num.mean(), w.num.wrong(), w.num.missed()
	if w.any.units == nil && w.ref.units == nil {
		clear(w.src[srcRef:srcMean])
		return
	}
	at := w.here()
	w.src[srcRef], w.src[srcRef2], w.src[srcAny], w.src[srcNext] = w.ref.at(at), w.ref2.at(at), w.any.at(at), w.ref.at(at+1)
	same, diff := byte(0), byte(0)
	if at > 0 {
		for i := range 4 {
			if b[history-1-i] == w.ref.at(at-1-i) {
				same |= 1 << i
			}
		}
		diff = b[history-1] - w.ref.at(at-1)
		same |= diff >> 7 << 4
	}
	w.src[srcSame], w.src[srcDiff] = same, diff
}
