package endpoint

import (
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
	"wirelab/experiment/view"
	"wirelab/internal/policy"
)

// epochPeriod is the minimum time between two epochs, so that dragging a slider begins few of them.
const epochPeriod = 100 * time.Millisecond

// Sender is the endpoint that encodes frames. Create it with NewSender. It is not safe for use by
// several goroutines.
type Sender struct {
	schema  *frame.Schema
	cadence Cadence
	coder   drive.End      // calls the encoder
	history *frame.History // stored frames; the same as coder.History
	seq     uint64         // sequence number of the next packet
	first   uint64         // sequence number of the first packet

	encoding   Encoding      // encoder and parameters of the current epoch
	epoch      uint64        // number of the current epoch: of the changes of the encoding so far
	epochStart time.Duration // when the current epoch began
	epochAcked bool          // the newest ack names the current epoch
	pending    *Encoding     // encoding of the next epoch, which begins epochPeriod after epochStart; nil if none

	acked        [256]uint64 // acked[s%256] is s+1 if packet s was acked
	newestAcked  uint64      // newest acked packet, if hasAck
	hasAck       bool
	minAckSeq    uint64 // acks of packets before this one are ignored; set when view frames end
	oldestShared uint64 // shared frames of packets before this one were dropped from the history

	// changed[n%len] contains the rows that may differ between the frames of packet n and the packet
	// before it; empty if unknown. nil before the first shared frame.
	changed     []frame.Rows
	changedRows frame.Rows // rows that differ from the baseline, reused
	buf         []byte     // the datagram being built, reused

	control *controller  // decides which snapshots are sent; nil sends all
	views   senderViews  // view frames, while there is a budget
	sent    *sentPackets // for Trace; nil unless Options.KeepSent
}

// NewSender returns a sender of frames of schema s, which begins with the given encoding. initial is
// the initial state, which the receiver must have too; the sender shares its memory, so it must not be
// modified.
func NewSender(s *frame.Schema, initial *frame.Frame, encoding Encoding, opt Options) *Sender {
	coder := opt.newCoder(s, initial, frame.NewHistory(opt.History))
	sender := &Sender{schema: s, cadence: opt.cadence(), coder: coder, history: coder.History, encoding: encoding, changedRows: frame.NewRows(s.Rows)}
	sender.views.filler, sender.views.sharesFiller = opt.Filler, opt.Filler != nil
	if opt.KeepSent {
		sender.sent = &sentPackets{}
	}
	return sender
}

// Encoding returns the encoding of the current epoch.
func (s *Sender) Encoding() *Encoding { return &s.encoding }

// Pending returns the requested encoding of the next epoch; nil if none is requested.
func (s *Sender) Pending() *Encoding { return s.pending }

// Requested returns the requested encoding of the next epoch, or that of the current epoch if none is
// requested.
func (s *Sender) Requested() *Encoding {
	if s.pending != nil {
		return s.pending
	}
	return &s.encoding
}

// CanBeginEpoch reports whether an epoch that is requested now begins with a packet that is sent at now.
func (s *Sender) CanBeginEpoch(now time.Duration) bool {
	return s.seq == s.first || now-s.epochStart >= epochPeriod
}

// SharesReferences reports whether s and o, whose next packets have the same sequence number, would
// choose references with the same sequence numbers.
func (s *Sender) SharesReferences(o *Sender) bool {
	if s.views.server != nil || o.views.server != nil { // two displays are hardly ever equal
		return false
	}
	own, other := s.ackedEntry(s.newestAcked), o.ackedEntry(o.newestAcked)
	for range 2 { // the baseline, then the second reference
		if own == nil || other == nil {
			return own == nil && other == nil
		}
		if own.Seq != other.Seq {
			return false
		}
		own, other = s.ackedBefore(own), o.ackedBefore(other)
	}
	return true
}

// Epoch returns the number of the current epoch, starting at 0.
func (s *Sender) Epoch() uint64 { return s.epoch }

// Seq returns the sequence number of the next packet.
func (s *Sender) Seq() uint64 { return s.seq }

// Acked returns the sequence number of the newest acked packet; ok is false if none was acked.
func (s *Sender) Acked() (seq uint64, ok bool) { return s.newestAcked, s.hasAck }

