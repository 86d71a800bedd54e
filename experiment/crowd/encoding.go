package crowd

import (
	"bytes"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/lossmodel"
)

// encoding is one payload of a tick: all clients with the same baseline get it.
type encoding struct {
	key     uint16 // see withMemo
	users   int    // clients that get the payload
	payload []byte
	headers [2][]byte // without and with parameters
	wire    [2]int    // size of the packet on the wire
	pieces  [2]int    // its fragments
	verdict verdict   // what every receiver of the payload makes of it
	err     error     // of the encoder; then nothing is sent

	encodeNS, decodeNS int64
}

// anchorBit is set in the baseline of a header if the payload uses the memo of its anchor. With anchors, no baseline is
// older than 127 packets.
const anchorBit = 0x80

// verdict is the result of decoding a payload. Decoding is a function of the payload and the reference, and all
// clients that decode a payload have the same reference, so it is computed once.
type verdict uint8

// Verdicts.
const (
	correct verdict = iota // the decoder returned the server's frame
	wrong                  // the decoder returned another frame
	refused                // the decoder returned an error
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
	err                    error         // the newest error of the decoder
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

// reference returns the baseline of an encoding of packet seq.
func (r *run) reference(w *worker, seq uint32, key uint16) encoders.Ref {
	age := uint32(key &^ withMemo)
	if age == 0 {
		w.initial.Tick = r.cadence.InitialTick(uint64(seq))
		return encoders.Ref{Frame: &w.initial}
	}
	ref := encoders.Ref{Frame: r.frameOf(seq - age)}
	if key&withMemo != 0 {
		ref.Memo = r.memos[(seq-age)%uint32(len(r.memos))]
	}
	cur := r.frameOf(seq)
	w.changed.Clear()
	w.changed.SetDiffering(cur.Table, ref.Frame.Table, len(r.schema.Fields))
	ref.Changed = w.changed
	return ref
}

// encode encodes packet seq, builds its headers and decodes the payload.
func (r *run) encode(w *worker, seq uint32, e *encoding) {
	codec, cur := w.encoder.Codec, r.frameOf(seq)
	start := r.clock.Now()
	refs := [1]encoders.Ref{r.reference(w, seq, e.key)}
	w.cur.CopyFrom(cur)
	payload, memo, err := w.encoder.Encoder.Encode(e.payload[:0], w.cur, refs[:], w.encodeMemo, nil)
	e.encodeNS = r.clock.Now() - start
	if err != nil {
		e.err = fmt.Errorf("encoder %s: %w", codec.Name, err)
		return
	}
	e.payload, w.encodeMemo = payload, memo
	baseline := uint8(e.key)
	if e.key&withMemo != 0 {
		baseline |= anchorBit
	}
	for i := range e.headers {
		withParams := i == 1
		e.headers[i] = endpoint.AppendHeader(e.headers[i][:0], uint64(seq), baseline, &w.encoder, withParams)
		size := len(e.headers[i]) + len(payload)
		if size > endpoint.MaxDatagram {
			e.err = fmt.Errorf("encoder %s: packet of %d bytes does not fit in a UDP datagram (%d)", codec.Name, size, endpoint.MaxDatagram)
			return
		}
		e.wire[i], e.pieces[i] = lossmodel.WireBytes(size, r.downMTU)
	}
	start = r.clock.Now()
	refs[0].Changed = nil // only for encoders
	w.decoded.Tick = cur.Tick
	memo, err = w.decoder.Decode(w.decoded, payload, refs[:], w.decodeMemo)
	e.decodeNS = r.clock.Now() - start
	w.decoded.Tick = cur.Tick
	switch {
	case err != nil:
		e.verdict, w.err = refused, err
	case !w.decoded.Equal(cur):
		e.verdict, w.decodeMemo = wrong, memo
	default:
		e.verdict, w.decodeMemo = correct, memo
	}
}

// encodeAgain encodes packet seq for n further clients of e, as a server does that does not share payloads.
func (r *run) encodeAgain(w *worker, seq uint32, e *encoding, n int) error {
	refs := [1]encoders.Ref{r.reference(w, seq, e.key)}
	w.cur.CopyFrom(r.frameOf(seq))
	for range n {
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
func (r *run) makeAnchor(w *worker, seq uint32) error {
	step := r.baselines.step
	ref := encoders.Ref{Frame: r.frameOf(seq - step)}
	if !r.baselines.isRoot(seq) {
		ref.Memo = r.memos[(seq-step)%uint32(len(r.memos))]
	}
	refs := [1]encoders.Ref{ref}
	slot := &r.memos[seq%uint32(len(r.memos))]
	w.cur.CopyFrom(r.frameOf(seq))
	payload, memo, err := w.encoder.Encoder.Encode(w.repeated[:0], w.cur, refs[:], *slot, nil)
	w.repeated, *slot = payload, memo
	return err
}
