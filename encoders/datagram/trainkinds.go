package datagram

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"wirelab/encoders/rangecoder"
)

// maxAnchored is the maximum number of kinds found by anchors, with kind 0. The others of maxKinds are
// left for records of lists.
const maxAnchored = 12

// findAnchors adds a kind for each four bytes with which at least 4 datagrams and 1 in 300 begin, the
// most frequent first.
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

// findKeys sets the key of each kind: the unit for which messages have most units in common with the
// latest message of the same key. A kind gets a key only if that adds 1 % of matching units.
func (t *trainer) findKeys() {
	samples := t.samples[:min(len(t.samples), 800)]
	// countByKind returns the number of matching units by kind, with the current keys.
	countByKind := func() []int {
		scores := make([]int, len(t.model.kinds))
		for kind, list := range t.collectMessages(samples) {
			for i := range list {
				scores[kind] += countMatches(&list[i], int(t.model.kinds[kind].keyUnit))
			}
		}
		return scores
	}
	setKeys := func(key int8) {
		for i := range t.model.kinds {
			t.model.kinds[i].keyUnit = key
		}
	}
	setKeys(-1)
	best := countByKind()
	keys := make([]int8, len(best))
	for i := range keys {
		keys[i] = -1
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

// countMatches returns the number of units of a message that equal the reference's. Up to the key, which
// selects the reference, they are compared with the latest message of the kind.
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
	minMessages = 60 // messages of a kind that are needed to find its structure
)

// findLists finds the kinds whose messages are a head followed by records of one size. The records become
// a kind of their own that follows itself. If the head is empty, the original kind is the first record.
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

// findList returns the size of the head and that of the records, the period, of messages that are lists;
// period is 0 if they are not. With the right period, bytes coded by their position in the record cost
// much less than with a period that is 1 larger or smaller: by at least 1/10 of what positions save at
// all. 95 % of the messages must consist of complete records, and the saving by the position in the
// record must be at least 45 % of that by the position in the message.
func findList(list []comparedMessage) (head, period int) {
	list = sampleEvenly(list, 300)
	var counts positionCounts
	meanSize := 0
	for i := range list {
		meanSize += len(list[i].raw)
	}
	meanSize /= len(list)
	noPosition, byPosition := counts.cost(list, 0, 1), counts.cost(list, 256, 0)
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
			peak := min(counts.cost(list, tryHead, tryPeriod-1), counts.cost(list, tryHead, tryPeriod+1)) - cost
			if peak > best && (noPosition-cost)*20 >= (noPosition-byPosition)*9 {
				best, head, period = peak, tryHead, tryPeriod
			}
		}
	}
	return head, period
}

// positionCounts counts the bits of bytes: by position, by the preceding bits of the byte, by value.
// Positions from 256 on are those in a record.
type positionCounts [257 + unitsPerKind][256][2]uint16