// Request sets the encoding of the next epoch, replacing an earlier request. The next epoch begins
// with the first packet that is sent at least 100 ms after the current epoch began. Before the first
// packet, Request sets the encoding of the current epoch.
//
// Each epoch has at least one packet, so 256 epochs have more packets than a history can hold. A memo
// in the history thus never belongs to an older epoch with the same low 8 bits.
func (s *Sender) Request(encoding Encoding) {
	if s.seq == s.first {
		s.encoding = encoding
		return
	}
	s.pending = &encoding
}

// StartAt sets the sequence number of the first packet, for a sender that joins a running session at
// time now.
func (s *Sender) StartAt(seq uint64, now time.Duration) {
	s.seq, s.epochStart, s.first = seq, now, seq
	if c := s.control; c != nil { // packets of the session may be in a queue
		s.control = nil
		s.SetControl(c.policy, c.slot)
	}
}

// beginEpoch begins the next epoch if one is requested, by Request or by SetBudget, and epochPeriod has
// passed since the current one began. It does not wait for epochPeriod if packets can no longer name the
// frame that the display begins with. Packets then contain the parameters until an ack names the epoch.
func (s *Sender) beginEpoch(now time.Duration) {
	if s.seq == s.first {
		s.epochStart = now
	}
	switchesViews := s.views.mustSwitch(s)
	isRequested := s.pending != nil || switchesViews
	mayBegin := s.CanBeginEpoch(now) || s.views.isRootTooOld(s.seq)
	if !isRequested || !mayBegin {
		return
	}
	if s.pending != nil {
		s.encoding = *s.pending
		s.pending = nil
	}
	if s.seq != s.first { // the first packet belongs to the current epoch
		s.epoch++
	}
	s.epochStart = now
	s.epochAcked = false
	if switchesViews {
		s.switchViews()
	}
	s.views.epochBegins(s.epoch)
}

// Packet is a packet to send.
type Packet struct {
	Seq         uint64
	Epoch       uint64
	Codec       string      // name of the codec
	Baseline    int         // distance to the baseline in packets; 0 means the initial state
	Second      int         // distance to the second reference in packets; 0 means none
	Header      int         // size of the header in bytes
	Payload     int         // size of the payload in bytes
	WithoutMemo bool        // the encoder uses memos, but the baseline has none of this epoch
	Datagram    []byte      // the bytes to transmit
	View        *ViewPacket // nil without a budget

	stored *frame.Frame // see Frame; nil with a budget
}

// Frame returns the frame that the receiver must decode. It differs from that of the source if the codec quantises, and
// with a budget, if packets leave rows out.
func (p *Packet) Frame() *frame.Frame {
	if p.View == nil {
		return p.stored
	}
	f, _ := p.View.Frames()
	return f
}

// Send encodes frame cur at time now and returns its packet. It charges the bits of the packet to
// budget, which may be nil. The slice and the pointers in the result are valid until the next call.
//
// If the encoder fails, Send returns its error. The sequence number is then used up, and the result
// contains the sequence number, the epoch and the codec of the failed packet.
func (s *Sender) Send(now time.Duration, cur *frame.Frame, budget *encoders.Budget) (Packet, error) {
	return s.send(now, cur, nil, nil, budget)
}

// SendShared is like Send for a frame that the sender may store without copying it. changed contains
// at least the rows in which cur differs from the frame passed to the call before; nil means unknown.
func (s *Sender) SendShared(now time.Duration, cur *frame.Shared, changed frame.Rows, budget *encoders.Budget) (Packet, error) {
	return s.send(now, &cur.Frame, cur, changed, budget)
}

