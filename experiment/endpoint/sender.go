package endpoint

import (
	"bytes"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
)

// epochPeriod is the least time between two epochs, so that dragging a slider makes
// few of them.
const epochPeriod = 100 * time.Millisecond

// Sender is the endpoint that encodes. It knows the receiver's state only from acks.
type Sender struct {
	schema  *frame.Schema
	cadence Cadence
	end     drive.End
	history *frame.History // of end
	seq     uint64         // of the next packet
	first   uint64         // of the first packet

	run        Encoding
	epoch      uint64
	epochStart time.Duration
	epochAcked bool
	pending    *Encoding // begins with the first packet epochPeriod after epochStart

	acked   [256]uint64 // acked[s%256] == s+1: packet s was acked
	bestAck uint64
	hasAck  bool
	oldest  uint64 // shared frames of packets before this one are no longer kept
	floor   uint64 // acks of packets before this one do not count

	digest   digester
	own      []byte // digest of the sender's own frame
	restarts int64  // times that the receiver held another frame

	changed []frame.Rows // of packet n at n % len: since the frame sent before it; empty if unknown
	since   frame.Rows   // since the reference
	buf     []byte
}

// NewSender returns a sender of frames of schema s to a receiver that holds initial.
// It shares the table of initial, which must not be modified.
func NewSender(s *frame.Schema, initial *frame.Frame, run Encoding, opt Options) *Sender {
	end := opt.end(s, initial, frame.NewSharing(opt.History))
	return &Sender{schema: s, cadence: opt.cadence(), end: end, history: end.History, run: run,
		changed: make([]frame.Rows, frame.MaxHistory+1), since: frame.NewRows(s.Rows), digest: newDigester(&opt)}
}

// Encoding returns what the sender encodes with.
func (s *Sender) Encoding() *Encoding { return &s.run }

// Pending returns the requested encoding that has not begun yet; nil if none.
func (s *Sender) Pending() *Encoding { return s.pending }

// Epoch returns the number of the current epoch, from 0.
func (s *Sender) Epoch() uint64 { return s.epoch }

// Seq returns the number of the next packet.
func (s *Sender) Seq() uint64 { return s.seq }

// Acked returns the newest acked packet; false if none was acked.
func (s *Sender) Acked() (seq uint64, ok bool) { return s.bestAck, s.hasAck }

// Request sets the encoding of the next epoch. That begins with the first packet that
// is at least epochPeriod after the current epoch began. The last request wins. So
// every epoch has at least one packet, and the 256 epochs until the 8-bit number
// wraps outlast every history: a memo can never belong to an older epoch of the same
// number.
func (s *Sender) Request(run Encoding) {
	if s.seq == s.first {
		s.run = run
		return
	}
	s.pending = &run
}

// StartAt sets the sequence of the first packet, which is sent after now.
func (s *Sender) StartAt(seq uint64, now time.Duration) {
	s.seq, s.epochStart, s.first = seq, now, seq
}

// begin starts the requested epoch, if it is time.
func (s *Sender) begin(now time.Duration) {
	if s.pending == nil || now-s.epochStart < epochPeriod {
		return
	}
	s.run, s.pending = *s.pending, nil
	s.epoch++
	s.epochStart, s.epochAcked = now, false
}

// Packet is a packet to be sent.
type Packet struct {
	Seq         uint64
	Epoch       uint64
	Codec       string
	Baseline    int          // distance of the first reference in packets; 0 = the initial state
	Second      int          // distance of the second; 0 = none
	Header      int          // bytes
	Payload     int          // bytes
	WithoutMemo bool         // the encoder uses memos, but its first reference had none of this epoch
	Datagram    []byte       // bytes to be sent
	Stored      *frame.Frame // the sender's copy of the frame, which the receiver must decode
}

// Send makes the packet of frame cur, and charges its bits to budget, which may be
// nil. The pointers in the result are valid until the next call. After an error the
// sequence is used up, and the result has the sequence, epoch and codec of the failed
// packet.
func (s *Sender) Send(now time.Duration, cur *frame.Frame, budget *encoders.Budget) (Packet, error) {
	return s.send(now, cur, nil, nil, budget)
}

