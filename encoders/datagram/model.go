package datagram

import "wirelab/encoders/rangecoder"

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