// send implements Send and SendShared. shared is nil, or cur is its frame. send chooses the references,
// builds the header, stores the frame in the history, and appends the encoded payload. A codec that
// quantises modifies the stored frame, so that frame must be a copy.
func (s *Sender) send(now time.Duration, cur *frame.Frame, shared *frame.Shared, changed frame.Rows,
	budget *encoders.Budget) (Packet, error) {
	s.Finish()
	s.beginEpoch(now)
	if s.stalled() {
		s.epochAcked = false // the receiver may have lost its state: send the parameters again
	}
	if s.views.server != nil {
		return s.sendView(now, cur, changed, budget)
	}
	h := s.header()
	refs, base := s.pickRefs(&h)
	s.dropUnreachable(base)
	out := s.beginPacket(&h)
	out.Baseline, out.Second = int(h.baseline), int(h.second)
	e := s.coder.Put(s.seq, s.epoch)
	if shared != nil && !s.encoding.Codec.Quantises {
		e.Share(shared)
		refs[0].Changed = s.changedSince(base, e, changed)
	} else {
		e.Copy(cur)
	}
	e.Frame.Tick = uint32(s.cadence.Tick(s.seq)) // the receiver derives the same tick from the sequence
	s.seq++

	buf, err := s.coder.Encode(s.encoding.Encoder, s.buf, e, refs, budget)
	if err == nil && len(buf) > MaxDatagram {
		err = fmt.Errorf("packet of %d bytes does not fit in a UDP datagram (%d)", len(buf), MaxDatagram)
	}
	if err != nil {
		return out, fmt.Errorf("encoder %s: %w", s.encoding.Codec.Name, err)
	}
	out.WithoutMemo = e.Memo != nil && refs[0].Memo == nil
	s.endPacket(now, &out, buf, &e.Frame, base)
	return out, nil
}

// beginPacket returns the next packet with its header, which begins s.buf.
func (s *Sender) beginPacket(h *header) Packet {
	s.buf = h.append(s.buf[:0])
	return Packet{Seq: s.seq, Epoch: s.epoch, Codec: s.encoding.Codec.Name, Header: len(s.buf)}
}

// endPacket completes a packet with the datagram and the frame that the receiver must decode, nil with a budget. base is
// the entry of the baseline; nil if that is the initial state or a display.
func (s *Sender) endPacket(now time.Duration, out *Packet, datagram []byte, stored *frame.Frame, base *frame.Entry) {
	s.buf = datagram
	out.Datagram = datagram
	out.Payload = len(datagram) - out.Header
	out.stored = stored
	s.control.sent(now, out.Seq, len(datagram))
	if s.sent != nil {
		s.sent.add(out, &s.encoding, base)
	}
}

// SetControl sets the policy of Controls that decides which snapshots are sent; the zero Policy sends
// all. slot is the time between two snapshots that could be sent. A policy other than the present one,
// or another slot, begins in its initial state.
func (s *Sender) SetControl(p policy.Policy, slot time.Duration) {
	switch {
	case p == policy.Policy{}:
		s.control = nil
	case s.control == nil:
		s.control = &controller{newest: s.newestAcked, hasNewest: s.hasAck}
		if s.seq > 0 { // packets may be in flight
			s.control.lastSeq, s.control.hasSent = s.seq-1, true
		}
		s.control.set(p, slot)
	case p != s.control.policy || slot != s.control.slot:
		s.control.set(p, slot)
	}
}

// Due reports whether the control and the budget let the snapshot of time now be sent. The caller then
// calls Send, and otherwise Hold. Due must be called once for each snapshot.
func (s *Sender) Due(now time.Duration) bool {
	due := s.control.due(now)
	if s.views.budget.Bps == 0 && s.views.server == nil {
		return due
	}
	s.beginEpoch(now)
	need, allowed := s.Room(now)
	return due && need <= allowed
}

// Control returns the state of the control; nil if there is none. The decisions are valid until the next
// call of a method of the sender.
func (s *Sender) Control() *controlState {
	if s.control == nil {
		return nil
	}
	c := s.control
	state := &controlState{Policy: c.policy, Decisions: c.log.newest, Held: c.log.held, Cuts: c.log.cuts}
	if c.rule != nil {
		state.TargetBps = c.rule.target()
	}
	return state
}

// controlState describes a send-rate control.
type controlState struct {
	Policy    policy.Policy
	TargetBps int64                     // rate in bits per second; 0 if the policy has none
	Decisions []Decision                // the newest, oldest first
	Held      [numDecisionReasons]int64 // snapshots held back, by reason
	Cuts      int64                     // decisions that lowered the rate
}

// Finish completes the work that the last Send deferred because of Options.Defer. The caller calls it
// after transmitting the packet; otherwise the next Send does.
func (s *Sender) Finish() { s.coder.Finish() }

// header returns the header of the next packet without the references.
func (s *Sender) header() header {
	h := s.encoding.header(s.seq, !s.epochAcked)
	h.epoch = uint8(s.epoch)
	return h
}

