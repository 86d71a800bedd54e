package view

import (
	"fmt"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/internal/ring"
)

// Server is the server's side of one client. Create it with NewServer; a Filler makes its packets.
//
// A row of the client's display is expected to have the value of the newest packet that contains the row, unless that
// packet counts as lost: an ack of a packet at least lossDistance later does not list it. If it arrives nevertheless, a
// later ack will list it.
type Server struct {
	schema *frame.Schema
	ref    frame.Frame   // the display at the newest ack
	origin []uint32      // of each row of ref: 1 + its packet, or 0 for the initial state
	memo   encoders.Memo // of the newest packet with rows in ref
	epoch  uint64        // that memo belongs to
	from   uint64        // 1 + that packet; 0 if there is none
	ack    uint64        // number of the newest ack; 0 before the first
	acked  uint64        // newest packet that the client had decoded at that ack

	expected   []int32  // table that the client is expected to show
	expectedIn []uint32 // of each row of expected: 1 + the packet under way that contains it, or 0 if it is that of ref
	newestSent []uint32 // of each row: 1 + the newest packet that contains it; 0 if none

	accumulated []uint32   // priority
	since       []uint32   // number of the filler's frame since which the row differs from expected; 0 if it does not
	sentAt      []uint32   // of each row: 1 + the tick of the newest packet that contains it; 0 if none
	differing   frame.Rows // rows of the filler's newest frame that may differ from expected; the others have no priority
	frames      uint32     // number of the filler's newest frame when differing was determined
	cursor      int        // of round robin: the next row

	records ring.Queue[record] // packets with rows of whose fate nothing definite is known, and some others
	newest  uint64             // newest packet sent, if any
	any     bool
	first   uint64 // first packet sent

	scale    int // factor of estimated bits, in 1/1024
	meanBits int // mean bits of a row, in 1/16

	spares    []spareMemo
	keepMemos bool
}

// lossDistance is how many packets later a packet that an ack lists must be for an earlier one that it does not list
// to count as lost.
const lossDistance = 3

// record is a packet with rows that is under way.
type record struct {
	seq    uint64
	lost   bool // it counts as lost, but may still arrive
	done   bool // it was acked, or will never be applied
	rows   []int32
	values []int32
	memo   encoders.Memo
	epoch  uint64
}

// NewServer returns the server's side of a client that shows initial, whose packets f makes. One goroutine at a time may
// use f and all its servers. Call Close when the client leaves.
func NewServer(f *Filler, initial *frame.Frame) *Server {
	s := f.schema
	v := &Server{schema: s, origin: make([]uint32, s.Rows), expected: slices.Clone(initial.Table), expectedIn: make([]uint32, s.Rows),
		newestSent: make([]uint32, s.Rows), accumulated: make([]uint32, s.Rows), since: make([]uint32, s.Rows), sentAt: make([]uint32, s.Rows),
		differing: frame.NewRows(s.Rows), scale: 1024, meanBits: 60 * 16}
	v.ref.CopyFrom(initial)
	return v
}

// Close releases the values that the server shares with others of its filler. The server must not be used afterwards.
func (s *Server) Close() {}

// row returns row i of a table.
func (s *Server) row(table []int32, i int) []int32 {
	n := len(s.schema.Fields)
	return table[i*n : (i+1)*n]
}

// Reference returns the table of the reference of the next packet, which the caller must not modify, and the number of
// the ack that it belongs to.
func (s *Server) Reference() (table []int32, ack uint64) { return s.ref.Table, s.ack }

// Expected returns the table that the client is expected to show. The caller must not modify it.
func (s *Server) Expected() []int32 { return s.expected }

// NewestSent returns the newest packet that contained row i; ok is false if none did.
func (s *Server) NewestSent(i int) (seq uint64, ok bool) {
	return uint64(s.newestSent[i]) - 1, s.newestSent[i] != 0
}

// AckName returns the byte by which the next packet names the ack whose display is its reference.
func (s *Server) AckName() uint8 { return nameOf(s.ack) }

// Acked returns the newest packet that the client had decoded at the newest ack; ok is false before the first ack.
func (s *Server) Acked() (seq uint64, ok bool) { return s.acked, s.ack > 0 }