// SendShared is Send for a frame that the sender may keep instead of a copy. changed are the
// rows in which it may differ from the frame passed before it; nil if unknown.
func (s *Sender) SendShared(now time.Duration, cur *frame.Shared, changed frame.Rows, budget *encoders.Budget) (Packet, error) {
	return s.send(now, &cur.Frame, cur, changed, budget)
}

// send sends cur, which is the frame of shared if that is not nil.
func (s *Sender) send(now time.Duration, cur *frame.Frame, shared *frame.Shared, changed frame.Rows,
	budget *encoders.Budget) (Packet, error) {
	s.Finish()
	if s.seq == s.first {
		s.epochStart = now
	}
	s.begin(now)
	if s.stalled() {
		s.epochAcked = false // contact is lost: send the params again
	}
	h := s.header()
	refs, base := s.pickRefs(&h)
	s.dropOlder(base)
	h.whole = s.digest.numbered && h.hasParams && h.baseline == 0
	out := Packet{Seq: s.seq, Epoch: s.epoch, Codec: s.run.Codec.Name, Baseline: int(h.baseline), Second: int(h.second)}
	s.buf = h.append(s.buf[:0], s.run.Codec.Refs == 2)
	out.Header = len(s.buf)

	e := s.end.Put(s.seq, s.epoch)
	if shared != nil && !s.run.Codec.Quantises {
		e.Share(shared)
		own := &s.changed[s.seq%uint64(len(s.changed))]
		*own = append((*own)[:0], changed...)
		refs[0].Changed = s.changedSince(base, e)
	} else {
		e.Copy(cur)
	}
	e.Frame.Tick = uint32(s.cadence.Tick(s.seq)) // the receiver derives the same tick from the sequence
	s.seq++

	buf, err := s.end.Encode(s.run.Encoder, s.buf, e, refs, budget)
	if err == nil && len(buf) > MaxDatagram {
		err = fmt.Errorf("packet of %d bytes does not fit in a UDP datagram (%d)", len(buf), MaxDatagram)
	}
	if err != nil {
		return out, fmt.Errorf("encoder %s: %w", s.run.Codec.Name, err)
	}
	s.buf = buf
	out.WithoutMemo = e.Memo != nil && refs[0].Memo == nil
	out.Datagram, out.Payload, out.Stored = buf, len(buf)-out.Header, &e.Frame
	return out, nil
}

// Finish does the work that Options.Defer let the last Send leave. The caller calls it once the
// packet is out; if not, the next Send does.
func (s *Sender) Finish() { s.end.Finish() }

// header returns the header of the next packet, without its references.
func (s *Sender) header() header {
	return header{seq: s.seq, codec: s.run.Codec.ID, epoch: uint8(s.epoch), params: s.run.Canonical, hasParams: !s.epochAcked}
}

// Skip leaves out one snapshot and uses up its sequence. To the receiver it looks
// like a lost packet, and the sequences of all other packets still determine their
// ticks.
func (s *Sender) Skip() {
	if s.seq == s.first {
		s.first++
	}
	s.seq++
}

// stalled reports whether no packet of the last history length was acked.
func (s *Sender) stalled() bool {
	return s.seq-s.first > uint64(s.history.Len()) && (!s.hasAck || s.seq-s.bestAck > uint64(s.history.Len()))
}

// pickRefs chooses the newest acked frames as references and writes their distances into h. The
// first of them is in entry base. If no frame was acked, it chooses the initial state, and base is
// nil.
func (s *Sender) pickRefs(h *header) (refs []encoders.Ref, base *frame.Entry) {
	best := s.ackedEntry(s.bestAck)
	if !s.hasAck || best == nil {
		return s.end.Initial(s.cadence.start(s.seq)), nil
	}
	if s.run.Codec.Standalone {
		return s.end.Refs(s.epoch, best), best // only the encoder uses it: the packet names no reference
	}
	h.baseline = uint8(s.seq - best.Seq)
	if s.run.Codec.Refs < 2 {
		return s.end.Refs(s.epoch, best), best
	}
	for seq := best.Seq; seq > 0 && s.seq-(seq-1) <= uint64(s.history.Len()); seq-- {
		if e := s.ackedEntry(seq - 1); e != nil {
			h.second = uint8(s.seq - e.Seq)
			return s.end.Refs(s.epoch, best, e), best
		}
	}
	return s.end.Refs(s.epoch, best), best
}