// Skip uses up a sequence number without sending a packet, for a frame that is left out. The receiver
// cannot distinguish this from a lost packet. Each sequence number thus still determines a tick.
func (s *Sender) Skip() {
	if s.seq == s.first { // no packet was sent yet, so the first one will have the next number
		s.first++
	}
	s.seq++
}

// Hold is Skip for a frame that was due. With a budget its rows wait from now on. changed is as in
// SendShared.
func (s *Sender) Hold(cur *frame.Frame, changed frame.Rows) {
	if v := &s.views; v.server != nil {
		v.advance(cur, changed)
		v.filler.Skip(v.server)
	}
	s.Skip()
}

// stalled reports whether none of the packets in the history was acked.
func (s *Sender) stalled() bool {
	return !s.hasAck || s.seq-s.newestAcked > uint64(s.history.Len())
}

// pickRefs chooses the newest acked frames as references, one or two as the codec requires, and sets their
// distances in h. base is the entry of the first reference, which is the baseline. If no stored frame was
// acked, pickRefs chooses the initial state and returns a nil base. The distances of a Standalone codec,
// which decodes without references, stay 0.
func (s *Sender) pickRefs(h *header) (refs []encoders.Ref, base *frame.Entry) {
	best := s.ackedEntry(s.newestAcked)
	if !s.hasAck || best == nil {
		return s.coder.Initial(s.cadence.InitialTick(s.seq)), nil
	}
	if s.encoding.Codec.Standalone {
		return s.coder.Refs(s.epoch, best), best // only the encoder uses the reference
	}
	h.baseline = uint8(s.seq - best.Seq)
	if s.encoding.Codec.Refs < 2 {
		return s.coder.Refs(s.epoch, best), best
	}
	if second := s.ackedBefore(best); second != nil {
		h.second = uint8(s.seq - second.Seq)
		return s.coder.Refs(s.epoch, best, second), best
	}
	return s.coder.Refs(s.epoch, best), best
}

// ackedBefore returns the newest acked entry that is older than e and can be a reference of the next
// packet; nil if none.
func (s *Sender) ackedBefore(e *frame.Entry) *frame.Entry {
	for seq := e.Seq; seq > 0 && s.seq-(seq-1) <= uint64(s.history.Len()); seq-- {
		if older := s.ackedEntry(seq - 1); older != nil {
			return older
		}
	}
	return nil
}

// dropUnreachable releases shared frames that can no longer be references: those older than the second
// reference of a packet whose baseline is base. Acks that arrive later only name newer references. With
// Options.KeepSent nothing is released, because Trace needs the frames.
func (s *Sender) dropUnreachable(base *frame.Entry) {
	s.oldestShared = max(s.oldestShared, s.seq-min(s.seq, uint64(s.history.Len())))
	if base == nil || base.Seq <= s.oldestShared || s.sent != nil {
		return
	}
	second := base.Seq - 1
	for second > s.oldestShared && s.ackedEntry(second) == nil {
		second--
	}
	for ; s.oldestShared < second; s.oldestShared++ { // the second reference itself stays
		s.history.Drop(s.oldestShared)
	}
}

// changedSince returns the rows in which the newest frame e differs from the frame of base; nil if this
// is unknown, because base or a frame between is not a shared frame of the source or came without its
// changed rows. changed contains the rows that may have changed since the packet before.
func (s *Sender) changedSince(base, e *frame.Entry, changed frame.Rows) frame.Rows {
	if s.changed == nil {
		s.changed = make([]frame.Rows, frame.MaxHistory+1)
	}
	slot := &s.changed[s.seq%uint64(len(s.changed))]
	*slot = append((*slot)[:0], changed...)
	if base == nil || base.Shared() == nil {
		return nil
	}
	s.changedRows.Clear()
	for seq := base.Seq + 1; seq <= s.seq; seq++ {
		between := s.history.Get(seq)
		if between == nil {
			continue // skipped by Skip: the changed rows of the next frame include its changes
		}
		rows := s.changed[seq%uint64(len(s.changed))]
		if between.Shared() == nil || len(rows) == 0 {
			return nil
		}
		s.changedRows.Union(rows)
	}
	// Keep only the rows that differ now: a row may have changed back.
	s.changedRows.RemoveEqual(e.Frame.Table, base.Frame.Table, len(s.schema.Fields))
	return s.changedRows
}

