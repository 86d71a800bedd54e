package datagram

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"wirelab/encoders/rangecoder"
)

// maxAnchored is the maximum number of kinds after findAnchors: kind 0 and those with anchors. The other
// numbers below maxKinds are left for the records of lists.
const maxAnchored = 12

// findAnchors adds a kind for each sequence of four bytes with which at least 4 datagrams, and at least 1 in
// 300, begin. The most frequent come first.
func (t *trainer) findAnchors() {
	seen := map[uint32]int{}
	for _, s := range t.samples {
		if len(s.data) >= 4 {
			seen[binary.BigEndian.Uint32(s.data)]++
		}
	}
	maps.DeleteFunc(seen, func(_ uint32, n int) bool { return n*300 < len(t.samples) || n < 4 })
	list := slices.SortedFunc(maps.Keys(seen), func(a, b uint32) int { return cmp.Or(seen[b]-seen[a], cmp.Compare(a, b)) })
	for _, a := range list[:min(len(list), maxAnchored-1)] {
		t.model.kinds = append(t.model.kinds, messageKind{anchor: a, anchored: true, keyUnit: -1, clockByte: -1})
	}
	t.allocUnits()
}

// maxKeyUnit is the number of units at the start of a message among which the key is searched.
const maxKeyUnit = 24

// findKeys sets the key of each kind to the unit with which most units of the messages equal those of the
// reference, the latest message with the same key. A key must give 1 % more equal units than the best
// choice before it, beginning with no key.
func (t *trainer) findKeys() {
	samples := t.samples[:min(len(t.samples), 800)] // enough, and each key takes a pass over them
	// countByKind returns the number of equal units by kind, with the current keys.
	countByKind := func() []int {
		scores := make([]int, len(t.model.kinds))
		for kind, list := range t.collectMessages(samples) {
			for i := range list {
				scores[kind] += countMatches(&list[i], int(t.model.kinds[kind].keyUnit))
			}
		}
		return scores
	}
	// setKeys sets the same key for all kinds.
	setKeys := func(key int8) {
		for i := range t.model.kinds {
			t.model.kinds[i].keyUnit = key
		}
	}
	const noKey = -1
	setKeys(noKey)
	best := countByKind()
	keys := make([]int8, len(best))
	for i := range keys {
		keys[i] = noKey
	}
	for key := range int8(maxKeyUnit) {
		setKeys(key)
		for i, matches := range countByKind() {
			if matches > best[i]+best[i]/100 {
				best[i], keys[i] = matches, key
			}
		}
	}
	for i := range keys {
		t.model.kinds[i].keyUnit = keys[i]
	}
}

// countMatches returns the number of units of a message that equal the reference's. The key unit and the
// units before it are compared with the latest message of the kind instead, because the decoder knows the
// reference only after the key. key is the index of the key unit, -1 if none.
func countMatches(c *comparedMessage, key int) (n int) {
	for i, u := range c.units[:min(len(c.units), unitsPerKind)] {
		r := c.ref.units
		if i <= key {
			r = c.sameKind.units
		}
		if i < len(r) && r[i] == u {
			n++
		}
	}
	return n
}

const (
	minPeriod   = 3  // smallest size of a record of a list, in bytes
	minMessages = 60 // fewest messages of a kind from which its structure is inferred
)

// findLists finds the kinds whose messages are a head followed by records of one size. The records become
// messages of a new kind, each followed by another one. The original kind is limited to the head, or to the
// first record if the head is empty.
func (t *trainer) findLists() {
	for i, list := range t.collectMessages(t.samples[:min(len(t.samples), 2000)]) {
		if len(list) < minMessages || len(t.model.kinds) == maxKinds {
			continue
		}
		head, period := findList(list)
		if period == 0 {
			continue
		}
		record := uint8(len(t.model.kinds))
		t.model.kinds = append(t.model.kinds, messageKind{keyUnit: -1, clockByte: -1, size: uint8(period), next: record})
		t.model.kinds[i].size, t.model.kinds[i].next = uint8(head), record
		if head == 0 {
			t.model.kinds[i].size = uint8(period)
		}
	}
	t.allocUnits()
}

