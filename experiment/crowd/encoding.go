package crowd

import (
	"fmt"
	"runtime"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// encoding is one payload of a tick: all clients with the same baseline get it.
type encoding struct {
	age       uint8   // of the baseline in packets; 0 for the initial state
	users     int     // clients that get the payload
	ageTicks  uint64  // age of the baseline in ticks; 0 for the initial state
	forms     [2]form // of the packet: without and with parameters; under a budget only the first is used
	payload   []byte
	err       error // of the encoder; then nothing is sent
	decodeErr error // of the decoder

	// outcome is Decoded if the decoder returns the server's frame, Wrong if it returns another, and Corrupt
	// if it returns an error. Decoding is a function of the payload and the reference, and all clients that
	// decode a payload have the same reference, so it is done once.
	outcome packetlog.Outcome

	encodeNS, headerNS, decodeNS int64
}

// form is the header and the size of a packet.
type form struct {
	header    []byte // empty under a budget
	bytes     int
	wire      int // bytes on the wire
	fragments int
}

// setSize sets the size of a packet, which a link with the given MTU carries.
func (f *form) setSize(bytes, mtu int) {
	f.bytes = bytes
	f.wire, f.fragments = lossmodel.WireBytes(bytes, mtu)
}

// worker encodes and decodes. Each goroutine has its own, since encoders are not safe for concurrent use.
type worker struct {
	encoder endpoint.Encoding
	decoder encoders.Decoder
	initial frame.Frame // shares the table of the initial state
	changed frame.Rows
	cur     *frame.Frame // copy of the frame to encode: encoders may write to it
	decoded *frame.Frame

	encodeMemo, decodeMemo encoders.Memo // of the last encodings without a budget: only memory to overwrite

	// Under a budget:
	codecs    []encoders.Codec // of receivers
	memoBytes int64            // approximate size of a memo; 0 means that the encoder has none
}

// newWorkers returns a worker with the encoder of c for each core. It returns an error if a crowd cannot
// use the encoder.
func (x *session) newWorkers(c *config.Config) (list []*worker, err error) {
	codec, params, err := c.Encoder.Resolve("encoder", c.Codecs)
	if err == nil {
		err = c.CheckSuits("encoder", codec, x.schema)
	}
	if err != nil {
		return nil, err
	}
	if codec.Quantises {
		return nil, &config.Error{Key: "encoder.name", Expected: "an encoder that decodes exactly",
			Problem: codec.Name + " rounds values differently for each baseline, so clients cannot share frames"}
	}
	codec = encoders.LocateFiles(codec, c.ResolvePath)
	for range runtime.GOMAXPROCS(0) {
		w := &worker{initial: *x.initial, changed: frame.NewRows(x.schema.Rows), cur: x.schema.NewFrame(), decoded: x.schema.NewFrame()}
		if w.encoder, err = endpoint.NewEncoding(x.schema, codec, params); err != nil {
			return nil, config.ErrorAt("encoder", err)
		}
		if _, w.decoder, err = codec.New(x.schema, params); err != nil {
			return nil, config.ErrorAt("encoder", err)
		}
		if c.HasBudget() {
			w.codecs = shareDecoders(c.CodecTable())
		}
		list = append(list, w)
	}
	if _, learns := list[0].encoder.Encoder.(encoders.Feedback); learns {
		return nil, &config.Error{Key: "encoder.name", Problem: codec.Name + " learns from each receiver",
			Expected: "an encoder whose packets many receivers can share"}
	}
	if c.HasBudget() {
		err = list[0].measureMemo()
	}
	return list, config.ErrorAt("encoder", err)
}

// swapWorkers requests the encoder of other workers for the packets to all clients under a budget.
func (x *session) swapWorkers(workers []*worker) {
	x.workers = workers
	for i := range x.shards {
		for k := range x.shards[i].clients {
			x.shards[i].clients[k].viewer.sender.Request(x.workerOf(i).encoder)
		}
	}
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

// measureMemo sets memoBytes to the memory that encoding the initial state takes: the least of several
// measurements, since the first allocates buffers and other goroutines allocate too.
func (w *worker) measureMemo() error {
	refs := [1]encoders.Ref{{Frame: &w.initial}}
	for i := range 5 {
		var before, after runtime.MemStats
		w.cur.CopyFrom(&w.initial)
		runtime.ReadMemStats(&before)
		_, memo, err := w.encoder.Encoder.Encode(nil, w.cur, refs[:], nil, nil)
		if err != nil || memo == nil {
			return err
		}
		runtime.ReadMemStats(&after)
		if n := max(int64(after.TotalAlloc-before.TotalAlloc), 1); i == 0 || n < w.memoBytes {
			w.memoBytes = n
		}
	}
	return nil
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
	cur, l := x.frameOf(seq), x.startLaps()
	refs := [1]encoders.Ref{x.reference(w, seq, e.age)}
	w.cur.CopyFrom(cur)
	payload, memo, err := w.encoder.Encoder.Encode(e.payload[:0], w.cur, refs[:], w.encodeMemo, nil)
	l.end(&e.encodeNS)
	if err == nil {
		e.payload, w.encodeMemo = payload, memo
		err = x.buildHeaders(w, seq, e)
	}
	if err != nil {
		e.err = fmt.Errorf("encoder %s: %w", w.encoder.Codec.Name, err)
		return
	}
	l.end(&e.headerNS)
	refs[0].Changed = nil // only for encoders
	w.decoded.Tick = cur.Tick
	memo, e.decodeErr = w.decoder.Decode(w.decoded, payload, refs[:], w.decodeMemo)
	l.end(&e.decodeNS)
	w.decoded.Tick = cur.Tick
	switch {
	case e.decodeErr != nil:
		e.outcome = packetlog.Corrupt
		return
	case w.decoded.Equal(cur):
		e.outcome = packetlog.Decoded
	default:
		e.outcome = packetlog.Wrong
	}
	w.decodeMemo = memo
}

// buildHeaders builds both headers of an encoding of packet seq.
func (x *session) buildHeaders(w *worker, seq uint32, e *encoding) error {
	e.ageTicks = x.ageTicks(int(e.age))
	for i := range e.forms {
		f := &e.forms[i]
		withParams := i == 1
		f.header = endpoint.AppendHeader(f.header[:0], uint64(seq), e.age, &w.encoder, withParams)
		f.setSize(len(f.header)+len(e.payload), x.config.Down.MTU)
		if f.bytes > endpoint.MaxDatagram {
			return fmt.Errorf("packet of %d bytes does not fit in a UDP datagram (%d)", f.bytes, endpoint.MaxDatagram)
		}
	}
	return nil
}

// ageTicks returns the age of a baseline in ticks, rounded as package engine rounds it.
func (x *session) ageTicks(packets int) uint64 {
	return uint64(packets * x.cadence.TickHz / x.cadence.RateHz)
}
