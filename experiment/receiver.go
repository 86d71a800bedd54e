package experiment

import (
	"bytes"
	"errors"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// keptEpochs is how many epochs back a receiver can still decode late packets.
const keptEpochs = 8

// receiver is the endpoint that decodes. All it knows came in datagrams, but for
// the schema and the initial state that both ends are configured with.
type receiver struct {
	schema  *frame.Schema
	initial frame.Frame // its table is shared
	cadence cadence
	history *frame.History
	codecs  [128]encoders.Codec // by ID

	epochs   [keptEpochs]epochDecoder // epoch e lives at e % keptEpochs
	newest   uint64                   // epoch
	anyEpoch bool

	top     uint64 // newest sequence that arrived; before any did, the first to expect
	started bool
	shown   uint64 // newest sequence that was decoded
	showing bool
	seen    seenWindow
	window  ackWindow

	scratch frame.Frame
	spare   encoders.Memo
	spareOf uint64 // the epoch spare was made in
	refs    [2]encoders.Ref
	tainted bool // the lab's: a reference in use came from damaged bytes
}

// epochDecoder is a decoder with what it was made from.
type epochDecoder struct {
	epoch   uint64
	codec   *encoders.Codec
	params  []byte // canonical
	dec     encoders.Decoder
	used    int  // packets it decoded
	tainted bool // the lab's: made from a damaged packet
}

// settledAfter is how many packets make a decoder beyond doubt: from then on only
// a packet that needs nothing but the initial state can replace it by naming
// other params for its epoch, as a sender does that found itself cut off.
const settledAfter = 3

func newReceiver(s *frame.Schema, initial *frame.Frame, history int, known []encoders.Codec) *receiver {
	r := &receiver{schema: s, initial: *initial, cadence: steady, history: frame.NewHistory(s, history)}
	for _, c := range known {
		r.codecs[c.ID&0x7f] = c
	}
	r.scratch.Table = make([]int32, s.Cells())
	return r
}

// reception is what became of one datagram.
type reception struct {
	outcome   Outcome
	seq       uint64
	frame     *frame.Frame // what was decoded; nil if nothing was
	entry     *frame.Entry // where it is kept; nil if it is too old
	reordered bool         // an older packet than one that came before
	tainted   bool         // the lab's: rests on damaged bytes
	clock     int64        // ns the decoder took
	err       error        // what the decoder complained of
}

// receive takes one datagram. damaged is the lab's knowledge that bits were
// flipped; the endpoint acts on the bytes alone. The frame in the answer holds
// until the next call.
func (r *receiver) receive(datagram []byte, damaged bool, clock Clock) reception {
	h, payload, err := parseHeader(datagram, r.refsOf)
	if err != nil {
		return reception{outcome: Corrupt, err: err, tainted: damaged}
	}
	out, d, fresh := r.recognise(&h, damaged)
	if d == nil {
		return out
	}
	refs, ok := r.findRefs(out.seq, &h, d)
	out.tainted = out.tainted || r.tainted || d.tainted
	if !ok {
		out.outcome = NoBaseline
		r.arrived(out.seq)
		return out
	}
	return r.decode(out, d, fresh, payload, refs, clock)
}

// recognise says which packet a header is of, and who decodes it, and whether that
// decoder is fresh; d is nil if nobody does: it came before, or its codec is unknown.
func (r *receiver) recognise(h *header, damaged bool) (out reception, d *epochDecoder, fresh bool) {
	out = reception{seq: uint64(h.seq), tainted: damaged}
	if r.started || r.top > 0 {
		out.seq = unwrap(r.top, h.seq)
	}
	out.reordered = r.started && out.seq < r.top
	if r.seen.has(out.seq) {
		out.outcome = Duplicate
		return out, nil, false
	}
	d, fresh, err := r.decoder(h, damaged)
	if err != nil {
		out.outcome, out.err = UnknownCodec, err
		return out, nil, false
	}
	return out, d, fresh
}

// decode lets d have the payload, and keeps what comes of it.
func (r *receiver) decode(out reception, d *epochDecoder, fresh bool, payload []byte, refs []encoders.Ref, clock Clock) reception {
	spare := r.spare
	if r.spareOf != d.epoch || fresh {
		spare = nil
	}
	start := clock.now()
	r.scratch.Tick = uint32(r.cadence.tick(out.seq))
	memo, err := d.dec.Decode(&r.scratch, payload, refs, spare)
	out.clock = clock.now() - start
	r.scratch.Tick = uint32(r.cadence.tick(out.seq)) // a decoder may have begun with a copy of its reference
	if err != nil {
		out.outcome, out.err = Corrupt, err
		return out
	}
	if spare != nil {
		r.spare = nil
	}
	d.used++
	if fresh {
		r.install(d)
	}
	out.outcome = Decoded
	if r.showing && out.seq < r.shown && r.schema.Delivery == frame.Latest {
		out.outcome = Stale
	}
	r.arrived(out.seq)
	r.seen.note(out.seq)
	if !r.showing || out.seq > r.shown {
		r.shown, r.showing = out.seq, true
	}
	if out.entry = r.keep(&out, d.epoch, memo); out.entry == nil {
		out.frame = &r.scratch
		return out
	}
	out.frame = &out.entry.Frame
	r.window.note(out.seq)
	return out
}

func (r *receiver) arrived(seq uint64) {
	if !r.started || seq > r.top {
		r.top, r.started = seq, true
	}
}

func (r *receiver) refsOf(codec uint8) int { return r.codecs[codec].Refs }

var (
	errUnknownCodec = errors.New("experiment: packet names a codec that does not exist or does not suit")
	errUnknownEpoch = errors.New("experiment: packet of an epoch whose params never came")
)

// decoder returns the decoder of the packet's epoch. One that had to be made
// from the packet's own params is fresh: it is installed only when it has proved
// itself, so that no single packet can put another in the place of one that works.
func (r *receiver) decoder(h *header, damaged bool) (d *epochDecoder, fresh bool, err error) {
	codec := &r.codecs[h.codec]
	if codec.New == nil || !codec.Suits(r.schema) {
		return nil, false, errUnknownCodec
	}
	epoch := uint64(h.epoch)
	if r.anyEpoch {
		epoch = unwrapEpoch(r.newest, h.epoch)
	}
	d = &r.epochs[epoch%keptEpochs]
	same := d.dec != nil && d.epoch == epoch
	agrees := same && d.codec.ID == codec.ID && (!h.hasParams || bytes.Equal(d.params, h.params))
	if agrees {
		d.tainted = d.tainted && (damaged || !h.hasParams)
		return d, false, nil
	}
	settled := same && d.used >= settledAfter && h.baseline != 0
	if !h.hasParams || settled {
		return nil, false, errUnknownEpoch
	}
	d = &epochDecoder{tainted: damaged}
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

// install puts a fresh decoder in its place, unless a newer epoch is there: then
// it was a straggler's. What another decoder of the very same epoch has learnt is
// of no use to this one.
func (r *receiver) install(d *epochDecoder) {
	place := &r.epochs[d.epoch%keptEpochs]
	if place.dec != nil && place.epoch > d.epoch {
		return
	}
	if place.dec != nil && place.epoch == d.epoch {
		r.spare = nil
		r.history.Each(func(e *frame.Entry) {
			if e.Epoch == d.epoch && e.Memo != nil {
				e.Memo, e.Tainted = nil, true
			}
		})
	}
	*place = *d
	if !r.anyEpoch || d.epoch > r.newest {
		r.newest, r.anyEpoch = d.epoch, true
	}
}

// findRefs looks the packet's references up.
func (r *receiver) findRefs(seq uint64, h *header, d *epochDecoder) ([]encoders.Ref, bool) {
	r.tainted = false
	if h.baseline == 0 {
		r.initial.Tick = r.cadence.start(seq)
		r.refs[0] = encoders.Ref{Frame: &r.initial}
		return r.refs[:1], true
	}
	n := 0
	for _, distance := range [2]uint8{h.baseline, h.second} {
		if distance == 0 {
			break
		}
		if uint64(distance) > seq {
			return nil, false
		}
		e := r.history.Get(seq - uint64(distance))
		if e == nil {
			return nil, false
		}
		r.refs[n] = encoders.Ref{Frame: &e.Frame}
		if e.Epoch == d.epoch {
			r.refs[n].Memo = e.Memo
		}
		r.tainted = r.tainted || e.Tainted
		n++
	}
	return r.refs[:n], true
}

// keep moves the decoded frame into the history; nil if it is too old for it.
func (r *receiver) keep(rx *reception, epoch uint64, memo encoders.Memo) *frame.Entry {
	e := r.history.Put(rx.seq)
	if e == nil {
		return nil
	}
	if e.Memo != nil {
		r.spare, r.spareOf = e.Memo, e.Epoch
	}
	e.Frame, r.scratch = r.scratch, e.Frame
	e.Memo, e.Epoch, e.Tainted = memo, epoch, rx.tainted
	return e
}

// ack writes what the receiver has to say; empty until something was decoded.
func (r *receiver) ack(dst []byte) []byte {
	if !r.window.any {
		return dst
	}
	a := ack{newest: uint16(r.window.newest), mask: r.window.mask, epoch: uint8(r.newest)}
	dst = a.append(dst)
	d := &r.epochs[r.newest%keptEpochs]
	if f, ok := d.dec.(encoders.Feedback); ok && d.epoch == r.newest {
		dst = f.Report(dst)
	}
	return dst
}
