package crowd

import (
	"fmt"
	"runtime"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/lossmodel"
)

// encoding is one payload of a tick: all clients with the same baseline get it.
type encoding struct {
	age       uint8   // of the baseline in packets; 0 for the initial state
	users     int     // clients that get the payload
	ageTicks  uint64  // age of the baseline in ticks; 0 for the initial state
	forms     [2]form // of the packet: without and with parameters; under a budget only the first is used
	payload   []byte
	verdict   verdict // the result of decoding the payload at every receiver
	err       error   // of the encoder; then nothing is sent
	decodeErr error   // of the decoder

	encodeNS, headerNS, decodeNS int64
}

// form is the header and the size of a packet.
type form struct {
	header    []byte // empty under a budget
	bytes     int
	wire      int // bytes on the wire
	fragments int
}

// setSize sets the size of the packet, which a link with the given MTU carries.
func (f *form) setSize(bytes, mtu int) {
	f.bytes = bytes
	f.wire, f.fragments = lossmodel.WireBytes(bytes, mtu)
}

// verdict is the result of decoding a payload. Decoding is a function of the payload and the reference,
// and all clients that decode a payload have the same reference, so it is computed once.
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
	encoder endpoint.Encoding
	decoder encoders.Decoder
	initial frame.Frame // shares the table of the initial state
	changed frame.Rows
	cur     *frame.Frame // copy of the frame to encode: encoders may write to it
	decoded *frame.Frame

	encodeMemo, decodeMemo encoders.Memo // of the last encodings without a budget: only memory to overwrite

	codecs []encoders.Codec // of receivers under a budget
}

// shareDecoders returns codecs that give all receivers the same decoders. This is correct for receivers
// of one goroutine and codecs that do not learn from each receiver: the state of their decoders is only
// memory to overwrite.
func shareDecoders(list []encoders.Codec) []encoders.Codec {
	for i := range list {
		codec := list[i]
		decoders := map[string]encoders.Decoder{} // by canonical parameters
		list[i].New = func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			key := string(codec.Canonical(params))
			if d := decoders[key]; d != nil {
				return nil, d, nil
			}
			_, d, err := codec.New(s, params)
			if len(decoders) == endpoint.StoredEpochs { // many changes of parameters
				clear(decoders)
			}
			decoders[key] = d
			return nil, d, err
		}
	}
	return list
}

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

// measureMemo returns the approximate size of the memos that the encoder attaches to frames, 0 if it
// attaches none. It is the memory that encoding the initial state takes: the least of several
// measurements, since the first allocates buffers and other goroutines allocate too.
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

// reference returns the baseline of an encoding of packet seq: the frame that was sent age packets
// before, or the initial state if age is 0. It has no memo, since clients with the same frame can have
// different ones.
func (x *session) reference(w *worker, seq uint32, age uint8) encoders.Ref {
	if age == 0 {
		w.initial.Tick = x.cadence.InitialTick(uint64(seq))
		return encoders.Ref{Frame: &w.initial}
	}
	cur, base := x.frameOf(seq), x.frameOf(seq-uint32(age))
	w.changed.Clear()
	w.changed.SetDiffering(cur.Table, base.Table, len(x.schema.Fields))
	return encoders.Ref{Frame: base, Changed: w.changed}
}

// reset prepares e for the next packet.
func (e *encoding) reset(age uint8, users int) {
	*e = encoding{age: age, users: users, payload: e.payload, forms: e.forms}
}

// encode encodes packet seq, builds its headers and decodes the payload.
func (x *session) encode(w *worker, seq uint32, e *encoding) {
	codec, cur := w.encoder.Codec, x.frameOf(seq)
	start := x.clock.Now()
	refs := [1]encoders.Ref{x.reference(w, seq, e.age)}
	w.cur.CopyFrom(cur)
	payload, memo, err := w.encoder.Encoder.Encode(e.payload[:0], w.cur, refs[:], w.encodeMemo, nil)
	e.encodeNS = x.clock.Now() - start
	if err != nil {
		e.err = fmt.Errorf("encoder %s: %w", codec.Name, err)
		return
	}
	e.payload, w.encodeMemo = payload, memo
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
}

// buildHeaders builds both headers of an encoding of packet seq.
func (x *session) buildHeaders(w *worker, seq uint32, e *encoding) error {
	start := x.clock.Now()
	e.ageTicks = uint64(e.age) * uint64(x.cadence.TickHz) / uint64(x.cadence.RateHz) // as package engine rounds it
	for i := range e.forms {
		f := &e.forms[i]
		withParams := i == 1
		f.header = endpoint.AppendHeader(f.header[:0], uint64(seq), e.age, &w.encoder, withParams)
		f.setSize(len(f.header)+len(e.payload), x.downMTU)
		if f.bytes > endpoint.MaxDatagram {
			return fmt.Errorf("packet of %d bytes does not fit in a UDP datagram (%d)", f.bytes, endpoint.MaxDatagram)
		}
	}
	e.headerNS = x.clock.Now() - start
	return nil
}
