package endpoint

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/view"
	"wirelab/internal/words"
)

// HeaderField is a field of a packet header or of an ack, with its value as text.
type HeaderField = view.AckField

func field(name, value string, bits int) HeaderField {
	return HeaderField{Name: name, Value: value, Bits: bits}
}

// PacketTrace describes every bit of a packet that was sent.
type PacketTrace struct {
	Datagram []byte // the bytes that were sent: header and payload
	Header   []HeaderField
	Payload  encoders.Trace // of the payload; positions count from its beginning
	Frame    *frame.Frame   // the frame that was encoded
	Base     *frame.Frame   // the newest reference that the encoder had
	Limit    string         // why Payload does not describe rows and fields; empty if it does
}

// HeaderBytes returns the size of the header.
func (t *PacketTrace) HeaderBytes() int {
	n := 0
	for _, f := range t.Header {
		n += f.Bits
	}
	return n / 8
}

// sentPacket contains what Trace needs of a packet in addition to the history.
type sentPacket struct {
	seq      uint64
	used     bool
	epoch    uint64
	hasBase  bool // the newest reference is packet base; otherwise it is the initial state
	base     uint64
	second   int // distance of the second reference; 0 means none
	header   int // bytes
	datagram []byte
	view     *sentView // nil for a whole frame, which the history contains
}

// sentView is a view frame that was sent, and its reference.
type sentView struct {
	frame, ref frame.Frame
	memo       encoders.Memo // of ref
}

// sentEncoding is the encoding of an epoch.
type sentEncoding struct {
	epoch  uint64
	codec  *encoders.Codec
	params any
}

// sentPackets contains the newest packets of a sender with Options.KeepSent.
type sentPackets struct {
	ring      [frame.MaxHistory + 1]sentPacket // packet s is at s % len(ring)
	encodings []sentEncoding                   // newest last; those of all packets in ring
	encoder   encoders.Encoder                 // encodes packets again; nil before the first
	epoch     uint64                           // whose encoding encoder has
}

// add stores packet p of the current encoding. base is the history's entry of the newest reference, nil for
// the initial state.
func (k *sentPackets) add(p *Packet, e *Encoding, base *frame.Entry) {
	if n := len(k.encodings); n == 0 || k.encodings[n-1].epoch != p.Epoch {
		if n >= len(k.ring) { // each epoch has at least one packet
			k.encodings = slices.Delete(k.encodings, 0, n-len(k.ring)+1)
		}
		k.encodings = append(k.encodings, sentEncoding{p.Epoch, e.Codec, e.Params})
	}
	s := &k.ring[p.Seq%uint64(len(k.ring))]
	*s = sentPacket{seq: p.Seq, used: true, epoch: p.Epoch, second: p.Second, header: p.Header, datagram: append(s.datagram[:0], p.Datagram...)}
	if base != nil {
		s.hasBase, s.base = true, base.Seq
	}
	if p.View != nil {
		f, ref := p.View.Frames()
		s.view = &sentView{memo: ref.Memo}
		s.view.frame.CopyFrom(f)
		s.view.ref.CopyFrom(ref.Frame)
	}
}

// get returns packet seq, nil if it is not stored.
func (k *sentPackets) get(seq uint64) *sentPacket {
	if k == nil {
		return nil
	}
	if s := &k.ring[seq%uint64(len(k.ring))]; s.used && s.seq == seq {
		return s
	}
	return nil
}

// encodingOf returns the encoding of a stored packet.
func (k *sentPackets) encodingOf(p *sentPacket) *sentEncoding {
	return &k.encodings[slices.IndexFunc(k.encodings, func(e sentEncoding) bool { return e.epoch == p.epoch })]
}

// Trace encodes packet seq once more and describes each of its bits. It returns nil unless Options.KeepSent
// is set and the history contains the packet and its references. Neither the history nor the encoder of later
// packets is affected.
func (s *Sender) Trace(seq uint64) *PacketTrace {
	out := &PacketTrace{Frame: &frame.Frame{}, Base: &frame.Frame{}}
	limit, ok := s.TracePayload(seq, &out.Payload)
	if !ok {
		return nil
	}
	p := s.sent.get(seq)
	refs, sent := s.refsOf(p, seq)
	out.Frame.CopyFrom(sent)
	out.Base.CopyFrom(refs[0].Frame)
	out.Limit, out.Datagram = limit, bytes.Clone(p.datagram)
	out.Header = describeHeader(p.datagram[:p.header], s.sent.encodingOf(p).codec, p.view != nil)
	return out
}

// TracePayload is Trace for the payload only: it sets trace, reusing its memory. limit is
// PacketTrace.Limit. ok is false if Trace would return nil.
func (s *Sender) TracePayload(seq uint64, trace *encoders.Trace) (limit string, ok bool) {
	p := s.sent.get(seq)
	refs, sent := s.refsOf(p, seq)
	if refs == nil {
		return "", false
	}
	s.Finish() // completes the memos of the references
	limit = s.encodeAgain(trace, p, s.sent.encodingOf(p), sent, refs)
	if limit != "" {
		trace.Reset()
		trace.Close(len(p.datagram) - p.header)
	}
	return limit, true
}

// SentFrame is a frame that was sent as a whole, and what its packet could refer to.
type SentFrame struct {
	Seq      uint64
	Frame    *frame.Frame
	Baseline uint64 // distance of the baseline in packets; 0 means the initial state
	Second   uint64 // distance of the second reference, also for an encoder that uses only one; 0 means none
}