// cost returns the cost of the bytes of messages, in 1/1024 bit, if each is coded adaptively by its
// position: in the head, then in records of period bytes. A period of 0 means no records.
func (t *positionCounts) cost(list []comparedMessage, head, period int) (bits int64) {
	clear(t[:])
	for i := range list {
		for at, b := range list[i].raw {
			if period == 0 {
				at = min(at, 255)
			} else if at >= head {
				at = 256 + (at-head)%period
			}
			node := 1
			for n := 7; n >= 0; n-- {
				bit := b >> n & 1
				c := &t[at][node]
				bits += int64(countLogs.all[c[0]+c[1]] - countLogs.one[c[bit]])
				c[bit]++
				if c[0]+c[1] >= 4095 {
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

// Orders in which numbers are stored in a message: in whole bytes, big-endian or little-endian; or packed
// in bits, beginning with the lowest or with the highest bit of each byte.
const (
	bytewise = iota
	lsbFirst
	msbFirst
	nOrders
)

// A piece is a range of bits of a message that is taken as one number.
type piece struct {
	firstBit, bits int
	littleEndian   bool // only if in whole bytes
}

// findLayouts divides the messages of each kind into the numbers whose residuals cost least. It makes
// groups of little-endian numbers, and of whole records if bit packing is at least 3 % cheaper. Only
// records of a list may be bit-packed.
func (t *trainer) findLayouts() {
	t.pieces = make([][]piece, len(t.model.kinds))
	t.clocks = make([][]clockCandidate, len(t.model.kinds))
	for i, list := range t.collectMessages(t.samples) {
		list = slices.DeleteFunc(list, func(c comparedMessage) bool { return c.ref.units == nil })
		if len(list) < minMessages {
			continue
		}
		k := &t.model.kinds[i]
		t.clocks[i] = findClocks(list)
		list = sampleEvenly(list, 1200)
		size, head := k.extent(list)
		best, pieces := cheapestDivision(list, bytewise, size, head)
		k.groups = littleEndianGroups(pieces)
		for order := lsbFirst; order < nOrders && k.size > 0 && size <= maxSpan && k.next == uint8(i); order++ {
			if c, p := cheapestDivision(list, order, size, 0); c < best/100*97 {
				best, pieces = c, p
				k.groups = []group{bitGroup(p, order, size)}
			}
		}
		t.pieces[i] = pieces
	}
	t.allocUnits()
}

// extent returns the number of bytes of the kind's messages that are divided into numbers, and the size of
// the anchor among these, 0 if the kind has none.
func (k *messageKind) extent(list []comparedMessage) (size, head int) {
	for i := range list {
		size = max(size, min(len(list[i].raw), unitsPerKind))
	}
	if k.size > 0 {
		size = min(size, int(k.size))
	}
	if k.anchored {
		return size, 4
	}
	return size, 0
}

// cheapestDivision returns the cheapest division of the first size bytes into numbers, and its cost in
// 1/1024 bit. It is found by dynamic programming from the end: best[i] is the cheapest division from
// position i on. Each number costs 12 bits more, so that bytes are only joined if that pays. Bytes
// before head are not part of little-endian numbers.
func cheapestDivision(list []comparedMessage, order, size, head int) (int64, []piece) {
	step, maxWidth := 8, 4 // bits of a position, and maximum size of a number in positions
	if order != bytewise {
		step, maxWidth = 1, 17
	}
	n := size * 8 / step
	type choice struct {
		bits  int64
		piece piece
	}
	best := make([]choice, n+1)
	var values [4][]int64
	for start := n - 1; start >= 0; start-- {
		best[start].bits = math.MaxInt64
		for width := 1; width <= maxWidth && start+width <= n; width++ {
			for little := range 2 { // 0: big-endian, 1: little-endian
				// A single byte has no order, and numbers of three bytes are not tried.
				if little == 1 && (order != bytewise || width == 1 || start < head) || order == bytewise && width == 3 {
					continue
				}
				p := piece{start * step, width * step, little == 1}
				readPieces(&values, list, p, order)
				if bits := simplestCost(&values, p.bits) + best[start+width].bits + 12<<10; bits < best[start].bits {
					best[start] = choice{bits, p}
				}
			}
		}
	}
	var pieces []piece
	for start := 0; start < n; start += best[start].piece.bits / step {
		pieces = append(pieces, best[start].piece)
	}
	return best[0].bits, pieces
}

// readPieces sets values[0] to the piece's number in each message, and values[1] to values[3] to that in
// ref, prevRef and sameKind. Messages in which it is missing are left out.
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

// readFrom returns the piece's number in b. Bytes beyond the end of b are 0.
func (p piece) readFrom(b []byte, order int) (v int64) {
	if order == bytewise {
		for i := range p.bits / 8 {
			at := p.firstBit/8 + i
			if p.littleEndian {
				at = (p.firstBit+p.bits)/8 - 1 - i
			}
			v = v<<8 | int64(message{units: b}.unitAt(at))
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

// simplestCost returns the cost of the residuals of the best prediction without parameters: see
// predictSameKind and the following. values is the result of readPieces.
func simplestCost(values *[4][]int64, bits int) int64 {
	if len(values[0]) == 0 {
		return 0
	}
	best := int64(math.MaxInt64)
	for method := range predictRate {
		cost := newResidualCost(bits)
		for i, value := range values[0] {
			switch method {
			case predictSameKind:
				cost.add(value - values[3][i])
			case predictRef:
				cost.add(value - values[1][i])
			case predictLine:
				cost.add(value - 2*values[1][i] + values[2][i])
			}
		}
		best = min(best, cost.bits)
	}
	return best
}

// A residualCost adds up the cost of residuals that are coded adaptively: the bucket by its frequency so
// far, the position in the bucket directly.
type residualCost struct {
	half   int64
	counts [2][nBuckets]int64
	total  int64
	bits   int64
}

// newResidualCost returns the cost of residuals of numbers with the given bits.
func newResidualCost(bits int) residualCost { return residualCost{half: 1 << (bits - 1)} }

// add adds the cost of residual r to c.bits, in 1/1024 bit.
func (c *residualCost) add(r int64) {
	side, i, log := residualBucket(wrapResidual(r, c.half))
	c.bits += int64(log)<<10 + (fixedLog2(10*c.total+128)-fixedLog2(20*c.counts[side][i]+1)+fixedLog2(2))>>6
	c.counts[side][i]++
	c.total++
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
	k := uint32(r)
	if r < 0 {
		side, k = 1, uint32(-r-1)
	}
	i, _, log = findBucket(k)
	return side, i, log
}

// littleEndianGroups returns a group for each little-endian number, with the bytes reversed.
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

// bitGroup returns one group for bit-packed numbers that fill size bytes. The first unit of a number has
// the bits that do not fill 8, like those of field.
func bitGroup(pieces []piece, order, size int) group {
	g := group{span: uint8(size)}
	for _, p := range pieces {
		for left := p.bits; left > 0; {
			u := groupUnit{bits: uint8((left-1)%8 + 1)}
			for j := range int(u.bits) {
				at := p.firstBit + p.bits - left + j // counted from the highest bit
				if order == lsbFirst {
					at = p.firstBit + left - 1 - j
				} else {
					at ^= 7
				}
				u.bitIndex[j] = uint8(at)
			}
			g.units = append(g.units, u)
			left -= int(u.bits)
		}
	}
	return g
}
