package datagram

import (
	"encoding/binary"

	"wirelab/encoders/rangecoder"
)

// Limits of a model.
const (
	maxKinds     = 16   // of messages
	unitsPerKind = 64   // units of a message with a model of their own; later ones share the last four
	maxBytes     = 2047 // of a datagram that is modelled; longer ones are sent raw
	maxSpan      = 32   // bytes of a group
	maxUnits     = 8 * (maxBytes + maxSpan)
	nRecipes     = 3  // contexts of a unit in addition to its position
	maxParts     = 3  // sources of a context
	maxShift     = 28 // largest hashShift: a table of 16 slots
)

// A model is a trained model of a program's datagrams. Coding does not change it, so any number of
// encoders and decoders may share it.
type model struct {
	acked        bool               // the model uses acknowledged datagrams
	kinds        []messageKind      // kind 0 is that of a datagram's start without an anchor
	units        []unitModel        // unitsPerKind for each kind: see parser.modelIndex
	fields       []field            // numbers that are predicted as a whole
	slots        []slot             // a hash table of 1<<(32-hashShift) slots: see findSlot
	hashShift    uint               // hash>>hashShift is the index of a slot
	foundWeights [64][nInputs]int16 // weights by which contexts have slots, bits 0 to 3, and mixer.comparisonFlags
	lengths      lengths            // distribution of the lengths of datagrams

	anchors anchors // finds the kind of message that an anchor begins
}

// A messageKind describes messages of one layout. A message ends where one with an anchor begins, or
// after a fixed size.
type messageKind struct {
	anchor      uint32                        // the first four bytes, big-endian, if anchored
	anchored    bool                          // messages begin with the anchor
	keyUnit     int8                          // index of the unit that identifies what the message is about; -1 if none
	size        uint8                         // bytes after which the message ends and one of kind next begins; 0 means no limit
	next        uint8                         // kind of the message after one of the given size; not used without a size
	clockByte   int8                          // index of the first of four bytes with a time; -1 if none
	clockFormat uint8                         // of that time: clockFloatBE and so on
	groups      []group                       // ranges of bytes whose bits are rearranged
	groupAt     [unitsPerKind + maxSpan]uint8 // by byte: 1 + index of the group that begins there; 0 if none
}

// A group is a range of bytes that is coded as units of at most 8 bits with the bits rearranged, so that
// numbers have their highest bits first. Little-endian numbers and bit-packed records are groups.
type group struct {
	offset uint8 // of its first byte in the message
	span   uint8 // number of bytes
	units  []groupUnit
}

// A groupUnit is a unit of a group: the indices of its bits, the highest first. Index 8*i+k is the bit
// of value 1<<k in byte i of the group.
type groupUnit struct {
	bits     uint8 // number of bits
	bitIndex [8]uint8
}

// A unitModel predicts the unit at one position of the messages of one kind.
type unitModel struct {
	seen        bool             // the unit occurred in training; otherwise it is random
	random      bool             // no context predicts the unit: its bits are coded directly
	lowRandom   bool             // no context predicts the last four bits
	usuallyRef  bool             // nearly always equal to the reference's unit
	usuallyZero bool             // nearly always 0 if there is no reference
	zeroLogit   int8             // of the probability of 0 if there is no reference, in 1/16 nat
	recipes     [nRecipes]recipe // contexts that predict the unit

	// agreeLogits holds the logits, as int8 in 1/16 nat, of the next bit being that of mixer.expected,
	// by mixer.agreement plus the number of preceding bits.
	agreeLogits [2][64]byte

	weights   [2][nInputs]int16 // of the first tree of bits, and of the last four bits if there are more
	field     int16             // index of the field that the unit belongs to; -1 if none
	fieldUnit uint8             // index of the unit in the field
}

// A slot holds the predictions of one context for up to four bits. Byte 0 is a check of the context's
// hash, with the lowest bit set; 0 means that the slot is empty. Byte i is the logit of a 1, as int8
// in 1/16 nat, at node i of the tree of four bits.
type slot [16]byte

// findSlot returns the slot of the context with the given hash, emptySlot if the model has none. A context
// is at the index given by the upper bits of its hash, or at the index that differs in the lowest bit.
// The lowest byte of the hash, with bit 0 set, is the check.
func (m *model) findSlot(hash uint32) *slot {
	i := hash >> m.hashShift
	check := byte(hash) | 1
	if s := &m.slots[i]; s[0] == check {
		return s
	}
	if s := &m.slots[i^1]; s[0] == check {
		return s
	}
	return &emptySlot
}