// findList returns the sizes of the head and of the records (the period) of messages that are lists; period
// is 0 if they are not. The messages are coded with each byte predicted by its position in the record. With
// the right period this costs much less than with a period that is 1 larger or smaller: the difference must
// be at least 1/10 of what prediction by the position in the message saves. The saving itself must be
// at least 45 % of that, and 95 % of the messages must consist of complete records.
func findList(list []comparedMessage) (head, period int) {
	list = sampleEvenly(list, 300)
	var counts positionCounts
	meanSize := 0
	for i := range list {
		meanSize += len(list[i].raw)
	}
	meanSize /= len(list)
	noPosition := counts.cost(list, 0, 1)   // a period of 1: every byte has the same position
	byPosition := counts.cost(list, 256, 0) // no records: the position in the message
	best := (noPosition - byPosition) / 10
	for tryPeriod := minPeriod; tryPeriod <= unitsPerKind; tryPeriod++ {
		for tryHead := 0; tryHead <= meanSize/3 && tryHead+3*tryPeriod <= meanSize; tryHead++ {
			fits := 0 // messages of complete records
			for i := range list {
				if n := len(list[i].raw); n >= tryHead && (n-tryHead)%tryPeriod == 0 {
					fits++
				}
			}
			if fits*20 < len(list)*19 {
				continue
			}
			cost := counts.cost(list, tryHead, tryPeriod)
			gain := min(counts.cost(list, tryHead, tryPeriod-1), counts.cost(list, tryHead, tryPeriod+1)) - cost
			if gain > best && (noPosition-cost)*20 >= (noPosition-byPosition)*9 {
				best, head, period = gain, tryHead, tryPeriod
			}
		}
	}
	return head, period
}

// positionCounts counts the bits of bytes: by position, by the preceding bits of the byte, by value.
// Positions from 256 on are those in a record.
type positionCounts [257 + unitsPerKind][256][2]uint16

// cost returns the cost of the bytes of messages, in 1/1024 bit, if each is coded adaptively by its
// position: in the head, whose size is given, and after it in records of period bytes. A period of 0 means
// no records; head is then ignored. cost clears the counts first.
func (t *positionCounts) cost(list []comparedMessage, head, period int) (bits int64) {
	clear(t[:])
	for i := range list {
		for pos, b := range list[i].raw {
			if period == 0 {
				pos = min(pos, 255) // later bytes share the last position
			} else if pos >= head {
				pos = 256 + (pos-head)%period // see positionCounts
			}
			node := 1
			for n := 7; n >= 0; n-- {
				bit := b >> n & 1
				c := &t[pos][node]
				bits += int64(countLogs.all[c[0]+c[1]] - countLogs.one[c[bit]])
				c[bit]++
				if c[0]+c[1] >= 4095 { // halve the counts, which must be indices of countLogs
					c[0], c[1] = c[0]/2, c[1]/2
				}
				node = node<<1 | int(bit)
			}
		}
	}
	return bits
}

// sampleEvenly returns list, or n evenly spaced items of it if it has more.
func sampleEvenly[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*len(list)/n]
	}
	return out
}

// Orders in which the numbers of a message are stored.
const (
	bytewise = iota // in whole bytes, each number big-endian or little-endian
	lsbFirst        // packed in bits, beginning with the lowest bit of each byte
	msbFirst        // packed in bits, beginning with the highest bit of each byte
	nOrders
)

// A piece is a range of bits of a message that is taken as one number.
type piece struct {
	firstBit, bits int  // index of the first bit in the message, and number of bits
	littleEndian   bool // the lowest byte comes first; only in order bytewise
}

// findLayouts divides the messages of each kind into the numbers whose residuals cost least. It sets
// t.pieces to these and t.clocks to the positions that may have a time. Each little-endian number becomes a
// group. A record of a list becomes one group of bit-packed numbers if these cost at least 3 % less than
// whole bytes.
func (t *trainer) findLayouts() {
	t.pieces = make([][]piece, len(t.model.kinds))
	t.clocks = make([][]clockCandidate, len(t.model.kinds))
	for i, list := range t.collectMessages(t.samples) {
		list = slices.DeleteFunc(list, func(c comparedMessage) bool { return c.ref.units == nil }) // without a reference
		if len(list) < minMessages {
			continue
		}
		k := &t.model.kinds[i]
		t.clocks[i] = findClocks(list)
		list = sampleEvenly(list, maxFitMessages)
		size, anchorSize := k.extent(list)
		best, pieces := cheapestDivision(list, bytewise, size, anchorSize)
		k.groups = littleEndianGroups(pieces)
		isRecord := k.size > 0 && k.next == uint8(i)
		for order := lsbFirst; order < nOrders && isRecord && size <= maxSpan; order++ {
			// Records have no anchor.
			if cost, packed := cheapestDivision(list, order, size, 0); cost < best/100*97 {
				best, pieces = cost, packed
				k.groups = []group{bitGroup(packed, order, size)}
			}
		}
		t.pieces[i] = pieces
	}
	t.allocUnits()
}

