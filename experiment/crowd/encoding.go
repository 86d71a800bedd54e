package crowd

import (
	"bytes"
	"fmt"
	"runtime"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/lossmodel"
)

// encoding is one payload of a tick: all clients with the same baseline get it.
type encoding struct {
	key       uint16 // see memoKey
	users     int    // clients that get the payload
	ageTicks  uint64 // age of the baseline in ticks; 0 for the initial state
	payload   []byte
	headers   [2][]byte // without and with parameters
	wire      [2]int    // size of the packet on the wire
	fragments [2]int
	verdict   verdict // the result of decoding the payload at every receiver
	err       error   // of the encoder; then nothing is sent
	decodeErr error   // of the decoder

	encodeNS, headerNS, decodeNS int64
}

// headerMemoBit is set in the baseline of a header if the payload uses the memo of its anchor. With anchors, no baseline
// is older than 127 packets.
const headerMemoBit = 0x80

// verdict is the result of decoding a payload. Decoding is a function of the payload and the reference, and all
// clients that decode a payload have the same reference, so it is computed once.
type verdict uint8

// Verdicts.
const (
	correct      verdict = iota // the decoder returned the server's frame
	wrong                       // the decoder returned another frame
	refused                     // the decoder returned an error
	unreferenced                // the receiver does not have the reference
)

// worker encodes and decodes. Each goroutine has its own, since encoders are not safe for concurrent use.
type worker struct {
	encoder  endpoint.Encoding
	decoder  encoders.Decoder
	initial  frame.Frame // shares the table of the initial state
	changed  frame.Rows
	cur      *frame.Frame // copy of the frame to encode: encoders may write to it
	decoded  *frame.Frame
	repeated []byte // payload of an encoding for a further client, if payloads are not shared

	encodeMemo, decodeMemo encoders.Memo // memos to overwrite

	decoders [endpoint.StoredEpochs]viewDecoder
}

// newWorker returns a worker for frames of schema s.
func newWorker(s *frame.Schema, codec *encoders.Codec, params any, initial *frame.Frame) (*worker, error) {
	e, err := endpoint.NewEncoding(s, codec, params)
	if err != nil {
		return nil, err
	}
	_, dec, err := codec.New(s, params)
	if err != nil {
		return nil, err
	}
	return &worker{encoder: e, decoder: dec, initial: *initial, changed: frame.NewRows(s.Rows), cur: s.NewFrame(), decoded: s.NewFrame()}, nil
}

// measureMemo returns the approximate size of the memos that the encoder attaches to frames, 0 if it attaches none. It is
// the memory that encoding the initial state takes: the least of several measurements, since the first allocates buffers
// and other goroutines allocate too.
func (w *worker) measureMemo() (bytes int64, err error) {
	refs := [1]encoders.Ref{{Frame: &w.initial}}
	for i := range 5 {
		var before, after runtime.MemStats
		w.cur.CopyFrom(&w.initial)
		runtime.ReadMemStats(&before)
		_, memo, err := w.encoder.Encoder.Encode(nil, w.cur, refs[:], nil, nil)
		if err != nil || memo == nil {
			return 0, err
		}
		runtime.ReadMemStats(&after)
		if n := max(int64(after.TotalAlloc-before.TotalAlloc), 1); i == 0 || n < bytes {
			bytes = n
		}
	}
	return bytes, nil
}

// reference returns the baseline of an encoding of packet seq, with the memo of an anchor.
func (x *Session) reference(w *worker, seq uint32, key uint16) encoders.Ref {
	age := uint32(key &^ memoKey)
	if age == 0 {
		w.initial.Tick = x.cadence.InitialTick(uint64(seq))
		return encoders.Ref{Frame: &w.initial}
	}
	ref := encoders.Ref{Frame: x.frameOf(seq - age)}
	if key&memoKey != 0 {
		ref.Memo = x.memos[(seq-age)%uint32(len(x.memos))]
	}
	cur := x.frameOf(seq)
	w.changed.Clear()
	w.changed.SetDiffering(cur.Table, ref.Frame.Table, len(x.schema.Fields))
	ref.Changed = w.changed
	return ref
}

// reset prepares e for the next packet.
func (e *encoding) reset(key uint16, users int) {
	*e = encoding{key: key, users: users, payload: e.payload, headers: e.headers}
}

// encode encodes packet seq, builds its headers and decodes the payload. If c is not nil, the memos are those of a client.
func (x *Session) encode(w *worker, seq uint32, e *encoding, c *chain) {
	codec, cur := w.encoder.Codec, x.frameOf(seq)
	start := x.clock.Now()
	refs := [1]encoders.Ref{x.reference(w, seq, e.key)}
	spare := &w.encodeMemo // a memo to overwrite, then the new memo
	if c != nil {
		refs[0].Memo, spare = c.advance(seq, e.key), &c.spare
	}
	w.cur.CopyFrom(cur)
	payload, memo, err := w.encoder.Encoder.Encode(e.payload[:0], w.cur, refs[:], *spare, nil)
	e.encodeNS = x.clock.Now() - start
	if err != nil {
		e.err = fmt.Errorf("encoder %s: %w", codec.Name, err)
		return
	}
	e.payload, *spare = payload, memo
	if err := x.buildHeaders(w, seq, e); err != nil {
		e.err = fmt.Errorf("encoder %s: %w", codec.Name, err)
		return
	}
	start = x.clock.Now()
	refs[0].Changed = nil // only for encoders
	w.decoded.Tick = cur.Tick
	decoderMemo, err := w.decoder.Decode(w.decoded, payload, refs[:], w.decodeMemo)
	e.decodeNS = x.clock.Now() - start
	w.decoded.Tick = cur.Tick
	if err != nil {
		e.verdict, e.decodeErr = refused, err
		return
	}
	w.decodeMemo = decoderMemo
	if !w.decoded.Equal(cur) {
		e.verdict = wrong
	}
	if c != nil {
		c.store(seq)
	}
}

