package endpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
	"wirelab/internal/window"
)

// StoredEpochs is the number of newest epochs whose decoders a receiver stores, to decode late packets.
const StoredEpochs = 8

// Receiver is the endpoint that decodes frames. Create it with NewReceiver. It is not safe for use by
// several goroutines.
type Receiver struct {
	schema  *frame.Schema
	cadence Cadence
	coder   drive.End      // calls the decoders
	history *frame.History // stored frames; the same as coder.History
	codecs  []encoders.Codec

	storesFrames bool // false with an Options.History of 0

	epochs      [StoredEpochs]epochDecoder // the decoder of epoch e is at e % StoredEpochs
	newestEpoch uint64                     // of the newest decoded packet
	anyEpoch    bool                       // there is a decoder

	newestSeq uint64                // newest sequence number that arrived; before the first arrival, the one expected
	started   bool                  // a packet has arrived
	seen      window.Seen           // decoded packets, to recognise duplicates
	acks      window.Recent[uint64] // decoded packets, for acks

	views receiverViews

	// For AppendAckAt: the newest packet and when it arrived.
	hasArrived bool
	arrivedSeq uint64
	arrivedAt  time.Duration
}

// epochDecoder is the decoder of an epoch.
type epochDecoder struct {
	epoch   uint64
	codec   *encoders.Codec
	params  []byte // canonical parameters
	dec     encoders.Decoder
	decoded int  // packets decoded
	view    bool // packets contain view frames
	stream  uint8
}

// confirmedAfter is the number of packets that a decoder must decode to be confirmed. The parameters in
// a packet, which may be damaged, do not replace a confirmed decoder of the same epoch, unless the
// baseline of the packet is the initial state: a sender without acks sends such packets.
const confirmedAfter = 3

// NewReceiver returns a receiver of frames of schema s for the given codecs. initial is the initial
// state; the receiver shares its memory and that of known, so both must not be modified.
func NewReceiver(s *frame.Schema, initial *frame.Frame, known []encoders.Codec, opt Options) *Receiver {
	coder := opt.newCoder(s, initial, frame.NewHistory(opt.History))
	return &Receiver{schema: s, cadence: opt.cadence(), coder: coder, history: coder.History, codecs: known, storesFrames: opt.History > 0}
}

// History returns the frames that the receiver stores. The caller must not modify them.
func (r *Receiver) History() *frame.History { return r.history }

// StartAt sets the sequence number of the first packet to expect, for a receiver that joins a running
// session. The default is 0.
func (r *Receiver) StartAt(seq uint64) { r.newestSeq = seq }

// Decoder returns the decoder of the newest epoch; nil before the first packet.
func (r *Receiver) Decoder() encoders.Decoder { return r.epochs[r.newestEpoch%StoredEpochs].dec }

// Reception is the result of receiving one datagram.
type Reception struct {
	Outcome   Outcome
	Seq       uint64       // full sequence number; 0 if the header is malformed
	Frame     *frame.Frame // the decoded frame; nil if nothing was decoded
	Entry     *frame.Entry // the frame's entry in the history; nil if the frame is too old to be stored
	Reordered bool         // a newer packet arrived before it
	Err       error        // why it was not decoded; nil for outcomes without an error

	Epoch   uint64 // 0 if the receiver has no decoder for the packet's epoch
	HasView bool   // the packet contains a view frame; Entry then has the receiver's display
	Fresh   bool   // the decoder was created from the parameters in this packet
}

// Receive handles one datagram, which may be any bytes. The pointers in the result are valid until
// the next call.
func (r *Receiver) Receive(datagram []byte) Reception {
	r.Finish()
	h, payload, err := parseHeader(datagram, r.refCount)
	if err != nil {
		return Reception{Outcome: Corrupt, Err: err}
	}
	out, d := r.findDecoder(&h)
	if d == nil { // out.Outcome is the reason
		return out
	}
	if d.view {
		return r.receiveView(out, &h, d, payload)
	}
	refs, ok := r.findRefs(out.Seq, &h, d)
	if !ok {
		out.Outcome = NoBaseline
		r.recordArrival(out.Seq)
		return out
	}
	return r.decode(out, d, payload, refs)
}

// Finish completes the work that the last Receive deferred because of Options.Defer. The caller calls
// it after displaying and acking the frame; otherwise the next Receive does.
func (r *Receiver) Finish() { r.coder.Finish() }

