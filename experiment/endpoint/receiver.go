package endpoint

import (
	"bytes"
	"errors"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
)

// KeptEpochs is how many epochs back a receiver can still decode late packets.
const KeptEpochs = 8

// Receiver is the endpoint that decodes. It is configured with the schema, the
// initial state and the codecs. Datagrams carry everything else.
type Receiver struct {
	schema  *frame.Schema
	cadence Cadence
	end     drive.End
	history *frame.History      // of end
	codecs  [128]encoders.Codec // by ID

	epochs   [KeptEpochs]epochDecoder // of epoch e at e % KeptEpochs
	newest   uint64                   // epoch
	anyEpoch bool

	top     uint64 // newest sequence that arrived; before the first arrival, the first to expect
	started bool
	seen    seenWindow
	window  ackWindow
	guard   guard

	digest   digester
	reported []byte // the digest in the newest ack
}

// epochDecoder is a decoder with what it was made from.
type epochDecoder struct {
	epoch  uint64
	codec  *encoders.Codec
	params []byte // canonical
	dec    encoders.Decoder
	used   int // packets it decoded
}

// settledAfter is how many packets a decoder has to decode until only a packet whose baseline is
// the initial state can replace it with other params for the same epoch. A sender that has lost
// contact sends such packets.
const settledAfter = 3

// NewReceiver returns a receiver for the codecs of known. It shares the table of
// initial, which must not be modified.
func NewReceiver(s *frame.Schema, initial *frame.Frame, known []encoders.Codec, opt Options) *Receiver {
	end := opt.end(s, initial, frame.NewHistory(s, opt.History))
	r := &Receiver{schema: s, cadence: opt.cadence(), end: end, history: end.History, digest: newDigester(&opt)}
	for _, c := range known {
		r.codecs[c.ID&0x7f] = c
	}
	return r
}

// History returns the frames that the receiver holds. The caller must not modify
// them.
func (r *Receiver) History() *frame.History { return r.history }

// StartAt sets the sequence of the first packet to expect.
func (r *Receiver) StartAt(seq uint64) { r.top = seq }

// Decoder returns the decoder of the newest epoch; nil before the first packet.
func (r *Receiver) Decoder() encoders.Decoder { return r.epochs[r.newest%KeptEpochs].dec }

// Reception is the result of receiving one datagram.
type Reception struct {
	Outcome   Outcome
	Seq       uint64
	Frame     *frame.Frame // the decoded frame; nil if nothing was decoded
	Entry     *frame.Entry // its entry in the history; nil if the frame is too old
	Reordered bool         // a newer packet arrived before it
	Err       error        // why it could not be decoded

	// The packets that it references: the first NRefs entries. If NRefs is 0, it
	// references the initial state.
	Refs  [2]uint64
	NRefs int

	// The decoder of the packet's epoch.
	HasDecoder bool // there is one; if not, the fields below are unset
	Epoch      uint64
	HasParams  bool // the packet carried the params
	Fresh      bool // the decoder was made from this packet's params
	Installed  bool // the fresh decoder now decodes its epoch
	Replaced   bool // it replaced another of the same epoch, whose memos were dropped
}

// Receive handles one datagram. The pointers in the result are valid until the next
// call.
func (r *Receiver) Receive(datagram []byte) Reception {
	r.Finish()
	h, payload, err := parseHeader(datagram, r.refsOf, r.digest.numbered)
	if err != nil {
		return Reception{Outcome: Corrupt, Err: err}
	}
	seq := r.number(&h)
	if !r.accepts(&h, seq) {
		return Reception{Outcome: Corrupt, Seq: seq, Err: ErrDoubted}
	}
	out, d := r.recognise(&h, seq)
	if d == nil {
		return out
	}
	refs, ok := r.findRefs(&out, &h, d)
	if !ok {
		out.Outcome = NoBaseline
		r.arrived(out.Seq)
		return out
	}
	return r.decode(out, d, payload, refs)
}

// Finish does the work that Options.Defer let the last Receive leave. The caller calls it once the
// frame is shown and acked; if not, the next Receive does.
func (r *Receiver) Finish() { r.end.Finish() }

// recognise finds the decoder of packet seq. d is nil for a duplicate or an unknown
// codec.
func (r *Receiver) recognise(h *header, seq uint64) (out Reception, d *epochDecoder) {
	out = Reception{Seq: seq}
	out.Reordered = r.started && out.Seq < r.top
	if r.seen.has(out.Seq) {
		out.Outcome = Duplicate
		return out, nil
	}
	d, fresh, err := r.decoder(h)
	if err != nil {
		out.Outcome, out.Err = UnknownCodec, err
		return out, nil
	}
	out.HasDecoder, out.Epoch, out.HasParams, out.Fresh = true, d.epoch, h.hasParams, fresh
	return out, d
}

// decode decodes the payload with d, and stores the frame in the history.
func (r *Receiver) decode(out Reception, d *epochDecoder, payload []byte, refs []encoders.Ref) Reception {
	if out.Fresh {
		r.end.DropSpare()
	}
	memo, err := r.end.Decode(d.dec, uint32(r.cadence.Tick(out.Seq)), d.epoch, payload, refs)
	if err != nil {
		out.Outcome, out.Err = Corrupt, err
		return out
	}
	d.used++
	if out.Fresh {
		r.install(&out, d)
	}
	out.Outcome = Decoded
	if r.window.any && out.Seq < r.window.newest && r.schema.Delivery == frame.Latest {
		out.Outcome = Stale
	}
	r.arrived(out.Seq)
	r.seen.note(out.Seq)
	out.Entry = r.end.Keep(out.Seq, out.Epoch, memo)
	if out.Entry == nil {
		out.Frame = r.end.Decoded()
		return out
	}
	out.Frame = &out.Entry.Frame
	r.window.note(out.Seq)
	return out
}

