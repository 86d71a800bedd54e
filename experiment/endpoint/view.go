package endpoint

import (
	"errors"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/view"
	"wirelab/internal/policy"
)

// Budget limits what a sender sends. While it is set, packets contain view frames: as many rows of a
// frame as fit; see package view. The zero Budget means no limit.
type Budget struct {
	Bps      int64         // headers and payloads in bits per second, without IP and UDP
	Burst    int64         // most that a packet may take, in thousandths of what the budget gives from packet to packet
	Priority policy.Policy // one of view.Policies; the zero Policy means the first
	Weights  view.Weights
	Interest view.Interest
	Player   int // row of the receiver's player, from 0; see view.Coding
}

// ViewPacket describes a packet with a view frame.
type ViewPacket struct {
	view.Packet
	Allowed int // bytes that the packet might have had, with the header
}

// senderViews is the state of a sender with a budget. server is nil while packets contain whole frames.
type senderViews struct {
	budget   Budget        // that is wanted
	interval time.Duration // between two packets that could be sent
	filler   *view.Filler
	server   *view.Server
	limit    int // result of SetLimit
	bucket   view.Bucket
	packet   ViewPacket

	stream   uint8      // number of the stream; 0 before the first
	streams  [256]uint8 // by the low 8 bits of an epoch: its stream, or 0 for whole frames
	firstSeq uint64     // of the stream
	root     uint64     // packet whose frame the display begins with, if hasRoot
	hasRoot  bool

	sharesFiller bool // filler is Options.Filler
}

// maxRootDistance is the largest distance to the root of a stream that a header can contain.
const maxRootDistance = 255

// maxUnconfirmed is the number of packets after which a stream whose root the receiver may not have
// begins again with the initial state.
const maxUnconfirmed = 64

// SetBudget sets the budget; the zero Budget removes it. interval is the time between two packets that
// could be sent. A budget that is set or removed takes effect with an epoch, as a new encoding does; see
// Request. A change of a budget takes effect with the next packet.
func (s *Sender) SetBudget(b Budget, interval time.Duration) {
	v := &s.views
	v.budget, v.interval = b, interval
	if b.Bps > 0 && v.server != nil {
		v.configure()
	}
}

// configure passes the budget to the bucket and the filler.
func (v *senderViews) configure() {
	v.bucket.Set(v.budget.Bps, v.budget.Burst, v.interval)
	v.server.BudgetChanged()
	if v.sharesFiller {
		return
	}
	v.filler.SetPolicy(v.budget.Priority)
	v.filler.SetWeights(v.budget.Weights)
	v.filler.SetInterest(v.budget.Interest)
}

// advance passes cur to the filler, unless the filler is that of several senders.
func (v *senderViews) advance(cur *frame.Frame, changed frame.Rows) {
	if !v.sharesFiller {
		v.filler.Advance(cur, changed)
	}
}

// SetLimit limits the sizes of packets to n bytes from now on, in addition to the budget; 0 removes the
// limit.
func (s *Sender) SetLimit(n int) { s.views.limit = n }

// View returns the state of the receiver as far as the sender knows it, and the filler that chooses
// rows; nil without a budget. The caller must not modify them.
func (s *Sender) View() (*view.Server, *view.Filler) { return s.views.server, s.views.filler }

// ViewOf returns the state of the receiver if packet seq belongs to the present stream of view frames;
// otherwise nil.
func (s *Sender) ViewOf(seq uint64) *view.Server {
	if seq < s.views.firstSeq {
		return nil
	}
	return s.views.server
}

// BudgetNeed returns the size of the smallest packet for which a budget must have room: a header with
// the parameters of e, and view.MinPayload.
func BudgetNeed(e *Encoding) int {
	h := e.header(0, true)
	h.view = true
	return len(h.append(nil)) + view.MinPayload
}

// MaxPacketOf returns the size of the largest packet that a budget allows. interval is the time between
// two packets.
func MaxPacketOf(b Budget, interval time.Duration) int {
	var bucket view.Bucket
	bucket.Set(b.Bps, b.Burst, interval)
	return bucket.MaxNeed()
}

// mustSwitch reports whether the next epoch begins or ends a stream of view frames.
func (v *senderViews) mustSwitch(s *Sender) bool {
	if v.server == nil || v.budget.Bps == 0 {
		return (v.server != nil) != (v.budget.Bps > 0)
	}
	_, isKnown := v.server.Acked()
	return !isKnown && v.hasRoot && (s.seq-v.firstSeq > maxUnconfirmed || v.isRootTooOld(s.seq))
}

