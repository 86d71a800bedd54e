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

// encoding is a codec with its params, as a sender runs it.
type encoding struct {
	codec  *encoders.Codec
	params any
}

// sender is the endpoint that encodes. It knows of the other end only what acks
// told it.
type sender struct {
	schema  *frame.Schema
	initial *frame.Frame
	history *frame.History
	seq     uint64 // of the next packet

	run        encoding
	enc        encoders.Encoder
	canonical  []byte // params of the epoch, as they travel
	epoch      uint64
	epochStart time.Duration
	epochAcked bool
	pending    *encoding // waits for epochPeriod to pass

	acked    [256]uint64 // acked[s%256] == s+1: packet s was acked
	bestAck  uint64
	hasAck   bool
	ackEpoch uint64 // newest epoch that an ack named

	spare encoders.Memo // left the history; free to be overwritten
	refs  [2]encoders.Ref
	buf   []byte
}

func newSender(s *frame.Schema, initial *frame.Frame, history int, run encoding) (*sender, error) {
	snd := &sender{schema: s, initial: initial, history: frame.NewHistory(s, history)}
	if err := snd.begin(0, run); err != nil {
		return nil, err
	}
	return snd, nil
}

// begin starts an epoch with another codec or other params.
func (s *sender) begin(now time.Duration, run encoding) error {
	enc, _, err := run.codec.New(s.schema, run.params)
	if err != nil {
		return fmt.Errorf("encoder %s: %w", run.codec.Name, err)
	}
	canonical := run.codec.Canonical(run.params)
	if len(canonical) > maxParamBytes {
		return fmt.Errorf("encoder %s: params take %d bytes, at most %d travel", run.codec.Name, len(canonical), maxParamBytes)
	}
	if s.enc != nil {
		s.epoch++
	}
	s.run, s.enc, s.canonical = run, enc, canonical
	s.epochStart, s.epochAcked, s.spare, s.pending = now, false, nil, nil
	return nil
}

// request asks for another encoding: at once, or when the present epoch is
// epochPeriod old. The last request wins.
func (s *sender) request(now time.Duration, run encoding) error {
	if now-s.epochStart >= epochPeriod || s.seq == 0 {
		return s.begin(now, run)
	}
	s.pending = &run
	return nil
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
}

// send makes the packet for cur. The result aliases the sender's memory and
// holds until the next call.
func (s *sender) send(now time.Duration, cur *frame.Frame, budget *encoders.Budget, clock Clock) (sent, error) {
	if s.pending != nil && now-s.epochStart >= epochPeriod {
		if err := s.begin(now, *s.pending); err != nil {
			return sent{}, err
		}
	}
	h := header{seq: uint16(s.seq), codec: s.run.codec.ID, epoch: uint8(s.epoch), params: s.canonical, hasParams: !s.epochAcked}
	refs := s.pickRefs(&h)
	out := sent{seq: s.seq, epoch: s.epoch, codec: s.run.codec.Name, baseline: int(h.baseline)}
	s.buf = h.append(s.buf[:0], s.run.codec.Refs == 2)
	out.header = len(s.buf)

	e := s.history.Put(s.seq)
	evicted, evictedEpoch := e.Memo, e.Epoch
	e.Memo, e.Epoch = nil, s.epoch
	e.Frame.CopyFrom(cur)
	out.changed = e.Frame.ChangedRows(refs[0].Frame, len(s.schema.Fields))
	s.seq++

	start := clock.now()
	buf, memo, err := s.enc.Encode(s.buf, &e.Frame, refs, s.spare, budget)
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
	out.datagram, out.payload, out.stored = buf, len(buf)-out.header, &e.Frame
	return out, nil
}

// pickRefs chooses the newest frames that acks vouch for, and writes their
// distances into h. Without any, both ends know the initial state.
func (s *sender) pickRefs(h *header) []encoders.Ref {
	best := s.ackedEntry(s.bestAck)
	if !s.hasAck || best == nil {
		s.refs[0] = encoders.Ref{Frame: s.initial}
		return s.refs[:1]
	}
	h.baseline = uint8(s.seq - best.Seq)
	s.refs[0] = s.ref(best)
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
	if err != nil || s.seq == 0 {
		return err
	}
	newest := s.seq - 1
	back := uint64(uint16(newest) - a.newest)
	if back > newest {
		return fmt.Errorf("%w: ack of a packet that was never sent", errHeader)
	}
	newest -= back
	s.noteAck(newest)
	for i := range uint64(32) {
		if a.mask>>i&1 == 1 && newest > i {
			s.noteAck(newest - 1 - i)
		}
	}
	if epoch := unwrapEpoch(s.epoch, a.epoch); epoch == s.epoch {
		s.epochAcked = true
		if f, ok := s.enc.(encoders.Feedback); ok && len(a.report) > 0 {
			return f.Learn(a.report)
		}
	}
	return nil
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
