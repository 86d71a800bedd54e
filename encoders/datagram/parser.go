package datagram

import "slices"

// A message is an earlier message with which the current one is compared. The zero message stands for
// none.
type message struct {
	units []byte // nil if there is no message
	clock uint32 // the time in its datagram, 0 if the model has found none
}

// unitAt returns units[i], 0 beyond the end.
func (m message) unitAt(i int) byte {
	if uint(i) < uint(len(m.units)) {
		return m.units[i]
	}
	return 0
}

// history is the number of units before the current one that contexts may use. Contexts see zeros before
// the first unit of a datagram.
const history = 16

// A parser divides a datagram into messages and units while it is coded, and provides what contexts
// are made of. Encoder and decoder take the same steps, because these depend only on the bytes that
// are already coded.
//
// A message begins where the last four bytes are an anchor, or after a fixed number of bytes: see
// messageKind. The start of a datagram without an anchor is a message of kind 0.
type parser struct {
	model     *model
	acked     *ackedLog // nil if the model does not use acknowledged datagrams
	size      int       // number of bytes of the datagram
	pos       int       // number of bytes coded so far
	unitCount int       // number of units coded so far

	// The current message.
	kind         uint8
	msgStart     int    // index of the current message's first byte in the datagram
	msgFirstUnit int    // index of the current message's first unit in the datagram
	clock        uint32 // the time in the datagram so far, 0 if none yet
	last4        uint32 // the last four bytes, the newest in the lowest bits

	lastOfKind [maxKinds]unitRange // by kind: the last complete message in this datagram
	records    []record            // the complete messages; their offsets are into units[history:]

	ref, prevRef message // the last two acknowledged messages of the kind with the same key, or sameKind
	sameKind     message // the latest message of the kind, in this datagram or an acknowledged one

	sources [nSources]byte           // the values of contexts for the current unit: see gatherSources
	field   fieldCoder               // predictions of the current field
	units   [history + maxUnits]byte // of the datagram, after zeros
}

// A unitRange is a message of the current datagram: units from to to-1.
type unitRange struct {
	from, to int
	clock    uint32 // the time in the datagram so far
}

// begin starts a datagram of size bytes.
func (p *parser) begin(m *model, size int, acked *ackedLog) {
	p.model, p.acked, p.size, p.pos, p.unitCount = m, acked, size, 0, 0
	p.kind, p.msgStart, p.msgFirstUnit, p.clock, p.last4 = 0, 0, 0, 0, 0
	p.lastOfKind = [maxKinds]unitRange{}
	p.records = p.records[:0]
	clear(p.units[:history])
	p.field = fieldCoder{}
	p.findRefs()
}

// unitIndex returns the index of the current unit in its message.
func (p *parser) unitIndex() int { return p.unitCount - p.msgFirstUnit }

// modelIndex returns the index of the current unit's model in model.units. Units from unitsPerKind on
// share the last four models of the kind in turn.
func (p *parser) modelIndex() int {
	unit := p.unitIndex()
	if unit >= unitsPerKind {
		unit = unitsPerKind - 4 + unit&3
	}
	return int(p.kind)*unitsPerKind + unit
}

// currentGroup returns the group that begins at the next byte, nil if none does or the datagram ends
// before the group. A byte without a group is one unit of 8 bits.
func (p *parser) currentGroup() *group {
	k := &p.model.kinds[p.kind]
	offset := p.pos - p.msgStart
	if offset >= len(k.groupAt) || k.groupAt[offset] == 0 {
		return nil
	}
	g := &k.groups[k.groupAt[offset]-1]
	if p.pos+int(g.span) > p.size {
		return nil
	}
	return g
}

// addUnit adds a coded unit. After the key of the message it looks up the references.
func (p *parser) addUnit(u byte) {
	p.units[history+p.unitCount] = u
	p.unitCount++
	if p.acked != nil && p.unitIndex() == int(p.model.kinds[p.kind].keyUnit)+1 {
		p.findRefs()
	}
}

// addBytes adds the bytes of a group, after addUnit has been called for all its units. It reads the
// message's clock when its last byte is among them, and starts the next message where one begins.
func (p *parser) addBytes(added []byte) {
	for _, b := range added {
		p.last4 = p.last4<<8 | uint32(b)
	}
	p.pos += len(added)
	k := &p.model.kinds[p.kind]
	size := p.pos - p.msgStart // bytes of the message so far
	if clockEnd := int(k.clockByte) + 4; k.clockByte >= 0 && size >= clockEnd && size-len(added) < clockEnd {
		p.clock = decodeClock(p.last4>>(8*uint(size-clockEnd)), k.clockFormat)
	}
	if p.pos >= 4 {
		if kind := p.model.anchors.find(p.last4); kind != 0 {
			p.startMessage(kind, 4) // the anchor's four bytes belong to the new message
			return
		}
	}
	if k.size > 0 && size >= int(k.size) && p.pos < p.size { // a message of a fixed size is complete
		p.startMessage(k.next, 0)
	}
}

// startMessage ends the current message and starts one of the given kind. consumed is the number of its
// bytes that have been added already, as part of the current message; each of them counts as one unit.
func (p *parser) startMessage(kind uint8, consumed int) {
	p.endMessage(p.unitCount - consumed)
	p.kind, p.msgStart, p.msgFirstUnit = kind, p.pos-consumed, p.unitCount-consumed
	p.field = fieldCoder{lastResidual: p.field.lastResidual}
	p.findRefs()
}