// isRootTooOld reports whether packet seq cannot name the frame that the display begins with, and must,
// because the receiver may not have begun the stream.
func (v *senderViews) isRootTooOld(seq uint64) bool {
	if v.server == nil || !v.hasRoot || seq-v.root <= maxRootDistance {
		return false
	}
	_, isKnown := v.server.Acked()
	return !isKnown
}

// switchViews begins a stream of view frames if there is a budget, and otherwise returns to whole frames.
func (s *Sender) switchViews() {
	v := &s.views
	if v.budget.Bps == 0 {
		v.server = nil
		v.bucket = view.Bucket{}
		s.minAckSeq, s.hasAck, s.newestAcked = s.seq, false, 0 // the receiver has no whole frames to refer to
		clear(s.acked[:])
		return
	}
	root := s.coder.Initial(0)[0].Frame
	restarts := v.server != nil // because the receiver may not have the root
	v.hasRoot = false
	if e := s.ackedEntry(s.newestAcked); s.hasAck && e != nil && !restarts {
		root, v.root, v.hasRoot = &e.Frame, e.Seq, true
	}
	if !v.sharesFiller {
		v.filler = view.NewFiller(s.schema) // not that of an earlier stream, which has missed frames since
		v.filler.Probe = s.coder.Probe
	}
	v.server = view.NewServer(v.filler, root)
	if s.sent != nil {
		v.server.KeepMemos()
	} else {
		for ; s.oldestShared < s.seq; s.oldestShared++ {
			s.history.Drop(s.oldestShared) // whole frames are no longer references
		}
	}
	v.stream = max(1, v.stream+1) // never 0
	v.firstSeq = s.seq
	v.configure()
}

// epochBegins records whether the epoch that begins has view frames.
func (v *senderViews) epochBegins(epoch uint64) {
	v.streams[uint8(epoch)] = 0
	if v.server != nil {
		v.server.BeginEpoch()
		v.streams[uint8(epoch)] = v.stream
	}
}

// viewHeader returns the header of the next packet, which contains a view frame.
func (s *Sender) viewHeader() header {
	v := &s.views
	h := s.header()
	h.baseline, h.view, h.stream = v.server.AckName(), true, v.stream
	if distance := s.seq - v.root; v.hasRoot && distance <= maxRootDistance {
		h.root = uint8(distance)
	}
	return h
}

// Room returns the size of the smallest packet for which the budget must have room, and the size that
// the budget allows at now. If it allows less than needed, the bucket fills further. Without a budget
// any packet is allowed.
func (s *Sender) Room(now time.Duration) (need, allowed int) {
	if s.views.server == nil {
		return 0, MaxDatagram
	}
	v, h := &s.views, s.viewHeader()
	s.buf = h.append(s.buf[:0])
	need = v.server.Need(len(s.buf), v.bucket.MaxNeed())
	return need, min(v.bucket.Allow(now, need), MaxDatagram)
}

// sendView is send for a view frame of cur.
func (s *Sender) sendView(now time.Duration, cur *frame.Frame, changed frame.Rows, budget *encoders.Budget) (Packet, error) {
	v := &s.views
	_, allowed := s.Room(now)
	if v.limit > 0 {
		allowed = min(allowed, v.limit)
	}
	h := s.viewHeader()
	out := s.beginPacket(&h)
	coding := view.Coding{Encoder: s.encoding.Encoder, Epoch: s.epoch, TickHz: s.cadence.TickHz, RateHz: s.cadence.RateHz, RefTick: s.cadence.InitialTick(s.seq),
		Player: v.budget.Player, MaxPayload: min(v.bucket.MaxNeed(), MaxDatagram) - out.Header}
	if acked, ok := v.server.Acked(); ok {
		coding.RefTick, out.Baseline = uint32(s.cadence.Tick(acked)), int(s.seq-acked)
	}
	v.advance(cur, changed)
	p, err := v.filler.Fill(v.server, s.seq, coding, allowed-out.Header, budget)
	s.seq++
	if err != nil { // after view.ErrNoRoom the bucket fills to what the packet needs
		return out, fmt.Errorf("encoder %s: %w", out.Codec, err)
	}
	v.packet = ViewPacket{Packet: p, Allowed: allowed}
	out.View, out.WithoutMemo = &v.packet, p.WithoutMemo
	s.endPacket(now, &out, append(s.buf, p.Payload...), nil, nil)
	v.bucket.Spend(now, len(s.buf))
	return out, nil
}