// UnderWay returns the number of packets with rows of whose fate nothing is known.
func (s *Server) UnderWay() (n int) {
	for i := s.records.First(); i < s.records.Next(); i++ {
		if r := s.records.At(i); !r.done && !r.lost {
			n++
		}
	}
	return n
}

// maySendRows reports whether packet seq may contain rows. Without acks for a long time it may not, which bounds the
// memory of both ends and the length of acks.
func (s *Server) maySendRows(seq uint64) bool {
	if s.records.Len() == 0 {
		return true
	}
	return s.records.Len() < maxUnderWay && seq-s.records.At(s.records.First()).seq < maxSpan
}

// Ack is what an ack reports in addition to the display.
type Ack struct {
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
func (s *Server) HandleAck(src []byte) (Ack, error) {
	a, rest, err := parseAck(src)
	if err != nil {
		return Ack{}, err
	}
	behind := uint64(uint16(s.newest) - a.newest)
	if !s.any || behind > s.newest-s.first {
		return Ack{}, fmt.Errorf("%w: of a packet that was never sent", ErrMalformed)
	}
	out := Ack{Newest: s.newest - behind, Mask: uint32(a.mask >> 1), Rest: rest}
	ahead := int16(a.number<<1-uint16(s.ack)<<1) >> 1 // of the numbers with 15 bits
	if ahead <= 0 {
		return out, nil
	}
	out.IsNew = true
	s.ack, s.acked = s.ack+uint64(ahead), out.Newest
	for n := s.records.First(); n < s.records.Next(); n++ {
		r := s.records.At(n)
		switch listed := r.seq <= s.acked && a.lists(s.acked-r.seq); {
		case r.done:
		case listed:
			s.applyAcked(r)
		case r.seq+lossDistance <= s.acked && !r.lost:
			s.assumeLost(r, n)
		}
		if !r.done && r.seq+Window < s.acked { // the client ignores it from now on
			s.finish(r)
		}
	}
	for s.records.Len() > 0 && s.records.At(s.records.First()).done {
		s.records.Pop()
	}
	return out, nil
}

// applyAcked applies an acked packet to the reference.
func (s *Server) applyAcked(r *record) {
	n := len(s.schema.Fields)
	in := uint32(r.seq) + 1
	for k, row := range r.rows {
		i := int(row)
		if in <= s.origin[i] {
			continue // a newer packet contained the row
		}
		s.origin[i] = in
		value := r.values[k*n : (k+1)*n]
		copy(s.row(s.ref.Table, i), value)
		if s.expectedIn[i] <= in {
			s.expectedIn[i] = 0
			copy(s.row(s.expected, i), value)
			s.differing.Add(i)
		}
	}
	if r.seq >= s.from {
		s.spare(s.memo, s.epoch)
		s.memo, s.epoch, s.from, r.memo = r.memo, r.epoch, r.seq+1, nil
	}
	s.finish(r)
}

// finish marks a packet as one whose fate is known.
func (s *Server) finish(r *record) {
	s.spare(r.memo, r.epoch)
	r.memo, r.done = nil, true
}

// spare makes a memo available to the encoder.
func (s *Server) spare(memo encoders.Memo, epoch uint64) {
	if memo != nil && !s.keepMemos {
		s.spares = append(s.spares, spareMemo{memo, epoch})
	}
}

// assumeLost no longer expects the client to show the rows of record number n. They are expected to have the value of
// the newest earlier packet that is under way and contains them, if any, and otherwise that of the reference.
func (s *Server) assumeLost(r *record, n uint64) {
	r.lost = true
	in := uint32(r.seq) + 1
	for _, row := range r.rows {
		i := int(row)
		if s.expectedIn[i] != in {
			continue
		}
		s.expectedIn[i] = 0
		value := s.row(s.ref.Table, i)
		for m := n; m > s.records.First(); m-- {
			earlier := s.records.At(m - 1)
			if earlier.done || earlier.lost || uint32(earlier.seq)+1 <= s.origin[i] {
				continue
			}
			if k := slices.Index(earlier.rows, row); k >= 0 {
				value, s.expectedIn[i] = s.row(earlier.values, k), uint32(earlier.seq)+1
				break
			}
		}
		copy(s.row(s.expected, i), value)
		s.differing.Add(i)
	}
}

// KeepMemos makes the server never reuse memos, because the caller needs those of earlier packets.
func (s *Server) KeepMemos() { s.keepMemos, s.spares = true, nil }