// ackedEntry returns the history entry of packet seq; nil if it was not acked or is no longer stored.
func (s *Sender) ackedEntry(seq uint64) *frame.Entry {
	if s.acked[seq%256] != seq+1 || s.seq-seq > uint64(s.history.Len()) {
		return nil
	}
	return s.history.Get(seq)
}

// HandleAck handles an ack of Receiver.AppendAck: it records which packets the receiver decoded, and passes
// the report in the ack to the encoder. src may be any bytes. An old or duplicate
// ack is not an error.
func (s *Sender) HandleAck(src []byte) error { return s.HandleAckAt(0, src, false) }

// HandleAckAt is HandleAck for a sender with a control. now is the current time. hasArrival means that
// the ack is one of Receiver.AppendAckAt, with the time at which the packet arrived.
func (s *Sender) HandleAckAt(now time.Duration, src []byte, hasArrival bool) (err error) {
	arrival := uint16(0)
	if hasArrival {
		if src, arrival, err = cutArrival(src); err != nil {
			return err
		}
	}
	a, err := s.readAck(src)
	if err != nil || !a.isValid {
		return err
	}
	namesEpoch := a.epoch == uint8(s.epoch)
	if a.isNew { // an old ack does not describe the receiver's current state
		s.epochAcked = namesEpoch
	}
	s.recordAck(a.newest)
	for i := range uint64(32) { // bit i of the mask stands for packet newest-1-i
		if a.mask>>i&1 == 1 && a.newest > i {
			s.recordAck(a.newest - 1 - i)
		}
	}
	if f, ok := s.encoding.Encoder.(encoders.Feedback); ok && namesEpoch && len(a.report) > 0 {
		err = f.Learn(a.report)
	}
	if err == nil {
		s.control.acked(now, a.newest, a.mask, arrival, hasArrival)
	}
	return err
}

// sentAck is an ack of packets that were sent.
type sentAck struct {
	newest  uint64
	mask    uint32
	epoch   uint8
	isNew   bool   // no ack named a newer packet before
	isValid bool   // false for an ack that does not concern the current packets
	report  []byte // of the decoder; nil if the ack is for packets of another kind
}

// readAck reads an ack of whole frames or of view frames.
func (s *Sender) readAck(src []byte) (out sentAck, err error) {
	if epoch, ok := view.AckEpoch(src); ok && s.views.streams[epoch] != 0 {
		return s.readViewAck(src, epoch)
	}
	a, err := parseAck(src)
	if err != nil || s.seq == s.first { // the ack is malformed, or nothing was sent yet
		return out, err
	}
	newest, ok := s.unwrapAck(a.newest)
	if !ok {
		return out, errNeverSent
	}
	out = sentAck{newest: newest, mask: a.mask, epoch: a.epoch, isValid: true}
	if newest >= s.minAckSeq { // otherwise the ack is for a packet with a view frame
		out.isNew, out.report = !s.hasAck || newest >= s.newestAcked, a.report
	}
	return out, nil
}

// errNeverSent is the error of an ack of a packet that was not sent yet.
var errNeverSent = fmt.Errorf("%w: ack of a packet that was never sent", ErrMalformed)

// AssumeDecoded records that the receiver will decode the newest packet before any later one, because
// the caller sends packets in a reliable, ordered stream. No ack is needed then.
func (s *Sender) AssumeDecoded() {
	s.recordAck(s.seq - 1)
	s.epochAcked = true
}

// unwrapAck returns the sequence number of the newest sent packet with the low 16 bits seq; ok is false
// if no such packet was sent.
func (s *Sender) unwrapAck(seq uint16) (full uint64, ok bool) {
	newest := s.seq - 1
	behind := uint64(uint16(newest) - seq) // modulo 65,536
	return newest - behind, behind <= newest-s.first
}

// recordAck records that the receiver decoded packet seq, unless the packet is too old to matter.
func (s *Sender) recordAck(seq uint64) {
	if s.seq-seq > uint64(len(s.acked)) || seq < s.minAckSeq {
		return
	}
	s.acked[seq%256] = seq + 1 // 0 means that no packet was acked
	if !s.hasAck || seq > s.newestAcked {
		s.newestAcked, s.hasAck = seq, true
	}
}