// readViewAck is readAck for the ack of a display. epoch is that in the ack. An ack of a stream that has
// ended is not valid.
func (s *Sender) readViewAck(src []byte, epoch uint8) (out sentAck, err error) {
	if s.views.server == nil || s.views.streams[epoch] != s.views.stream {
		return out, nil
	}
	a, err := s.views.server.HandleAck(src)
	if err != nil {
		return out, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return sentAck{newest: a.Newest, mask: a.Mask, epoch: epoch, isNew: a.IsNew, isValid: true, report: a.Rest}, nil
}

// receiverViews is the state of a receiver of view frames.
type receiverViews struct {
	client *view.Client // of the newest stream; nil before the first
	stream uint8
	since  uint64 // epoch with which the receiver joined the stream

	newest uint64 // newest packet of the stream whose entry in the history has the display
}

// View returns what the receiver shows if packets contain view frames; nil otherwise.
func (r *Receiver) View() *view.Client {
	if !r.epochs[r.newestEpoch%StoredEpochs].view {
		return nil
	}
	return r.views.client
}

// receiveView continues receive for a packet with a view frame, which decoder d decodes. The history
// then contains the display, and out.Frame is the view frame.
func (r *Receiver) receiveView(out Reception, h *header, d *epochDecoder, payload []byte) Reception {
	out.HasView = true
	client := r.clientFor(h, d, out.Seq)
	if client == nil {
		return r.refuseView(out, errNoStream)
	}
	if !client.Accepts(out.Seq) {
		return r.refuseView(out, errLateView)
	}
	ref, ok := client.Reference(h.baseline, d.epoch, r.cadence.InitialTick(out.Seq))
	if !ok {
		return r.refuseView(out, errNoDisplay)
	}
	if out.Fresh {
		r.coder.DropSpare()
	} else {
		r.coder.SetSpare(client.SpareMemo(d.epoch), d.epoch)
	}
	refs := [1]encoders.Ref{ref}
	memo, err := r.coder.Decode(d.dec, uint32(r.cadence.Tick(out.Seq)), d.epoch, payload, refs[:])
	if err != nil {
		out.Outcome, out.Err = Corrupt, err
		return out
	}
	if _, ok := client.Apply(out.Seq, h.baseline, r.coder.Decoded(), memo, d.epoch); !ok {
		return r.refuseView(out, errUnlistable)
	}
	if client != r.views.client {
		r.views = receiverViews{client: client, stream: d.stream, since: d.epoch}
	}
	r.accept(&out, d)
	out.Frame = r.coder.Decoded()
	r.acks.Add(out.Seq)
	return r.storeDisplay(out, d.epoch)
}

// storeDisplay stores the display, to which packet out was applied, in the history with the epoch of
// that packet, and returns out with the entry if the packet is the newest.
func (r *Receiver) storeDisplay(out Reception, epoch uint64) Reception {
	switch {
	case out.Outcome == Decoded:
		r.views.newest = out.Seq
	case r.views.newest != r.acks.Newest: // the newest packet has a whole frame, because there is no budget any more
		return out
	}
	if !r.storesFrames {
		return out
	}
	shown := frame.Frame{Tick: uint32(r.cadence.Tick(r.acks.Newest)), Table: r.views.client.Display()}
	if entry := r.coder.Put(r.acks.Newest, epoch); entry != nil {
		entry.Copy(&shown)
		if out.Outcome == Decoded {
			out.Entry = entry
		}
	}
	return out
}

// The reasons why a display does not take a packet.
var (
	errNoStream   = errors.New("endpoint: the receiver does not have the frame that the display with a budget begins with, or has begun a later one")
	errLateView   = fmt.Errorf("endpoint: it is more than %d packets older than the newest, and the display takes no older ones", view.Window)
	errNoDisplay  = errors.New("endpoint: the receiver can no longer restore the display that is its reference")
	errUnlistable = errors.New("endpoint: acks cannot list it, because it is too far from other packets")
)

// refuseView returns out for a packet that the display does not take for the reason err.
func (r *Receiver) refuseView(out Reception, err error) Reception {
	out.Outcome, out.Err = NoBaseline, err
	r.recordArrival(out.Seq)
	return out
}

// clientFor returns the client of the stream of decoder d, a new one if packet seq begins a stream. It
// returns nil if the stream is an old one, or if the receiver does not have the frame that it begins
// with.
func (r *Receiver) clientFor(h *header, d *epochDecoder, seq uint64) *view.Client {
	v := &r.views
	if v.client != nil && v.stream == d.stream {
		return v.client
	}
	if !h.hasParams || v.client != nil && d.epoch <= v.since {
		return nil
	}
	if h.root == 0 {
		root := *r.coder.Initial(0)[0].Frame // shares the table, which is not modified
		return view.NewClient(r.schema, &root)
	}
	e := r.history.Get(seq - min(seq, uint64(h.root)))
	if e == nil {
		return nil
	}
	root := r.schema.NewFrame()
	root.CopyFrom(&e.Frame)
	return view.NewClient(r.schema, root)
}
