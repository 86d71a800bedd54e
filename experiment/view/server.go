package view

import (
	"fmt"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Server is the server's side of one client. Create it with NewServer; a Filler makes its packets.
//
// A row of the client's display is expected to have the value of the newest packet that contains the
// row, unless that packet counts as lost: an ack of a packet at least lossDistance later does not list
// it. If it arrives nevertheless, a later ack will list it. A newer packet never contains an older value
// of a row.
type Server struct {
	values *values
	reference

	expected  []valueID    // the values that the client is expected to show: those of ref, or of packets under way
	sent      []uint16     // of each row: the name of the newest packet that contains it; 0 if none
	listed    frame.Rows   // rows that are in waiting
	waiting   []waitingRow // in the order of listed
	differing frame.Rows   // rows of the filler's newest frame that may differ from expected, with those of listed
	frames    uint32       // number of the filler's newest frame when differing was determined
	tooLarge  frame.Rows   // rows that did not fit into a packet alone; they are not candidates until frame retryAt
	retryAt   uint32
	cursor    int // of round robin: the next row

	records []record // packets with rows that are not acked and may still be applied
	newest  uint64   // newest packet sent, if any
	any     bool
	first   uint64 // first packet sent

	codedSizes

	spares    []spareMemo
	keepMemos bool
}

// waitingRow is a row that differs from what the client is expected to show, or no longer if since is 0.
type waitingRow struct {
	accumulated uint32 // priority
	since       uint32 // number of the filler's frame since which the row differs
}

// sentNames is the number of names of packets in Server.sent: packet seq is called 1 + seq % sentNames.
const sentNames = 1<<16 - 1

// reference is the client's display at the newest ack, to which packets are encoded.
type reference struct {
	ref   []valueID     // the values of the display
	memo  encoders.Memo // of the newest packet with rows in ref
	epoch uint64        // that memo belongs to
	from  uint64        // 1 + that packet; 0 if there is none
	ack   uint64        // number of the newest ack; 0 before the first
	acked uint64        // newest packet that the client had decoded at that ack
}

// codedSizes is what earlier packets tell about the sizes of the next.
type codedSizes struct {
	scale    int // factor of estimated bits, in 1/scaleUnit
	meanBits int // mean bits of a row, in 1/16
	least    int // bytes of the smallest payload of the encoder, as far as it is known
	rowNeed  int // bytes of the payload with a row that waits for room; 0 if none
}

// lossDistance is how many packets later a packet that an ack lists must be for an earlier one that it
// does not list to count as lost.
const lossDistance = 3

// record is a packet with rows that is under way.
type record struct {
	seq   uint64
	lost  bool // it counts as lost, but may still arrive
	done  bool // it was acked, or will never be applied; it is removed at once
	rows  []sentRow
	memo  encoders.Memo
	epoch uint64
}

// sentRow is a row of a packet.
type sentRow struct {
	row   int32
	value valueID
}

// NewServer returns the server's side of a client that shows initial, whose packets f makes. One
// goroutine at a time may use f and all its servers. Call Close when the client leaves.
func NewServer(f *Filler, initial *frame.Frame) *Server {
	n := f.schema.Rows
	s := &Server{values: &f.values, listed: frame.NewRows(n), differing: frame.NewRows(n), tooLarge: frame.NewRows(n),
		sent:       make([]uint16, n),
		codedSizes: codedSizes{scale: scaleUnit, meanBits: 60 * 16, least: MinPayload}}
	s.ref, s.expected = make([]valueID, n), make([]valueID, n)
	f.initialValues(s.ref, initial)
	copy(s.expected, s.ref)
	for i, k := range s.expected {
		s.values.retain(i, k)
	}
	return s
}

// Close releases the values that the server shares with others of its filler. The server must not be
// used afterwards.
func (s *Server) Close() {
	for i := range s.ref {
		s.values.release(i, s.ref[i])
		s.values.release(i, s.expected[i])
	}
	for n := range s.records {
		s.finish(&s.records[n])
	}
}

// MinPayload is the payload for which a packet must have room. An encoder may need more.
const MinPayload = 8

// Need returns how large a packet the budget must allow before it is worth calling Fill again, in bytes. header is the size
// of its header, and largest is the largest packet that the budget can ever allow, with its header.
func (s *Server) Need(header, largest int) int {
	need := header + max(s.least, s.rowNeed)
	return min(need, max(header+MinPayload, largest)) // least and rowNeed may be of a larger budget
}

// newestSent returns the newest packet that contained row i; ok is false if none did. A packet that is more than sentNames
// packets old counts as newer.
func (s *Server) newestSent(i int) (seq uint64, ok bool) {
	if s.sent[i] == 0 {
		return 0, false
	}
	behind := (s.newest%sentNames + sentNames - uint64(s.sent[i]-1)) % sentNames
	return s.newest - behind, true
}

// nextWaiting returns the entry of row i in the list of waiting rows, the zero entry if there is none. It must be called for
// the listed rows in order; next is the index of the entry of the next one.
func (s *Server) nextWaiting(i int, next *int) (row waitingRow) {
	if s.listed.Has(i) {
		row = s.waiting[*next]
		*next++
	}
	return row
}

// waitingRowOf returns the entry of row i in the list of waiting rows; the zero entry if there is none.
func (s *Server) waitingRowOf(i int) waitingRow {
	if !s.listed.Has(i) {
		return waitingRow{}
	}
	k := 0
	for j := range s.listed.All() {
		if j == i {
			break
		}
		k++
	}
	return s.waiting[k]
}

// BeginEpoch records that packets have another encoder from now on.
func (s *Server) BeginEpoch() { s.least = MinPayload }

// BudgetChanged records that the budget changed, so that no row waits for room in the budget before.
func (s *Server) BudgetChanged() { s.rowNeed = 0 }

// AckName returns the byte by which the next packet names the ack whose display is its reference.
func (s *Server) AckName() uint8 { return nameOf(s.ack) }

// Acked returns the newest packet that the client had decoded at the newest ack; ok is false before the
// first ack.
func (s *Server) Acked() (seq uint64, ok bool) { return s.acked, s.ack > 0 }

// UnderWay returns the number of packets with rows that are neither acked nor count as lost.
func (s *Server) UnderWay() (n int) {
	for i := range s.records {
		if !s.records[i].lost {
			n++
		}
	}
	return n
}

// maySendRows reports whether packet seq may contain rows. Without acks for a long time it may not,
// which bounds the memory of both ends and the length of acks.
func (s *Server) maySendRows(seq uint64) bool {
	return len(s.records) == 0 || len(s.records) < maxUnderWay && seq-s.records[0].seq < maxSpan
}

// ackReport is what an ack reports in addition to the display.
type ackReport struct {
	Newest uint64 // newest packet decoded
	Mask   uint32 // bit i is set if packet Newest-1-i was decoded; of the 15 before it
	IsNew  bool   // no ack with a higher number came before
	Rest   []byte // the bytes after the ack
}

// AckEpoch returns the epoch in an ack of Client.AppendAck; ok is false if src is too short.
func AckEpoch(src []byte) (epoch uint8, ok bool) {
	if len(src) < ackBytes {
		return 0, false
	}
	return src[ackBytes-1], true
}

// HandleAck handles an ack of Client.AppendAck, which may be any bytes.
func (s *Server) HandleAck(src []byte) (ackReport, error) {
	a, rest, err := parseAck(src)
	if err != nil {
		return ackReport{}, err
	}
	behind := uint64(uint16(s.newest) - a.newest)
	if !s.any || behind > s.newest-s.first {
		return ackReport{}, fmt.Errorf("%w: of a packet that was never sent", errMalformed)
	}
	out := ackReport{Newest: s.newest - behind, Mask: uint32(a.mask >> 1), Rest: rest}
	ahead := int16(a.number<<1-uint16(s.ack)<<1) >> 1 // of the numbers with 15 bits
	if ahead <= 0 {
		return out, nil
	}
	out.IsNew = true
	s.ack, s.acked = s.ack+uint64(ahead), out.Newest
	for n := range s.records {
		r := &s.records[n]
		switch listed := r.seq <= s.acked && a.lists(s.acked-r.seq); {
		case listed:
			s.applyAcked(r)
		case r.seq+lossDistance <= s.acked && !r.lost:
			s.assumeLost(n)
		}
		if !r.done && r.seq+Window < s.acked { // the client ignores it from now on
			s.finish(r)
		}
	}
	s.records = slices.DeleteFunc(s.records, func(r record) bool { return r.done })
	if s.ack%pruneAcks == 0 {
		for n := range s.records {
			s.prune(&s.records[n])
		}
	}
	return out, nil
}

// pruneAcks is the number of acks after which Server.prune is worth its time.
const pruneAcks = 8

// prune forgets the rows of a lost packet of which the reference is newer: should it arrive, the client ignores them too.
func (s *Server) prune(r *record) {
	if !r.lost {
		return
	}
	r.rows = slices.DeleteFunc(r.rows, func(sent sentRow) bool {
		i := int(sent.row)
		isOvertaken := !s.values.isOlder(i, s.ref[i], sent.value)
		if isOvertaken {
			s.values.release(i, sent.value)
		}
		return isOvertaken
	})
	if 2*len(r.rows) < cap(r.rows) {
		r.rows = slices.Clone(r.rows)
	}
}

// applyAcked applies an acked packet to the reference.
func (s *Server) applyAcked(r *record) {
	for _, sent := range r.rows {
		i := int(sent.row)
		if !s.values.isOlder(i, s.ref[i], sent.value) {
			continue // a newer packet contained the row
		}
		s.values.replace(i, &s.ref[i], sent.value)
		if s.values.isOlder(i, s.expected[i], sent.value) { // the packet counted as lost
			s.expect(i, sent.value)
		}
	}
	if r.seq >= s.from {
		s.spare(s.memo, s.epoch)
		s.memo, s.epoch, s.from, r.memo = r.memo, r.epoch, r.seq+1, nil
	}
	s.finish(r)
}

// expect makes the client be expected to show value k of row i.
func (s *Server) expect(i int, k valueID) {
	s.values.replace(i, &s.expected[i], k)
	s.differing.Add(i)
}

// finish marks a packet as one whose fate is known.
func (s *Server) finish(r *record) {
	for _, sent := range r.rows {
		s.values.release(int(sent.row), sent.value)
	}
	s.spare(r.memo, r.epoch)
	s.values.spareRows = append(s.values.spareRows, r.rows[:0])
	r.rows, r.memo, r.done = nil, nil, true
}

// spare makes a memo available to the encoder.
func (s *Server) spare(memo encoders.Memo, epoch uint64) {
	if memo != nil && !s.keepMemos {
		s.spares = append(s.spares, spareMemo{memo, epoch})
	}
}

// assumeLost no longer expects the client to show the rows of record number n. They are expected to have
// the value of the newest earlier packet that is under way and contains them, if any, and otherwise that
// of the reference.
func (s *Server) assumeLost(n int) {
	s.records[n].lost = true
	for _, sent := range s.records[n].rows {
		if i := int(sent.row); s.expected[i] == sent.value {
			value, _ := s.underWay(i, n)
			s.expect(i, value)
		}
	}
}

// underWay returns the value of row i in the newest packet that is under way and contains the row, of
// the first n records, and that packet. If there is none, or if the reference is newer, it returns the
// value of the reference and nil.
func (s *Server) underWay(i, n int) (value valueID, r *record) {
	for n--; n >= 0; n-- {
		r := &s.records[n]
		if r.done || r.lost {
			continue
		}
		k := slices.IndexFunc(r.rows, func(sent sentRow) bool { return int(sent.row) == i })
		if k >= 0 && s.values.isOlder(i, s.ref[i], r.rows[k].value) {
			return r.rows[k].value, r
		}
	}
	return s.ref[i], nil
}

// KeepMemos makes the server never reuse memos, because the caller needs those of earlier packets.
func (s *Server) KeepMemos() { s.keepMemos, s.spares = true, nil }