// emptySlot is the slot of contexts that are not in the model. It must not be changed.
var emptySlot slot

// anchors is a hash table from anchors to message kinds, with linear probing. The hash is the upper 6 bits
// of the product with 2^32 divided by the golden ratio (Knuth's multiplicative hashing).
type anchors struct {
	prefixes [64]uint32 // four bytes, big-endian
	kinds    [64]uint8  // 0 if the entry is free
}

// insert adds an anchor that is not in the table. An entry of kind 0 is free, because kind 0 has no anchor.
// The table never gets full, because maxKinds is less than its size, 64.
func (a *anchors) insert(prefix uint32, kind uint8) {
	i := prefix * 0x9e3779b1 >> 26 // the hash: the upper 6 bits of the product
	for a.kinds[i] != 0 {
		i = (i + 1) & 63
	}
	a.prefixes[i], a.kinds[i] = prefix, kind
}

// find returns the kind with an anchor, 0 if none. The search ends at a free entry, whose kind is 0.
func (a *anchors) find(prefix uint32) uint8 {
	// The hash is the upper 6 bits of the product, as in insert.
	for i := prefix * 0x9e3779b1 >> 26; a.kinds[i] != 0; i = (i + 1) & 63 {
		if a.prefixes[i] == prefix {
			return a.kinds[i]
		}
	}
	return 0
}

// buildIndex computes model.anchors and messageKind.groupAt, which are not in the file.
func (m *model) buildIndex() {
	m.anchors = anchors{}
	for i := range m.kinds {
		k := &m.kinds[i]
		if k.anchored && i > 0 && m.anchors.find(k.anchor) == 0 {
			m.anchors.insert(k.anchor, uint8(i))
		}
		k.groupAt = [len(k.groupAt)]uint8{}
		for j, g := range k.groups {
			k.groupAt[g.offset] = uint8(j + 1)
		}
	}
}

// mix32 is a hash of 32 bits (Wellons, "Prospecting for Hash Functions", lowbias32, 2018).
func mix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	return x ^ x>>16
}

// toLogit16 converts a logit from 1/2048 nat, the unit of package rangecoder, to 1/16 nat, rounded.
func toLogit16(stretch int32) int8 {
	return int8(min(max((stretch+64)>>7, -127), 127))
}

// logit16 returns the logit of a 1 after the given numbers of ones and zeros, in 1/16 nat. The counts
// are increased by 0.4 (Krichevsky and Trofimov use 0.5), so that none is zero.
func logit16(ones, zeros int64) int8 {
	p := (10*ones + 4) << 16 / (10*(zeros+ones) + 8)
	return toLogit16(rangecoder.Stretch(uint32(min(max(p, 1), rangecoder.One-1))))
}

// The length of a datagram is coded given the size of its packet, which the decoder knows: as an index
// of a common length; otherwise as the difference from the packet's size; otherwise in 11 bits.
const (
	nPacketSizes = 64 // packet sizes with probabilities of their own; larger ones share the last
	nCommon      = 64 // common lengths; index 0 means another length
	nOffsets     = 32 // differences that can be coded; the last means another one
	minOffset    = -16
)

// lengths is the model of datagram lengths. Probabilities are those of a 1 in the nodes of a binary
// tree, of 65536.
type lengths struct {
	common     [nCommon]uint16     // the most frequent first; common[0] is not used
	index      [maxBytes + 1]uint8 // by length: index into common, 0 if the length is not in it
	commonProb [nPacketSizes][nCommon]uint16
	offsetProb [nOffsets]uint16
}

// code codes n, the length of a datagram, given the size of its packet, and returns the length. A
// decoder passes any n, which is ignored. The result is between 1 and maxBytes for any packet.
func (l *lengths) code(c *rangecoder.Coder, n, packetSize int) int {
	// 6 bits select one of nCommon lengths, 5 bits one of nOffsets differences, and 11 bits hold maxBytes.
	index := codeTree(c, l.commonProb[min(packetSize, nPacketSizes-1)][:], int(l.index[min(n, maxBytes)]), 6)
	if index != 0 {
		return int(l.common[index])
	}
	diff := n - packetSize - minOffset
	if diff < 0 || diff >= nOffsets { // the last value means another difference: the length follows
		diff = nOffsets - 1
	}
	diff = codeTree(c, l.offsetProb[:], diff, 5)
	if diff < nOffsets-1 {
		return min(max(diff+packetSize+minOffset, 1), maxBytes)
	}
	return min(max(int(c.Direct(uint64(n&(1<<11-1)), 11)), 1), maxBytes)
}

