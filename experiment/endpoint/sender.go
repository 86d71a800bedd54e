package endpoint

import (
	"bytes"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// epochPeriod is the least time between two epochs: a dragged slider becomes a
// few epochs and not a hundred.
const epochPeriod = 100 * time.Millisecond

// Sender is the endpoint that encodes. It knows of the other end only what acks
// told it.
type Sender struct {
	schema  *frame.Schema
	initial frame.Frame // its table is shared
	cadence Cadence
	probe   Probe
	history *frame.History
	seq     uint64 // of the next packet
	first   uint64 // of the first packet

	run        Encoding
	epoch      uint64
	epochStart time.Duration
	epochAcked bool
	pending    *Encoding // begins with the next packet that is epochPeriod after the last beginning

	acked   [256]uint64 // acked[s%256] == s+1: packet s was acked
	bestAck uint64
	hasAck  bool
	floor   uint64 // acks of packets before this one do not count

	digest   digester
	own      []byte // digest of the sender's own frame
	restarts int64  // times that the receiver held another frame

	spare encoders.Memo // left the history; free to be overwritten
	refs  [2]encoders.Ref
	buf   []byte
}

// NewSender returns a sender of frames of schema s whose far end holds initial. Its
// table is shared and must not change.
func NewSender(s *frame.Schema, initial *frame.Frame, run Encoding, opt Options) *Sender {
	opt = opt.filled()
	return &Sender{schema: s, initial: *initial, cadence: opt.Cadence, probe: opt.Probe, history: frame.NewHistory(s, opt.History), run: run,
		digest: digester{bytes: opt.DigestBits / 8}}
}

// Encoding returns what the sender encodes with.
func (s *Sender) Encoding() *Encoding { return &s.run }

// Pending returns the encoding that was asked for and has not begun; nil if none.
func (s *Sender) Pending() *Encoding { return s.pending }

// Epoch returns the number of the present epoch, from 0.
func (s *Sender) Epoch() uint64 { return s.epoch }

// Seq returns the number of the next packet.
func (s *Sender) Seq() uint64 { return s.seq }

// Acked returns the newest packet that an ack named; false if none did.
func (s *Sender) Acked() (seq uint64, ok bool) { return s.bestAck, s.hasAck }

// Request asks for another encoding: from the next packet on, or from the first
// that is epochPeriod after the present epoch began. The last request wins. An
// epoch so has at least one packet, and 256 of them outlast every history: no
// memo can be taken for one of an epoch with the same 8 bits.
func (s *Sender) Request(run Encoding) {
	if s.seq == s.first {
		s.run = run
		return
	}
	s.pending = &run
}

// StartAt makes seq the number of the first packet, sent after now.
func (s *Sender) StartAt(seq uint64, now time.Duration) {
	s.seq, s.epochStart, s.first = seq, now, seq
}

// begin starts the epoch that was asked for, if it is time.
func (s *Sender) begin(now time.Duration) {
	if s.pending == nil || now-s.epochStart < epochPeriod {
		return
	}
	s.run, s.pending = *s.pending, nil
	s.epoch++
	s.epochStart, s.epochAcked, s.spare = now, false, nil
}

// Packet is a packet that a sender made.
type Packet struct {
	Seq         uint64
	Epoch       uint64
	Codec       string
	Baseline    int          // distance of the first reference in packets; 0 = the initial state
	Second      int          // distance of the second; 0 = none
	Header      int          // bytes
	Payload     int          // bytes
	WithoutMemo bool         // the encoder learns, but had learnt nothing of its reference
	Datagram    []byte       // what is to be sent
	Stored      *frame.Frame // what the sender keeps: what the receiver must end up with
}

// Send makes the packet for cur. What the result leads to is the sender's memory and
// holds until the next call. After an error the packet's number is used up; the
// result says which packet it would have been.
func (s *Sender) Send(now time.Duration, cur *frame.Frame, budget *encoders.Budget) (Packet, error) {
	if s.seq == s.first {
		s.epochStart = now
	}
	s.begin(now)
	if s.stalled() {
		s.epochAcked = false // whatever went wrong, let the receiver learn everything anew
	}
	h := s.header()
	refs := s.pickRefs(&h)
	out := Packet{Seq: s.seq, Epoch: s.epoch, Codec: s.run.Codec.Name, Baseline: int(h.baseline), Second: int(h.second)}
	s.buf = h.append(s.buf[:0], s.run.Codec.Refs == 2)
	out.Header = len(s.buf)

	e := s.history.Put(s.seq)
	evicted, evictedEpoch := e.Memo, e.Epoch
	e.Memo, e.Epoch = nil, s.epoch
	e.Frame.CopyFrom(cur)
	e.Frame.Tick = uint32(s.cadence.Tick(s.seq)) // as the receiver counts, which hears of no other
	s.seq++

	s.probe.Begin(&e.Frame, refs)
	buf, memo, err := s.run.Encoder.Encode(s.buf, &e.Frame, refs, s.spare, budget)
	s.probe.End()
	if err == nil && len(buf) > MaxDatagram {
		err = fmt.Errorf("packet of %d bytes does not fit in a UDP datagram (%d)", len(buf), MaxDatagram)
	}
	if err != nil {
		return out, fmt.Errorf("encoder %s: %w", s.run.Codec.Name, err)
	}
	s.spare = nil
	if evictedEpoch == s.epoch {
		s.spare = evicted
	}
	s.buf, e.Memo = buf, memo
	out.WithoutMemo = memo != nil && refs[0].Memo == nil
	out.Datagram, out.Payload, out.Stored = buf, len(buf)-out.Header, &e.Frame
	return out, nil
}

// header returns the header of the next packet, without its references.
func (s *Sender) header() header {
	return header{seq: uint16(s.seq), codec: s.run.Codec.ID, epoch: uint8(s.epoch), params: s.run.Canonical, hasParams: !s.epochAcked}
}

// Skip lets a snapshot go by unsent. Its number goes by as well: to the receiver
// it is one more packet that did not come, and the numbers of all others go on
// saying of which tick they are.
func (s *Sender) Skip() {
	if s.seq == s.first {
		s.first++
	}
	s.seq++
}

// stalled reports whether nothing new was acked for as long as a history reaches.
func (s *Sender) stalled() bool {
	return s.seq-s.first > uint64(s.history.Len()) && (!s.hasAck || s.seq-s.bestAck > uint64(s.history.Len()))
}

// pickRefs chooses the newest frames that acks vouch for, and writes their
// distances into h. Without any, both ends know the initial state.
func (s *Sender) pickRefs(h *header) []encoders.Ref {
	best := s.ackedEntry(s.bestAck)
	if !s.hasAck || best == nil {
		s.initial.Tick = s.cadence.start(s.seq)
		s.refs[0] = encoders.Ref{Frame: &s.initial}
		return s.refs[:1]
	}
	s.refs[0] = s.ref(best)
	if s.run.Codec.Standalone {
		return s.refs[:1] // of use to the encoder alone: the packet names none
	}
	h.baseline = uint8(s.seq - best.Seq)
	if s.run.Codec.Refs < 2 {
		return s.refs[:1]
	}
	for seq := best.Seq; seq > 0 && s.seq-(seq-1) <= uint64(s.history.Len()); seq-- {
		if e := s.ackedEntry(seq - 1); e != nil {
			h.second = uint8(s.seq - e.Seq)
			s.refs[1] = s.ref(e)
			return s.refs[:2]
		}
	}
	return s.refs[:1]
}

// ackedEntry returns the history's entry of seq if an ack named it and it is
// still within reach of a packet's 8-bit distance.
func (s *Sender) ackedEntry(seq uint64) *frame.Entry {
	if s.acked[seq%256] != seq+1 || s.seq-seq > uint64(s.history.Len()) {
		return nil
	}
	return s.history.Get(seq)
}

func (s *Sender) ref(e *frame.Entry) encoders.Ref {
	r := encoders.Ref{Frame: &e.Frame}
	if e.Epoch == s.epoch {
		r.Memo = e.Memo
	}
	return r
}

// Learn takes in an ack. Any bytes may come.
func (s *Sender) Learn(src []byte) error {
	a, err := parseAck(src, s.digest.bytes)
	if err != nil || s.seq == s.first {
		return err
	}
	newest, ok := s.unwrapAck(a.newest)
	if !ok {
		return errNeverSent
	}
	if newest < s.floor {
		return nil // of a frame from before the restart
	}
	if s.differs(newest, a.digest) {
		return s.restart()
	}
	current := a.epoch == uint8(s.epoch)
	if !s.hasAck || newest >= s.bestAck { // an old ack says nothing about what the receiver knows now
		s.epochAcked = current
	}
	s.noteAck(newest)
	for i := range uint64(32) {
		if a.mask>>i&1 == 1 && newest > i {
			s.noteAck(newest - 1 - i)
		}
	}
	if f, ok := s.run.Encoder.(encoders.Feedback); ok && current && len(a.report) > 0 {
		return f.Learn(a.report)
	}
	return nil
}

// errNeverSent: an ack names a packet that does not exist yet.
var errNeverSent = fmt.Errorf("%w: ack of a packet that was never sent", ErrMalformed)

// which returns the packet that 16 bits of an ack name: the newest it may be; ok is
// false if none was sent yet that it could be.
func (s *Sender) unwrapAck(seq uint16) (full uint64, ok bool) {
	newest := s.seq - 1
	back := uint64(uint16(newest) - seq)
	return newest - back, back <= newest-s.first
}

func (s *Sender) noteAck(seq uint64) {
	if s.seq-seq > 256 || seq < s.floor {
		return
	}
	s.acked[seq%256] = seq + 1
	if !s.hasAck || seq > s.bestAck {
		s.bestAck, s.hasAck = seq, true
	}
}

// differs reports whether the receiver's frame of packet seq, by its digest, is not the
// sender's.
func (s *Sender) differs(seq uint64, digest []byte) bool {
	if len(digest) == 0 {
		return false
	}
	e := s.history.Get(seq)
	if e == nil {
		return false // too old to tell
	}
	s.own = s.digest.append(s.own[:0], &e.Frame)
	return !bytes.Equal(s.own, digest)
}

// restart gives up every frame that was acknowledged: the receiver holds others. Packets
// build on the initial state, in a new epoch, until one sent from now on is acknowledged.
func (s *Sender) restart() error {
	s.restarts++
	s.floor, s.hasAck, s.bestAck, s.epochAcked = s.seq, false, 0, false
	clear(s.acked[:])
	if s.pending != nil {
		return nil
	}
	run, err := NewEncoding(s.schema, s.run.Codec, s.run.Params)
	if err == nil {
		s.Request(run)
	}
	return err
}

// Restarts returns how often the sender started over because the receiver held another
// frame.
func (s *Sender) Restarts() int64 { return s.restarts }