// extent returns the number of bytes of the kind's messages that are divided into numbers: the size of the
// longest message in list, but at most the kind's fixed size and unitsPerKind, as later units have no model
// of their own. anchorSize is the size of the anchor with which the messages begin, 0 if the kind has none.
func (k *messageKind) extent(list []comparedMessage) (size, anchorSize int) {
	for i := range list {
		size = max(size, min(len(list[i].raw), unitsPerKind))
	}
	if k.size > 0 {
		size = min(size, int(k.size))
	}
	if k.anchored {
		return size, 4 // an anchor has four bytes
	}
	return size, 0
}

// cheapestDivision returns the cheapest division of the first size bytes into numbers stored in the given
// order, and its cost in 1/1024 bit. It is found by dynamic programming from the end: best[i] is the
// cheapest division from position i on. A position is a byte or, in packed orders, a bit. Each number costs 12 bits
// in addition, so that divisions into many numbers must pay. The first anchorSize bytes, the anchor, are not
// part of little-endian numbers.
func cheapestDivision(list []comparedMessage, order, size, anchorSize int) (int64, []piece) {
	step, maxWidth := 8, 4 // bits of a position, and maximum size of a number in positions
	if order != bytewise {
		step, maxWidth = 1, 17 // wider ones take too much time
	}
	n := size * 8 / step
	type choice struct {
		cost  int64 // cost of this piece and of all after it
		piece piece
	}
	best := make([]choice, n+1)
	var values [4][]int64
	for start := n - 1; start >= 0; start-- {
		best[start].cost = math.MaxInt64
		for width := 1; width <= maxWidth && start+width <= n; width++ {
			for little := range 2 { // 0: big-endian, 1: little-endian
				// A single byte has no order, and numbers of three bytes are not tried.
				if little == 1 && (order != bytewise || width == 1 || start < anchorSize) || order == bytewise && width == 3 {
					continue
				}
				p := piece{start * step, width * step, little == 1}
				readPieces(&values, list, p, order)
				if cost := simplestCost(&values, p.bits) + best[start+width].cost + 12<<10; cost < best[start].cost {
					best[start] = choice{cost, p}
				}
			}
		}
	}
	var pieces []piece
	for start := 0; start < n; start += best[start].piece.bits / step {
		pieces = append(pieces, best[start].piece)
	}
	return best[0].cost, pieces
}

// readPieces sets values[0] to the piece's number in each message, and values[1] to values[3] to the
// number in the message's ref, prevRef and sameKind. Messages are left out if they or their references are
// too short for the piece.
func readPieces(values *[4][]int64, list []comparedMessage, p piece, order int) {
	for i := range values {
		values[i] = values[i][:0]
	}
	for i := range list {
		c := &list[i]
		if len(c.raw)*8 < p.firstBit+p.bits || len(c.ref.units)*8 < p.firstBit+p.bits {
			continue
		}
		for j, b := range [][]byte{c.raw, c.ref.units, c.prevRef.units, c.sameKind.units} {
			values[j] = append(values[j], p.readFrom(b, order))
		}
	}
}

// readFrom returns the piece's number in b, which is stored in one of the orders bytewise, lsbFirst and msbFirst.
// Bytes beyond the end of b are 0.
func (p piece) readFrom(b []byte, order int) (v int64) {
	if order == bytewise {
		for i := range p.bits / 8 {
			index := p.firstBit/8 + i
			if p.littleEndian {
				index = (p.firstBit+p.bits)/8 - 1 - i
			}
			v = v<<8 | int64(message{units: b}.unitAt(index))
		}
		return v
	}
	var window uint64 // the four bytes from the first bit on, which contain a number of up to 17 bits
	m := message{units: b}
	for i := range 4 {
		if x := uint64(m.unitAt(p.firstBit>>3 + i)); order == lsbFirst {
			window |= x << (8 * i)
		} else {
			window |= x << (8 * (3 - i))
		}
	}
	if order == lsbFirst {
		return int64(window >> (p.firstBit & 7) & (1<<p.bits - 1))
	}
	return int64(window >> (32 - p.firstBit&7 - p.bits) & (1<<p.bits - 1))
}

