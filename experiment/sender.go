package experiment

import (
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// epochPeriod is the least time between two epochs: a dragged slider becomes a
// few epochs and not a hundred.
const epochPeriod = 100 * time.Millisecond

// encoding is a codec with its params, ready to run.
type encoding struct {
	codec     *encoders.Codec
	params    any
	enc       encoders.Encoder
	canonical []byte // params as they travel
}

// newEncoding makes the encoder, so that beginning an epoch with it cannot fail.
func newEncoding(s *frame.Schema, codec *encoders.Codec, params any) (encoding, error) {
	enc, _, err := codec.New(s, params)
	if err != nil {
		return encoding{}, fmt.Errorf("encoder %s: %w", codec.Name, err)
	}
	canonical := codec.Canonical(params)
	if len(canonical) > encoders.MaxCanonical {
		return encoding{}, fmt.Errorf("encoder %s: params take %d bytes, at most %d travel", codec.Name, len(canonical), encoders.MaxCanonical)
	}
	return encoding{codec, params, enc, canonical}, nil
}

// sender is the endpoint that encodes. It knows of the other end only what acks
// told it.
type sender struct {
	schema  *frame.Schema
	initial frame.Frame // its table is shared
	cadence cadence
	history *frame.History
	seq     uint64 // of the next packet
	first   uint64 // of the first packet

	run        encoding
	epoch      uint64
	epochStart time.Duration
	epochAcked bool
	pending    *encoding // begins with the next packet that is epochPeriod after the last beginning

	acked   [256]uint64 // acked[s%256] == s+1: packet s was acked
	bestAck uint64
	hasAck  bool

	spare encoders.Memo // left the history; free to be overwritten
	refs  [2]encoders.Ref
	buf   []byte
}

func newSender(s *frame.Schema, initial *frame.Frame, history int, run encoding) *sender {
	return &sender{schema: s, initial: *initial, cadence: steady, history: frame.NewHistory(s, history), run: run}
}

// request asks for another encoding: from the next packet on, or from the first
// that is epochPeriod after the present epoch began. The last request wins. An
// epoch so has at least one packet, and 256 of them outlast every history: no
// memo can be taken for one of an epoch with the same 8 bits.
func (s *sender) request(run encoding) {
	if s.seq == s.first {
		s.run = run
		return
	}
	s.pending = &run
}

// startAt makes seq the number of the first packet, sent after now.
func (s *sender) startAt(seq uint64, now time.Duration) {
	s.seq, s.epochStart, s.first = seq, now, seq
}

// begin starts the epoch that was asked for, if it is time.
func (s *sender) begin(now time.Duration) {
	if s.pending == nil || now-s.epochStart < epochPeriod {
		return
	}
	s.run, s.pending = *s.pending, nil
	s.epoch++
	s.epochStart, s.epochAcked, s.spare = now, false, nil
}

// sent is what the lab notes about a packet that was made.
type sent struct {
	seq      uint64
	epoch    uint64
	codec    string
	baseline int // distance; 0 = the initial state
	header   int // bytes
	payload  int // bytes
	changed  int // rows that differ from the first reference
	datagram []byte
	stored   *frame.Frame // what the sender keeps: what the receiver must end up with
	clock    int64        // ns the encoder took
	second   int          // distance of the second reference; 0 = none
	untaught bool         // the encoder learns, but had learnt nothing of its reference
}

// send makes the packet for cur. The result aliases the sender's memory and
// holds until the next call.
func (s *sender) send(now time.Duration, cur *frame.Frame, budget *encoders.Budget, clock Clock) (sent, error) {
	if s.seq == s.first {
		s.epochStart = now
	}
	s.begin(now)
	if s.stalled() {
		s.epochAcked = false // whatever went wrong, let the receiver learn everything anew
	}
	h := header{seq: uint16(s.seq), codec: s.run.codec.ID, epoch: uint8(s.epoch), params: s.run.canonical, hasParams: !s.epochAcked}
	refs := s.pickRefs(&h)
	out := sent{seq: s.seq, epoch: s.epoch, codec: s.run.codec.Name, baseline: int(h.baseline), second: int(h.second)}
	s.buf = h.append(s.buf[:0], s.run.codec.Refs == 2)
	out.header = len(s.buf)

	e := s.history.Put(s.seq)
	evicted, evictedEpoch := e.Memo, e.Epoch
	e.Memo, e.Epoch = nil, s.epoch
	e.Frame.CopyFrom(cur)
	e.Frame.Tick = uint32(s.cadence.tick(s.seq)) // as the receiver counts, which hears of no other
	out.changed = e.Frame.ChangedRows(refs[0].Frame, len(s.schema.Fields))
	if s.schema.Rows == 0 {
		out.changed = len(e.Frame.Body) // what is nothing but bytes is all news
	}
	s.seq++

	start := clock.now()
	buf, memo, err := s.run.enc.Encode(s.buf, &e.Frame, refs, s.spare, budget)
	out.clock = clock.now() - start
	if err == nil && len(buf) > MaxDatagram {
		err = fmt.Errorf("packet of %d bytes does not fit in a UDP datagram (%d)", len(buf), MaxDatagram)
	}
	if err != nil {
		return out, fmt.Errorf("encoder %s: %w", s.run.codec.Name, err)
	}
	s.spare = nil
	if evictedEpoch == s.epoch {
		s.spare = evicted
	}
	s.buf, e.Memo = buf, memo
	out.untaught = memo != nil && refs[0].Memo == nil
	out.datagram, out.payload, out.stored = buf, len(buf)-out.header, &e.Frame
	return out, nil
}

// skip lets a snapshot go by unsent. Its number goes by as well: to the receiver
// it is one more packet that did not come, and the numbers of all others go on
// saying of which tick they are.
func (s *sender) skip() {
	if s.seq == s.first {
		s.first++
	}
	s.seq++
}

// stalled reports whether nothing new was acked for as long as a history reaches.
func (s *sender) stalled() bool {
	return s.seq-s.first > uint64(s.history.Len()) && (!s.hasAck || s.seq-s.bestAck > uint64(s.history.Len()))
}

// pickRefs chooses the newest frames that acks vouch for, and writes their
// distances into h. Without any, both ends know the initial state.
func (s *sender) pickRefs(h *header) []encoders.Ref {
	best := s.ackedEntry(s.bestAck)
	if !s.hasAck || best == nil {
		s.initial.Tick = s.cadence.start(s.seq)
		s.refs[0] = encoders.Ref{Frame: &s.initial}
		return s.refs[:1]
	}
	s.refs[0] = s.ref(best)
	if s.run.codec.Standalone {
		return s.refs[:1] // of use to the encoder alone: the packet names none
	}
	h.baseline = uint8(s.seq - best.Seq)
	if s.run.codec.Refs < 2 {
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
func (s *sender) ackedEntry(seq uint64) *frame.Entry {
	if s.acked[seq%256] != seq+1 || s.seq-seq > uint64(s.history.Len()) {
		return nil
	}
	return s.history.Get(seq)
}

func (s *sender) ref(e *frame.Entry) encoders.Ref {
	r := encoders.Ref{Frame: &e.Frame}
	if e.Epoch == s.epoch {
		r.Memo = e.Memo
	}
	return r
}

// learn takes in an ack. Any bytes may come.
func (s *sender) learn(src []byte) error {
	a, err := parseAck(src)
	if err != nil || s.seq == s.first {
		return err
	}
	newest, ok := s.which(a.newest)
	if !ok {
		return fmt.Errorf("%w: ack of a packet that was never sent", errHeader)
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
	if f, ok := s.run.enc.(encoders.Feedback); ok && current && len(a.report) > 0 {
		return f.Learn(a.report)
	}
	return nil
}

// which returns the packet that 16 bits of an ack name: the newest it may be; ok is
// false if none was sent yet that it could be.
func (s *sender) which(seq uint16) (full uint64, ok bool) {
	newest := s.seq - 1
	back := uint64(uint16(newest) - seq)
	return newest - back, back <= newest-s.first
}

func (s *sender) noteAck(seq uint64) {
	if s.seq-seq > 256 {
		return
	}
	s.acked[seq%256] = seq + 1
	if !s.hasAck || seq > s.bestAck {
		s.bestAck, s.hasAck = seq, true
	}
}
