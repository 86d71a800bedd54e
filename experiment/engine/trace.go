package engine

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/view"
)

// Traced is a packet described bit by bit, for the dashboard.
type Traced struct {
	Seq    uint64
	Packet *endpoint.PacketTrace // nil if the sender no longer stores the packet or one of its references
	Ack    []byte                // the bytes of the ack that the packet caused; nil if none was sent yet
	AckOf  []endpoint.HeaderField
}

// Trace describes every bit of packet seq of the first lane. Its result is not modified later.
func (s *Session) Trace(seq uint64) *Traced {
	l := s.lanes[0]
	return s.WithAck(&Traced{Seq: seq, Packet: l.snd.Trace(seq)})
}

// WithAck returns t with the ack of the packet, if one was sent since t was made; otherwise t.
func (s *Session) WithAck(t *Traced) *Traced {
	l := s.lanes[0]
	ack := l.acks.get(t.Seq)
	if t.Ack != nil || ack == nil {
		return t
	}
	with := *t
	with.Ack = bytes.Clone(ack)
	if server, _ := l.snd.View(); server != nil {
		with.AckOf = view.DescribeAck(with.Ack)
	} else {
		with.AckOf = endpoint.DescribeAck(with.Ack)
	}
	return &with
}

// sentAcks stores the newest acks by the sequence number of the packet that caused them.
type sentAcks struct {
	ring [256]struct {
		seq   uint64
		bytes []byte
	}
}

// add stores the ack that packet seq caused, unless a copy of the packet caused one before.
func (a *sentAcks) add(seq uint64, ack []byte) {
	if a == nil {
		return
	}
	if slot := &a.ring[seq%uint64(len(a.ring))]; slot.seq != seq || len(slot.bytes) == 0 {
		slot.seq, slot.bytes = seq, append(slot.bytes[:0], ack...)
	}
}

// get returns the ack that packet seq caused; nil if it is not stored.
func (a *sentAcks) get(seq uint64) []byte {
	if a == nil {
		return nil
	}
	if slot := &a.ring[seq%uint64(len(a.ring))]; slot.seq == seq && len(slot.bytes) > 0 {
		return slot.bytes
	}
	return nil
}

// rowCostPeriod is the time over which RowCosts sums.
const rowCostPeriod = 2 * time.Second

// RowCosts contains what the newest packets of the first lane spent on each row, in units of
// 1/encoders.BitUnit bit. The sum of Rows and Shared is Total, which is the payload of these packets.
type RowCosts struct {
	Now, Since time.Duration   // the packets were sent after Since, up to Now
	Packets    int             // packets in the sums
	Omitted    int             // packets of the period that are left out, because their references are no longer stored
	Total      int64           // sum of all
	Shared     int64           // spent on no single row
	Rows       []int64         // by row
	Slots      []encoders.Slot // slots that rows spent on, ascending
	BySlot     []int64         // by row and slot: row r, Slots[k] is at r*len(Slots)+k
	Limit      string          // why packets of the active encoder have no costs by row; empty if they have
	packets    []packetCost    // that are summed, ascending by sequence number
}

// Carries reports whether packet seq spent bits on a row. It is not known for packets that are not in the
// sums.
func (c *RowCosts) Carries(seq uint64, row int) (carries, known bool) {
	i, found := slices.BinarySearchFunc(c.packets, seq, packetCost.compareSeq)
	if !found || c.packets[i].limit != "" {
		return false, false
	}
	return slices.ContainsFunc(c.packets[i].cells, func(cell cellCost) bool { return int(cell.row) == row }), true
}

// OfSlot returns what row r spent on Slots[k].
func (c *RowCosts) OfSlot(r, k int) int64 { return c.BySlot[r*len(c.Slots)+k] }

// Ranked returns at most n rows that spent most, the most expensive first. Rows without costs are left out.
func (c *RowCosts) Ranked(n int) (rows []int) {
	for r, units := range c.Rows {
		if units > 0 {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(c.Rows[b], c.Rows[a]) })
	return rows[:min(n, len(rows))]
}

// packetCost is what one packet spent on each row and slot.
type packetCost struct {
	seq   uint64
	limit string
	total int64
	cells []cellCost
}

// compareSeq compares the sequence number of the packet with seq.
func (p packetCost) compareSeq(seq uint64) int { return cmp.Compare(p.seq, seq) }

// cellCost is what a packet spent on one slot of one row.
type cellCost struct {
	row   int32 // encoders.NoRow for bits of no single row
	slot  encoders.Slot
	units int64
}

// rowCostMeter keeps the costs of packets that were traced, so that each packet is traced once.
type rowCostMeter struct {
	trace   encoders.Trace // scratch space
	packets []packetCost   // of the last sum, oldest first
}

// costOf returns what packet seq spent; ok is false if the sender no longer stores the packet or one of its
// references.
func (m *rowCostMeter) costOf(snd *endpoint.Sender, seq uint64) (c packetCost, ok bool) {
	if i, found := slices.BinarySearchFunc(m.packets, seq, packetCost.compareSeq); found {
		return m.packets[i], true
	}
	limit, ok := snd.TracePayload(seq, &m.trace)
	if !ok {
		return c, false
	}
	c = packetCost{seq: seq, limit: limit}
	for _, span := range m.trace.Spans {
		c.total += span.Units
		c.cells = append(c.cells, cellCost{int32(span.Row), span.Slot, span.Units})
	}
	return c, true
}

// RowCosts returns what the packets of the first lane in the two seconds up to now, which is not after the
// present, spent on each row. Each packet is encoded once more when it is first counted. The result is not
// modified later.
func (s *Session) RowCosts(now time.Duration) *RowCosts {
	l, m := s.lanes[0], &s.rowCosts
	out := &RowCosts{Now: now, Since: max(now-rowCostPeriod, 0), Rows: make([]int64, s.schema.Rows)}
	var counted []packetCost
	for _, r := range l.log.Backward() {
		if r.Sent < out.Since {
			break
		}
		if r.Copy > 0 || r.Sent > now {
			continue
		}
		c, ok := m.costOf(l.snd, r.Seq)
		if !ok {
			out.Omitted++
			continue
		}
		if len(counted) == 0 {
			out.Limit = c.limit
		}
		counted = append(counted, c)
	}
	slices.Reverse(counted)
	m.packets = slices.CompactFunc(counted, func(a, b packetCost) bool { return a.seq == b.seq })
	out.packets = m.packets
	out.sum(m.packets)
	return out
}

// sum adds the costs of packets.
func (c *RowCosts) sum(packets []packetCost) {
	var used [encoders.MaxSlots]bool
	for _, p := range packets {
		for _, cell := range p.cells {
			used[cell.slot] = used[cell.slot] || cell.row != encoders.NoRow
		}
	}
	var index [encoders.MaxSlots]int // of each slot in Slots
	for k := range used {
		if used[k] {
			index[k] = len(c.Slots)
			c.Slots = append(c.Slots, encoders.Slot(k))
		}
	}
	c.Packets, c.BySlot = len(packets), make([]int64, len(c.Rows)*len(c.Slots))
	for _, p := range packets {
		c.Total += p.total
		for _, cell := range p.cells {
			if cell.row == encoders.NoRow {
				c.Shared += cell.units
				continue
			}
			c.Rows[cell.row] += cell.units
			c.BySlot[int(cell.row)*len(c.Slots)+index[cell.slot]] += cell.units
		}
	}
}