// simplestCost returns the cost of a number's residuals, in 1/1024 bit, with the best of the prediction methods
// that have no parameters: predictRate is the first method with one. width is the number's size in bits.
// readPieces sets values: the numbers of all messages, and for each of them the same number of the reference, of
// the message before the reference with the same key, and of the last message of the same kind.
func simplestCost(values *[4][]int64, width int) int64 {
	if len(values[0]) == 0 {
		return 0
	}
	best := int64(math.MaxInt64)
	ref, prevRef, sameKind := values[1], values[2], values[3]
	for method := range predictRate {
		cost := newResidualCost(width)
		for i, value := range values[0] {
			switch method {
			case predictSameKind:
				cost.add(value - sameKind[i])
			case predictRef:
				cost.add(value - ref[i])
			case predictLine:
				cost.add(value - 2*ref[i] + prevRef[i]) // as far after ref as ref is after prevRef
			}
		}
		best = min(best, cost.sum)
	}
	return best
}

// A residualCost adds up the cost of residuals that are coded adaptively: the bucket by its frequency so
// far, the position in the bucket directly.
type residualCost struct {
	half    int64              // of the range of the numbers
	counts  [2][nBuckets]int64 // residuals so far by side (0 and more, below 0) and bucket
	counted int64              // sum of counts
	sum     int64              // so far, in 1/1024 bit
}

// newResidualCost returns a cost of 0 for residuals of numbers with width bits.
func newResidualCost(width int) residualCost { return residualCost{half: 1 << (width - 1)} }

// add adds the cost of residual r to c.sum, in 1/1024 bit, and counts r for the costs that follow.
func (c *residualCost) add(r int64) {
	side, i, log := residualBucket(wrapResidual(r, c.half))
	// The bucket's probability is (counts+1/20)/(total+12.8): each of the 256 counts begins at 1/20.
	c.sum += int64(log)<<10 + (fixedLog2(10*c.counted+128)-fixedLog2(20*c.counts[side][i]+1)+fixedLog2(2))>>6
	c.counts[side][i]++
	c.counted++
}

// fixedLog2 returns the binary logarithm of v in 1/65536, 0 if v is below 2.
func fixedLog2(v int64) int64 {
	if v < 2 {
		return 0
	}
	return rangecoder.Log2(uint32(v))
}

// residualBucket returns the bucket of a residual, as indices into field.bucketCost, and the binary
// logarithm of the bucket's width.
func residualBucket(r int64) (side, i int, log uint) {
	distance := uint32(r)
	if r < 0 { // -1 is in the first bucket of its side, because 0 is on the other side
		side, distance = 1, uint32(-r-1)
	}
	i, _, log = findBucket(distance)
	return side, i, log
}

// littleEndianGroups returns a group for each little-endian number. The units of a group are its bytes, the last
// byte first; bitIndex lists the bits of a unit, the highest first, counted from the lowest bit of the first byte.
func littleEndianGroups(pieces []piece) (list []group) {
	for _, p := range pieces {
		if !p.littleEndian {
			continue
		}
		g := group{offset: uint8(p.firstBit / 8), span: uint8(p.bits / 8)}
		for i := p.bits/8 - 1; i >= 0; i-- {
			u := groupUnit{bits: 8}
			for j := range u.bitIndex {
				u.bitIndex[j] = uint8(8*i + 7 - j)
			}
			g.units = append(g.units, u)
		}
		list = append(list, g)
	}
	return list
}

// bitGroup returns one group for bit-packed numbers that fill size bytes. Each number is divided into units,
// the highest bits first. If its bits are not a multiple of 8, the first unit has fewer than 8 bits: all other
// units of a field must have 8.
func bitGroup(pieces []piece, order, size int) group {
	g := group{span: uint8(size)}
	for _, p := range pieces {
		for left := p.bits; left > 0; {
			u := groupUnit{bits: uint8((left-1)%8 + 1)}
			for j := range int(u.bits) {
				bit := p.firstBit + p.bits - left + j // counted from the highest bit of each byte
				if order == lsbFirst {
					bit = p.firstBit + left - 1 - j
				} else {
					bit ^= 7 // groupUnit counts from the lowest bit
				}
				u.bitIndex[j] = uint8(bit)
			}
			g.units = append(g.units, u)
			left -= int(u.bits)
		}
	}
	return g
}