// endMessage ends the current message before unit end, an index in the datagram: it stores the message
// in lastOfKind and adds a record of it. It does nothing if the message is empty.
func (p *parser) endMessage(end int) {
	if end <= p.msgFirstUnit {
		return
	}
	p.lastOfKind[p.kind] = unitRange{p.msgFirstUnit, end, p.clock}
	key := uint8(0)
	if k := int(p.model.kinds[p.kind].keyUnit); k >= 0 && k < end-p.msgFirstUnit {
		key = p.units[history+p.msgFirstUnit+k]
	}
	p.records = append(p.records, record{firstUnit: uint16(p.msgFirstUnit), offset: uint16(p.msgFirstUnit),
		length: uint16(min(end-p.msgFirstUnit, maxLogUnits)), kind: p.kind, key: key, clock: p.clock})
}

// findRefs sets sameKind, ref and prevRef for the current message. ref and prevRef are the same as sameKind
// before the key of the message is coded, if no acknowledged message has the key, and if the model does not
// use acknowledged messages.
func (p *parser) findRefs() {
	p.sameKind = message{}
	if s := p.lastOfKind[p.kind]; s.to > 0 {
		p.sameKind = message{p.units[history+s.from : history+s.to], s.clock}
	} else if p.acked != nil {
		if r, _ := p.acked.findLatest(p.kind, anyKey); r != nil {
			p.sameKind = message{p.acked.unitsOf(r), r.clock}
		}
	}
	p.ref, p.prevRef = p.sameKind, p.sameKind
	if p.acked == nil {
		return
	}
	key := 0
	if k := int(p.model.kinds[p.kind].keyUnit); k >= 0 {
		if p.unitIndex() <= k { // the key is not coded yet
			return
		}
		key = int(p.units[history+p.msgFirstUnit+k])
	}
	latest, previous := p.acked.findLatest(p.kind, key)
	if latest == nil { // no acknowledged message has the key
		return
	}
	p.ref = message{p.acked.unitsOf(latest), latest.clock}
	p.prevRef = p.ref
	if previous != nil {
		p.prevRef = message{p.acked.unitsOf(previous), previous.clock}
	}
}

// Limits of a log, which bound the memory of a memo.
const (
	maxRecords  = 160
	maxLogUnits = 12 << 10 // units of all messages
)

// anyKey makes findLatest find messages with any key.
const anyKey = -1

// An ackedLog holds the last two messages of each kind and key in acknowledged datagrams. It is also
// the memo of a datagram: it then holds the messages of the datagram and of the datagrams that had
// been acknowledged when it was sent. As those were acknowledged, the receiver holds the same log.
type ackedLog struct {
	records []record // the messages, the oldest first
	units   []byte   // units of all messages, one message after the other
}

// A record describes one message of a log.
type record struct {
	tick           uint32 // tick of the message's datagram
	firstUnit      uint16 // index of the message's first unit in the datagram
	offset, length uint16 // where its units are in ackedLog.units
	kind           uint8  // kind of the message
	key            uint8  // value of the kind's key unit, 0 if the kind has none
	clock          uint32 // the time in the datagram
}

func (l *ackedLog) unitsOf(r *record) []byte { return l.units[r.offset : r.offset+r.length] }

// sendOrder returns a number by which messages are ordered: by datagram, then by their place in it.
func (r *record) sendOrder() uint64 { return uint64(r.tick)<<16 | uint64(r.firstUnit) }

// A merger merges logs. It holds working memory.
type merger struct {
	counts [maxKinds][256]uint8 // records in the destination by kind and key; zero between merges
}

// merge replaces the contents of dst by the messages of a, b and a newer datagram. The records of the
// newer datagram are newRecords, in sending order, with offsets into newUnits; both may be nil. Of each kind and key
// only the newest two messages are stored, and of all messages the newest that fit. dst must not be a or b.
func (m *merger) merge(dst, a, b *ackedLog, newRecords []record, newUnits []byte) {
	dst.records, dst.units = dst.records[:0], dst.units[:0]
	for i := len(newRecords) - 1; i >= 0; i-- {
		m.appendRecord(dst, &newRecords[i], newUnits[newRecords[i].offset:newRecords[i].offset+newRecords[i].length])
	}
	i, j := len(a.records)-1, len(b.records)-1
	for i >= 0 || j >= 0 {
		if j < 0 || i >= 0 && a.records[i].sendOrder() >= b.records[j].sendOrder() {
			if j >= 0 && a.records[i].sendOrder() == b.records[j].sendOrder() {
				j-- // the same message, which is appended once
			}
			m.appendRecord(dst, &a.records[i], a.unitsOf(&a.records[i]))
			i--
		} else {
			m.appendRecord(dst, &b.records[j], b.unitsOf(&b.records[j]))
			j--
		}
	}
	for i := range dst.records { // clear only the counts in use, because the table is large
		m.counts[dst.records[i].kind][dst.records[i].key] = 0
	}
	slices.Reverse(dst.records)
}

// appendRecord appends a record with its units, unless dst holds two newer records of the same kind and
// key, or is full. merge calls it with the newest record first.
func (m *merger) appendRecord(dst *ackedLog, r *record, units []byte) {
	n := &m.counts[r.kind][r.key] // number of records of this kind and key in dst
	if *n == 2 || len(dst.records) == maxRecords || len(dst.units)+len(units) > maxLogUnits {
		return
	}
	*n++
	stored := *r
	stored.offset = uint16(len(dst.units))
	dst.units = append(dst.units, units...)
	dst.records = append(dst.records, stored)
}

// findLatest returns the last two records of a kind and key, or of a kind if key is anyKey. A missing
// record is nil.
func (l *ackedLog) findLatest(kind uint8, key int) (latest, previous *record) {
	for i := len(l.records) - 1; i >= 0; i-- {
		r := &l.records[i]
		if r.kind != kind || key >= 0 && int(r.key) != key {
			continue
		}
		if latest != nil {
			return latest, r
		}
		latest = r
	}
	return latest, nil
}