// buildHeaders builds both headers of an encoding of packet seq.
func (x *Session) buildHeaders(w *worker, seq uint32, e *encoding) error {
	start := x.clock.Now()
	baseline := uint8(e.key)
	if e.key&memoKey != 0 {
		baseline |= headerMemoBit
	}
	e.ageTicks = uint64(e.key&^memoKey) * uint64(x.cadence.TickHz) / uint64(x.cadence.RateHz) // as package engine rounds it
	for i := range e.headers {
		withParams := i == 1
		e.headers[i] = endpoint.AppendHeader(e.headers[i][:0], uint64(seq), baseline, &w.encoder, withParams)
		size := len(e.headers[i]) + len(e.payload)
		if size > endpoint.MaxDatagram {
			return fmt.Errorf("packet of %d bytes does not fit in a UDP datagram (%d)", size, endpoint.MaxDatagram)
		}
		e.wire[i], e.fragments[i] = lossmodel.WireBytes(size, x.downMTU)
	}
	e.headerNS = x.clock.Now() - start
	return nil
}

// encodeAgain encodes packet seq for n further clients of e, as a server does that does not share payloads.
func (x *Session) encodeAgain(w *worker, seq uint32, e *encoding, n int) error {
	for range n {
		refs := [1]encoders.Ref{x.reference(w, seq, e.key)}
		w.cur.CopyFrom(x.frameOf(seq))
		payload, memo, err := w.encoder.Encoder.Encode(w.repeated[:0], w.cur, refs[:], w.encodeMemo, nil)
		if err != nil {
			return err
		}
		w.repeated, w.encodeMemo = payload, memo
		if !bytes.Equal(payload, e.payload) {
			return fmt.Errorf("encoder %s returned two payloads for the same frame and baseline: it cannot be shared", w.encoder.Codec.Name)
		}
	}
	return nil
}

// makeAnchor computes the memo of the anchor at packet seq, as the server and every receiver that has the frames can.
func (x *Session) makeAnchor(w *worker, seq uint32) error {
	step := x.baselines.step
	ref := encoders.Ref{Frame: x.frameOf(seq - step)}
	if !x.baselines.isRoot(seq) {
		ref.Memo = x.memos[(seq-step)%uint32(len(x.memos))]
	}
	refs := [1]encoders.Ref{ref}
	slot := &x.memos[seq%uint32(len(x.memos))] // the memo of an old anchor
	w.cur.CopyFrom(x.frameOf(seq))
	payload, memo, err := w.encoder.Encoder.Encode(w.repeated[:0], w.cur, refs[:], *slot, nil)
	w.repeated, *slot = payload, memo
	return err
}

// chain contains what only one client has if encodings are not shared: its encoding, and the memos of the packets that
// may become baselines. The memo of a packet depends on the memo of its baseline, and so on all baselines before it.
type chain struct {
	encoding encoding
	memos    []packetMemo // of packets from the newest baseline on, in order
	unused   []encoders.Memo
	spare    encoders.Memo // memo to overwrite, then the memo of the packet just encoded
}

// packetMemo is the memo of a packet.
type packetMemo struct {
	seq  uint32
	memo encoders.Memo
}

// advance returns the memo of the baseline of packet seq; nil for the initial state. It removes older memos, since later
// baselines are not older, and sets c.spare to one of them. key is the age of the baseline in packets; 0 means the initial
// state.
func (c *chain) advance(seq uint32, key uint16) (base encoders.Memo) {
	first := uint32(0) // the oldest packet that may become a baseline
	if key > 0 {
		first = seq - uint32(key)
	} else if seq > frame.MaxHistory {
		first = seq - frame.MaxHistory
	}
	removed := 0
	for ; removed < len(c.memos) && c.memos[removed].seq < first; removed++ {
		c.unused = append(c.unused, c.memos[removed].memo)
	}
	c.memos = append(c.memos[:0], c.memos[removed:]...)
	if n := len(c.unused); n > 0 {
		c.spare, c.unused = c.unused[n-1], c.unused[:n-1]
	}
	if key > 0 && len(c.memos) > 0 && c.memos[0].seq == first {
		base = c.memos[0].memo
	}
	return base
}

// store stores c.spare as the memo of packet seq.
func (c *chain) store(seq uint32) {
	c.memos = append(c.memos, packetMemo{seq, c.spare})
	c.spare = nil
}