// SentFrames returns copies of the newest frames that were sent and are stored, at most n, oldest first. Without
// Options.KeepSent there are none.
func (s *Sender) SentFrames(n int) (list []SentFrame) {
	oldest := s.seq - min(s.seq, frame.MaxHistory)
	for seq := s.seq; seq > oldest && len(list) < n; seq-- {
		p, entry := s.sent.get(seq-1), s.history.Get(seq-1)
		if p == nil || p.view != nil || entry == nil {
			continue
		}
		sent := SentFrame{Seq: p.seq, Frame: &frame.Frame{}}
		sent.Frame.CopyFrom(&entry.Frame)
		if p.hasBase {
			sent.Baseline = p.seq - p.base
			if second := s.ackedBefore(&frame.Entry{Seq: p.base}); second != nil {
				sent.Second = p.seq - second.Seq
			}
		}
		list = append(list, sent)
	}
	slices.Reverse(list)
	return list
}

// refsOf returns the references that packet p was encoded with and its frame. It returns nil if p, its
// frame or one of its references is no longer stored.
func (s *Sender) refsOf(p *sentPacket, seq uint64) ([]encoders.Ref, *frame.Frame) {
	if p != nil && p.view != nil {
		return []encoders.Ref{{Frame: &p.view.ref, Memo: p.view.memo}}, &p.view.frame
	}
	entry := s.history.Get(seq)
	if p == nil || entry == nil {
		return nil, nil
	}
	if !p.hasBase {
		return s.coder.Initial(s.cadence.InitialTick(seq)), &entry.Frame
	}
	base := s.history.Get(p.base)
	if base == nil {
		return nil, nil
	}
	if p.second == 0 {
		return s.coder.Refs(p.epoch, base), &entry.Frame
	}
	second := s.history.Get(seq - uint64(p.second))
	if second == nil {
		return nil, nil
	}
	return s.coder.Refs(p.epoch, base, second), &entry.Frame
}

// encodeAgain encodes frame f of packet p and sets trace. It returns the reason if the result does not
// describe the packet; empty if it does.
func (s *Sender) encodeAgain(trace *encoders.Trace, p *sentPacket, encoding *sentEncoding, f *frame.Frame, refs []encoders.Ref) (limit string) {
	if encoding.codec.Plugin != nil {
		return "an encoder of a plugin does not report where its bits are"
	}
	if s.sent.encoder == nil || s.sent.epoch != p.epoch {
		enc, _, err := encoding.codec.New(s.schema, encoding.params)
		if err != nil {
			return err.Error()
		}
		s.sent.encoder, s.sent.epoch = enc, p.epoch
	}
	if _, ok := s.sent.encoder.(encoders.Feedback); ok {
		return "the encoder depends on reports of the receiver, so the packet cannot be encoded again"
	}
	var again frame.Frame // a codec that quantises modifies it
	again.CopyFrom(f)
	payload, err := trace.Record(s.sent.encoder, &again, refs)
	if err != nil {
		return err.Error()
	}
	if !bytes.Equal(payload, p.datagram[p.header:]) {
		return "encoding the frame again gives other bytes"
	}
	if len(trace.Spans) <= 1 && s.schema.Rows > 0 && len(payload) > 0 {
		return "this encoder treats the frame as one block of bytes"
	}
	return ""
}

// describeHeader describes the bits of a packet header of the given codec, from the lowest bit of each
// byte on. isView means that the packet contains a view frame.
func describeHeader(b []byte, codec *encoders.Codec, isView bool) (list []HeaderField) {
	h, _, err := parseHeader(b, func(uint8) int { return codec.Refs })
	if err != nil {
		return []HeaderField{field("header", hex.EncodeToString(b), 8*len(b))}
	}
	add := func(name, value string, bits int) { list = append(list, field(name, value, bits)) }
	add("sequence", strconv.Itoa(int(uint16(h.seq))), 16)
	if isView {
		add("ack", ackText(h.baseline), 8)
	} else {
		add("baseline", distanceText(h.baseline, "initial state"), 8)
	}
	add("codec", fmt.Sprintf("%d, %s", h.codec, codec.Name), 7)
	add("params follow", strconv.FormatBool(h.hasParams), 1)
	add("epoch", strconv.Itoa(int(h.epoch)), 8)
	if codec.Refs == 2 {
		add("second reference", distanceText(h.second, "none"), 8)
	}
	if h.hasParams {
		if h.view {
			add("length of params", strconv.Itoa(viewParamBytes+len(h.params)), 8)
			add("view frames follow", "true", 8)
			add("stream", strconv.Itoa(int(h.stream)), 8)
			add("root", distanceText(h.root, "initial state"), 8)
		} else {
			add("length of params", strconv.Itoa(len(h.params)), 8)
		}
		add("params", string(h.params), 8*len(h.params))
	}
	return list
}

// ackText describes the byte that names an ack.
func ackText(name uint8) string {
	if name == 0 {
		return "initial state"
	}
	return fmt.Sprintf("number %d modulo 255", name)
}

// distanceText describes the distance of a reference; none is the text for 0.
func distanceText(distance uint8, none string) string {
	if distance == 0 {
		return none
	}
	return words.Count(int(distance), "packet") + " before"
}

// DescribeAck describes the bits of an ack of whole frames, from the lowest bit of each byte on.
func DescribeAck(b []byte) (list []HeaderField) {
	a, err := parseAck(b)
	if err != nil {
		return []HeaderField{field("ack", hex.EncodeToString(b), 8*len(b))}
	}
	list = []HeaderField{
		field("newest decoded", strconv.Itoa(int(a.newest)), 16),
		field("decoded before", fmt.Sprintf("%d of the 32 before it", bits.OnesCount32(a.mask)), 32),
		field("epoch", strconv.Itoa(int(a.epoch)), 8),
	}
	if len(a.report) > 0 {
		list = append(list, field("report", words.Count(len(a.report), "byte"), 8*len(a.report)))
	}
	return list
}