// findDecoder finds the decoder of the packet with header h, and its sequence number, which is near the
// newest one. d is nil if the packet is a duplicate, or if there is no decoder; out.Outcome is the
// reason.
func (r *Receiver) findDecoder(h *header) (out Reception, d *epochDecoder) {
	out = Reception{Seq: unwrap(r.newestSeq, uint16(h.seq))}
	out.Reordered = r.started && out.Seq < r.newestSeq
	if r.seen.Has(out.Seq) {
		out.Outcome = Duplicate
		return out, nil
	}
	d, fresh, err := r.decoderFor(h)
	if err != nil {
		out.Outcome, out.Err = UnknownCodec, err
		return out, nil
	}
	out.Epoch, out.Fresh = d.epoch, fresh
	return out, d
}

// decode decodes the payload with d, stores the frame in the history, and returns out with the result. If
// the decoder is fresh and succeeds, decode installs it. A packet that cannot be decoded changes nothing.
func (r *Receiver) decode(out Reception, d *epochDecoder, payload []byte, refs []encoders.Ref) Reception {
	if out.Fresh {
		r.coder.DropSpare()
	}
	memo, err := r.coder.Decode(d.dec, uint32(r.cadence.Tick(out.Seq)), d.epoch, payload, refs)
	if err != nil {
		out.Outcome, out.Err = Corrupt, err
		return out
	}
	r.accept(&out, d)
	out.Entry = r.coder.StoreDecoded(out.Seq, out.Epoch, memo)
	if out.Entry == nil { // too old for the history: the frame is reported but not acked
		out.Frame = r.coder.Decoded()
		return out
	}
	out.Frame = &out.Entry.Frame
	r.acks.Add(out.Seq)
	return out
}

// accept records that decoder d has decoded the packet of out, and sets the outcome.
func (r *Receiver) accept(out *Reception, d *epochDecoder) {
	d.decoded++
	if out.Fresh {
		r.install(d)
	}
	out.Outcome = Decoded
	if r.acks.Any && out.Seq < r.acks.Newest && r.schema.Delivery == frame.Latest { // messages are never stale
		out.Outcome = Stale
	}
	r.recordArrival(out.Seq)
	r.seen.Add(out.Seq)
}

// recordArrival records that packet seq arrived, and updates the newest sequence number.
func (r *Receiver) recordArrival(seq uint64) {
	if !r.started || seq > r.newestSeq {
		r.newestSeq, r.started = seq, true
	}
}

// codec returns the codec with the given ID; nil if it is unknown.
func (r *Receiver) codec(id uint8) *encoders.Codec {
	for i := range r.codecs {
		if r.codecs[i].ID == id {
			return &r.codecs[i]
		}
	}
	return nil
}

// refCount returns the number of references that a codec uses; 0 for an unknown codec.
func (r *Receiver) refCount(id uint8) int {
	if c := r.codec(id); c != nil {
		return c.Refs
	}
	return 0
}

var (
	errUnknownCodec = errors.New("endpoint: the packet's codec is unknown or cannot decode frames of this schema")
	errUnknownEpoch = errors.New("endpoint: the parameters of the packet's epoch never arrived")
)

// decoderFor returns the decoder of the packet's epoch. fresh means that it was created from the
// parameters in the packet, because the receiver has no decoder with this codec and these parameters; it is
// installed only after it has decoded the packet, so that a damaged packet cannot replace a working decoder.
// decoderFor fails if the codec is unknown, if the parameters are missing or invalid, or if they contradict a
// confirmed decoder of the epoch; see confirmedAfter.
func (r *Receiver) decoderFor(h *header) (d *epochDecoder, fresh bool, err error) {
	codec := r.codec(h.codec)
	epoch := uint64(h.epoch)
	if r.anyEpoch {
		epoch = unwrapEpoch(r.newestEpoch, h.epoch)
	}
	d = &r.epochs[epoch%StoredEpochs]
	sameEpoch := d.dec != nil && d.epoch == epoch
	matches := codec != nil && sameEpoch && d.codec.ID == codec.ID && (!h.hasParams || bytes.Equal(d.params, h.params) && d.view == h.view && d.stream == h.stream)
	if matches {
		return d, false, nil
	}
	if codec == nil || !codec.Suits(r.schema) {
		return nil, false, errUnknownCodec
	}
	contradictsConfirmed := sameEpoch && d.decoded >= confirmedAfter && h.baseline != 0
	if !h.hasParams || contradictsConfirmed {
		return nil, false, errUnknownEpoch
	}
	d = &epochDecoder{}
	return d, true, d.build(r.schema, codec, h, epoch)
}

// build sets d to a new decoder of codec for frames of schema s, with the parameters in header h. epoch
// is the full number of the epoch, of which the header has only 8 bits.
func (d *epochDecoder) build(s *frame.Schema, codec *encoders.Codec, h *header, epoch uint64) error {
	params, err := codec.ParseCanonical(h.params)
	if err != nil {
		return err
	}
	_, dec, err := codec.New(s, params)
	if err != nil {
		return err
	}
	d.epoch, d.codec, d.params, d.dec = epoch, codec, bytes.Clone(h.params), dec
	d.view, d.stream = h.view, h.stream
	return nil
}