// dropOlder drops the shared frames that no packet can refer to any more: those older than
// the newest acked one before base. An acked packet stays acked unless the sender starts over, and
// then only newer packets count. With digests, any ack may need its frame.
func (s *Sender) dropOlder(base *frame.Entry) {
	s.oldest = max(s.oldest, s.seq-min(s.seq, uint64(s.history.Len())))
	if base == nil || base.Seq <= s.oldest || s.digest.bytes > 0 {
		return
	}
	second := base.Seq - 1
	for second > s.oldest && s.ackedEntry(second) == nil {
		second--
	}
	for ; s.oldest < second; s.oldest++ {
		s.history.Drop(s.oldest)
	}
}

// changedSince returns the rows in which frame e, the newest, differs from that of base; nil if
// only a comparison of all rows would find them. Both are the source's frames if they are shared,
// and then so is every frame between.
func (s *Sender) changedSince(base, e *frame.Entry) frame.Rows {
	if base == nil || base.Shared() == nil {
		return nil
	}
	s.since.Clear()
	for seq := base.Seq + 1; seq <= s.seq; seq++ {
		between := s.history.Get(seq)
		if between == nil {
			continue // skipped: what changed is counted with the next one
		}
		rows := s.changed[seq%uint64(len(s.changed))]
		if between.Shared() == nil || len(rows) == 0 {
			return nil
		}
		s.since.Union(rows)
	}
	s.since.Differing(e.Frame.Table, base.Frame.Table, len(s.schema.Fields))
	return s.since
}

// ackedEntry returns the history's entry of seq if that packet was acked and is still
// in the history.
func (s *Sender) ackedEntry(seq uint64) *frame.Entry {
	if s.acked[seq%256] != seq+1 || s.seq-seq > uint64(s.history.Len()) {
		return nil
	}
	return s.history.Get(seq)
}

// HandleAck parses an ack, records which packets the receiver holds, and passes the report in the ack to
// the encoder. If the digest in the ack shows that the receiver holds another frame, the sender starts
// over: see restart. src may be any bytes. An old or duplicate ack is not an error.
func (s *Sender) HandleAck(src []byte) error {
	a, err := parseAck(src, s.digest.bytes)
	if err != nil || s.seq == s.first {
		return err
	}
	newest, ok := s.unwrapAck(a.newest)
	if !ok {
		return errNeverSent
	}
	if newest < s.floor {
		return nil // the ack is for a frame that was sent before the restart
	}
	if s.differs(newest, a.digest) {
		return s.restart()
	}
	current := a.epoch == uint8(s.epoch)
	if !s.hasAck || newest >= s.bestAck { // an old ack does not describe the receiver's present state
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

// errNeverSent is the error of an ack of a packet that was not sent yet.
var errNeverSent = fmt.Errorf("%w: ack of a packet that was never sent", ErrMalformed)

// unwrapAck returns the newest sent packet whose sequence has these low 16 bits; ok is false if no
// such packet was sent.
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

// differs reports whether the receiver's frame of packet seq has another digest than the sender's.
func (s *Sender) differs(seq uint64, digest []byte) bool {
	if len(digest) == 0 {
		return false
	}
	e := s.history.Get(seq)
	if e == nil {
		return false // too old to tell
	}
	s.own = s.digest.append(s.own[:0], e)
	return !bytes.Equal(s.own, digest)
}

// restart gives up every frame that was acknowledged: the receiver holds other frames. Packets build
// on the initial state, in a new epoch, until a packet sent from now on is acknowledged.
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