// codeTree codes v, a number of n bits, the highest bit first, and returns it. probs holds the
// probability of a 1 for each node of a binary tree, of 65536; the root is probs[1] and the nodes
// after node i are 2*i for a 0 and 2*i+1 for a 1.
func codeTree(c *rangecoder.Coder, probs []uint16, v, n int) int {
	node := 1
	for i := n - 1; i >= 0; i-- {
		node = node<<1 | c.Bit(v>>i&1, uint32(probs[node]))
	}
	return node - 1<<n
}

// buildIndex computes l.index, the inverse of l.common: for each length its index in l.common, or 0. Index 0 stands
// for lengths that are not common.
func (l *lengths) buildIndex() {
	l.index = [maxBytes + 1]uint8{}
	for i := nCommon - 1; i > 0; i-- {
		if n := l.common[i]; n > 0 {
			l.index[n] = uint8(i)
		}
	}
}

// Sources of contexts: indices into parser.sources. The first are the preceding units, the last one
// first. The numbers are stored in model files.
const (
	srcRemaining    = history + iota // number of bytes to come, at most 255
	srcRef                           // the same unit of the reference
	srcPrevRef                       // the same unit of the message before the reference
	srcSameKind                      // the same unit of the latest message of the kind
	srcRefDiff                       // the preceding unit minus the reference's
	srcAgreement                     // bits 0 to 3: preceding units that equal the reference's; bit 4: sign of srcRefDiff
	srcRefNext                       // the next unit of the reference
	srcPredicted                     // the unit in the field's first prediction
	srcPrefixError                   // see fieldCoder.prefixError
	srcLastResidual                  // see fieldCoder.lastResidualCode
	nSources
)

// A recipe defines a context: a selection of bits of each of n sources.
type recipe struct {
	n     uint8          // number of parts
	parts [maxParts]part // selected bits; the first n are used
}

// A part selects the bits of a source that are set in mask.
type part struct{ source, mask uint8 }

// hash returns the hash of the recipe's context for the given sources. seed identifies the recipe.
func (r *recipe) hash(seed uint32, sources *[nSources]byte) uint32 {
	for _, p := range r.parts[:r.n] {
		// The multiplier is odd and irregular, so that each value changes all upper bits.
		seed = (seed+uint32(sources[p.source]&p.mask)+1)*0x2c1b3c6d ^ seed>>15
	}
	return mix32(seed)
}

// gatherSources computes p.sources for the current unit. The values are 0 where no message to compare
// with exists.
func (p *parser) gatherSources() {
	lastUnits := p.units[p.unitCount : p.unitCount+history] // unit i of the datagram is p.units[history+i], after zeros
	// The 16 units before the current one, reversed so that the newest comes first.
	binary.LittleEndian.PutUint64(p.sources[:], binary.BigEndian.Uint64(lastUnits[8:]))
	binary.LittleEndian.PutUint64(p.sources[8:], binary.BigEndian.Uint64(lastUnits))
	p.sources[srcRemaining] = byte(min(p.size-p.pos, 255))
	p.field.beginUnit(p)
	p.sources[srcPredicted] = p.field.predictedUnit()
	p.sources[srcPrefixError] = p.field.prefixError()
	p.sources[srcLastResidual] = p.field.lastResidualCode()
	if p.sameKind.units == nil && p.ref.units == nil {
		clear(p.sources[srcRef:srcPredicted])
		return
	}
	unit := p.unitIndex()
	p.sources[srcRef], p.sources[srcRefNext] = p.ref.unitAt(unit), p.ref.unitAt(unit+1)
	p.sources[srcPrevRef], p.sources[srcSameKind] = p.prevRef.unitAt(unit), p.sameKind.unitAt(unit)
	agreement, diff := byte(0), byte(0)
	if unit > 0 {
		for i := range 4 {
			if lastUnits[history-1-i] == p.ref.unitAt(unit-1-i) {
				agreement |= 1 << i
			}
		}
		diff = lastUnits[history-1] - p.ref.unitAt(unit-1)
		agreement |= diff >> 7 << 4 // the sign of diff becomes bit 4
	}
	p.sources[srcAgreement], p.sources[srcRefDiff] = agreement, diff
}