func (r *Receiver) arrived(seq uint64) {
	if !r.started || seq > r.top {
		r.top, r.started = seq, true
	}
}

func (r *Receiver) refsOf(codec uint8) int { return r.codecs[codec].Refs }

var (
	errUnknownCodec = errors.New("endpoint: packet names a codec that does not exist or does not suit")
	errUnknownEpoch = errors.New("endpoint: packet of an epoch whose params never came")
)

// decoder returns the decoder of the packet's epoch. It is fresh if it was made from
// the packet's own params. A fresh decoder is installed only after it has decoded its
// packet, so that a bad packet cannot replace a working decoder.
func (r *Receiver) decoder(h *header) (d *epochDecoder, fresh bool, err error) {
	codec := &r.codecs[h.codec]
	epoch := uint64(h.epoch)
	if r.anyEpoch {
		epoch = unwrapEpoch(r.newest, h.epoch)
	}
	d = &r.epochs[epoch%KeptEpochs]
	same := d.dec != nil && d.epoch == epoch
	agrees := same && d.codec.ID == codec.ID && (!h.hasParams || bytes.Equal(d.params, h.params))
	if agrees {
		return d, false, nil
	}
	if codec.New == nil || !codec.Suits(r.schema) {
		return nil, false, errUnknownCodec
	}
	settled := same && d.used >= settledAfter && h.baseline != 0
	if !h.hasParams || settled {
		return nil, false, errUnknownEpoch
	}
	d = &epochDecoder{}
	return d, true, d.make(r.schema, codec, h, epoch)
}

func (d *epochDecoder) make(s *frame.Schema, codec *encoders.Codec, h *header, epoch uint64) error {
	params, err := codec.ParseCanonical(h.params)
	if err != nil {
		return err
	}
	_, dec, err := codec.New(s, params)
	if err != nil {
		return err
	}
	d.epoch, d.codec, d.params, d.dec = epoch, codec, bytes.Clone(h.params), dec
	return nil
}

// install stores a fresh decoder, unless its slot holds one of a newer epoch. If it
// replaces a decoder of the same epoch, the memos of that decoder are dropped.
func (r *Receiver) install(out *Reception, d *epochDecoder) {
	place := &r.epochs[d.epoch%KeptEpochs]
	if place.dec != nil && place.epoch > d.epoch {
		return
	}
	if place.dec != nil && place.epoch == d.epoch {
		r.end.DropSpare()
		r.history.Each(func(e *frame.Entry) {
			if e.Epoch == d.epoch && e.Memo != nil {
				e.Memo = nil
			}
		})
		out.Replaced = true
	}
	*place = *d
	out.Installed = true
	if !r.anyEpoch || d.epoch > r.newest {
		r.newest, r.anyEpoch = d.epoch, true
	}
}

// findRefs looks up the packet's references and lists them in out; false if one is missing.
func (r *Receiver) findRefs(out *Reception, h *header, d *epochDecoder) ([]encoders.Ref, bool) {
	if h.baseline == 0 {
		return r.end.Initial(r.cadence.start(out.Seq)), true
	}
	var entries [2]*frame.Entry
	for _, distance := range [2]uint8{h.baseline, h.second} {
		if distance == 0 {
			break
		}
		if uint64(distance) > out.Seq {
			return nil, false
		}
		e := r.history.Get(out.Seq - uint64(distance))
		if e == nil {
			return nil, false
		}
		entries[out.NRefs], out.Refs[out.NRefs] = e, e.Seq
		out.NRefs++
	}
	return r.end.Refs(d.epoch, entries[:out.NRefs]...), true
}

// Ack appends an ack to dst; nothing until a packet was decoded.
func (r *Receiver) Ack(dst []byte) []byte {
	if !r.window.any {
		return dst
	}
	a := ack{newest: uint16(r.window.newest), mask: r.window.mask, epoch: uint8(r.newest)}
	// Of frames, what the window notes is kept. Blocks of a file are noted and not kept:
	// their acks have no digest.
	if e := r.history.Get(r.window.newest); e != nil {
		r.reported = r.digest.append(r.reported[:0], e)
		a.digest = r.reported
	}
	dst = a.append(dst)
	d := &r.epochs[r.newest%KeptEpochs]
	if f, ok := d.dec.(encoders.Feedback); ok && d.epoch == r.newest {
		dst = f.Report(dst)
	}
	return dst
}

// Outcome is how receiving a datagram ended.
type Outcome uint8

// The outcomes.
const (
	Decoded      Outcome = iota // decoded, and newer than everything decoded before
	Stale                       // decoded, but older than another; still kept and acked
	Duplicate                   // a copy of a packet that was decoded already
	NoBaseline                  // the receiver no longer holds the reference
	Corrupt                     // malformed, or the decoder refused it
	UnknownCodec                // names a codec or an epoch that the receiver does not know
	numOutcomes
)

// String returns the outcome's name as reports spell it.
func (o Outcome) String() string {
	names := [numOutcomes]string{"decoded", "stale", "duplicate", "no_baseline", "corrupt", "unknown_codec"}
	if o < numOutcomes {
		return names[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// AckSize returns how many bytes an ack takes without a codec's report.
func (r *Receiver) AckSize() int { return ackBytes + r.digest.bytes }