// install stores a fresh decoder, unless its slot contains a decoder of a newer epoch. If it replaces a
// decoder of the same epoch, the memos of that decoder, which belong to other parameters, are dropped.
func (r *Receiver) install(d *epochDecoder) {
	slot := &r.epochs[d.epoch%StoredEpochs]
	if slot.dec != nil && slot.epoch > d.epoch {
		return
	}
	if slot.dec != nil && slot.epoch == d.epoch {
		r.coder.DropSpare()
		r.history.Each(func(e *frame.Entry) {
			if e.Epoch == d.epoch && e.Memo != nil {
				e.Memo = nil
			}
		})
	}
	*slot = *d
	if !r.anyEpoch || d.epoch > r.newestEpoch {
		r.newestEpoch, r.anyEpoch = d.epoch, true
	}
}

// findRefs looks up the references of packet seq, whose header is h, in the history. It returns false if
// one is missing. d is the packet's decoder.
func (r *Receiver) findRefs(seq uint64, h *header, d *epochDecoder) ([]encoders.Ref, bool) {
	if h.baseline == 0 {
		return r.coder.Initial(r.cadence.InitialTick(seq)), true
	}
	var entries [2]*frame.Entry
	n := 0
	for _, distance := range [2]uint8{h.baseline, h.second} {
		if distance == 0 {
			break // no second reference
		}
		if uint64(distance) > seq { // before the first packet: the header is damaged
			return nil, false
		}
		e := r.history.Get(seq - uint64(distance))
		if e == nil {
			return nil, false
		}
		entries[n] = e
		n++
	}
	return r.coder.Refs(d.epoch, entries[:n]...), true
}

// AppendAck appends an ack to dst: which packets were decoded, the newest epoch, and the report of a
// decoder that implements encoders.Feedback. It appends nothing until a packet was decoded. Send an ack
// after each call of Receive.
func (r *Receiver) AppendAck(dst []byte) []byte {
	if !r.acks.Any {
		return dst
	}
	d := &r.epochs[r.newestEpoch%StoredEpochs]
	if d.view && r.views.client != nil {
		return d.appendReport(r.views.client.AppendAck(dst, uint8(r.newestEpoch)), r.newestEpoch)
	}
	a := ack{newest: uint16(r.acks.Newest), mask: uint32(r.acks.Mask), epoch: uint8(r.newestEpoch)}
	return d.appendReport(a.append(dst), r.newestEpoch)
}

// appendReport appends the report of a decoder that implements encoders.Feedback, if it is that of the
// given epoch.
func (d *epochDecoder) appendReport(dst []byte, epoch uint64) []byte {
	if f, ok := d.dec.(encoders.Feedback); ok && d.epoch == epoch {
		dst = f.Report(dst)
	}
	return dst
}

// AppendAckAt is AppendAck with the time at which the newest packet arrived, for senders whose control
// needs it; see NeedsArrivals. now is the time of the last call of Receive. The sender must call
// HandleAckAt.
func (r *Receiver) AppendAckAt(dst []byte, now time.Duration) []byte {
	if !r.acks.Any {
		return dst
	}
	if r.arrivedSeq != r.acks.Newest || !r.hasArrived {
		r.hasArrived, r.arrivedSeq, r.arrivedAt = true, r.acks.Newest, now
	}
	return binary.LittleEndian.AppendUint16(r.AppendAck(dst), uint16(r.arrivedAt/arrivalUnit))
}

// Outcome is the outcome of receiving a datagram.
type Outcome uint8

// The outcomes.
const (
	Decoded      Outcome = iota // decoded, and newer than all frames decoded before
	Stale                       // decoded after a newer frame; still stored and acked
	Duplicate                   // a copy of a packet that was decoded before
	NoBaseline                  // the receiver does not have the reference, or the display does not take the packet
	Corrupt                     // malformed, or rejected by the decoder
	UnknownCodec                // has a codec or an epoch that is unknown to the receiver
	numOutcomes
)

// String returns the outcome's name as in reports, such as "no_baseline".
func (o Outcome) String() string {
	names := [numOutcomes]string{"decoded", "stale", "duplicate", "no_baseline", "corrupt", "unknown_codec"}
	if o < numOutcomes {
		return names[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// AckSize returns the size in bytes of an ack without the report of a decoder. withArrival means an ack
// of AppendAckAt.
func (r *Receiver) AckSize(withArrival bool) int {
	if withArrival {
		return AckBytes + arrivalBytes
	}
	return AckBytes
}
