//go:build libwirelab

// Command libwirelab is a library for games in other languages: sender and receiver of experiment/endpoint, with schemas
// in TOML. wirelab_endpoint.h documents its functions, README.md how to build it as a shared library or as a WebAssembly
// module. This file contains the functions; exports_cgo.go and exports_wasm.go export them.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"wirelab/dataset/frame"
	"wirelab/dataset/table"
	"wirelab/encoders"
	"wirelab/encoders/generic"
	"wirelab/encoders/rows"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/view"
	"wirelab/internal/panics"
)

func main() {} // a library has no program

// apiVersion is WIRELAB_VERSION of the header.
const apiVersion = 2

// A code is a result of the header that is not a success, and the kind of an error.
type code int32

// The codes of the header.
const (
	badHandle code = -1 - iota
	badArgument
	badSchema
	badEncoder
	badValue
	noRoom
	corrupt
	noBaseline
	unknownEncoder
	failed
)

// failure is an error with a code.
type failure struct {
	code code
	error
}

// fail returns an error with a code and a formatted text.
func fail(c code, format string, args ...any) error { return failure{c, fmt.Errorf(format, args...)} }

// codeOf returns the code of an error: failed if it has none.
func codeOf(err error) code {
	var f failure
	if errors.As(err, &f) {
		return f.code
	}
	return failed
}

// An end is what a handle stands for: a sender or a receiver.
type end struct {
	mu        sync.Mutex
	schema    *frame.Schema
	sender    *endpoint.Sender   // nil for a receiver
	receiver  *endpoint.Receiver // nil for a sender
	frame     *frame.Frame       // the frame to send, for a sender
	encoding  endpoint.Encoding  // of a sender
	sequence  int64              // of the newest packet sent or state returned; -1 if none
	lastError string             // of the last function that failed; "" if none
}

// ends holds the ends by handle, because other languages cannot hold pointers to Go values.
var ends = struct {
	sync.RWMutex
	byHandle map[int32]*end
	last     int32 // the newest handle
}{byHandle: map[int32]*end{}}

// call calls f with the end of a handle, which no other call uses meanwhile. It returns the result of f or, after an
// error or a panic, its code. The error is kept for lastError.
func call[R int32 | int64 | float64](handle int32, f func(e *end) (R, error)) (result R) {
	ends.RLock()
	e := ends.byHandle[handle]
	ends.RUnlock()
	if e == nil {
		return R(badHandle)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() {
		if v := recover(); v != nil {
			e.lastError, result = panics.Recovered(v).Error(), R(failed)
		}
	}()
	result, err := f(e)
	if err != nil {
		e.lastError, result = err.Error(), R(codeOf(err))
	}
	return result
}

// open calls create and returns a handle for the end that it returns. After an error or a panic it writes the text to
// the room bytes at text, and returns the code.
func open(text unsafe.Pointer, room int32, create func() (*end, error)) int32 {
	var e *end
	err := panics.Call(func() (err error) {
		e, err = create()
		return err
	})
	if err != nil {
		putText(text, room, err.Error())
		return int32(codeOf(err))
	}
	ends.Lock()
	defer ends.Unlock()
	for ends.last++; ends.last <= 0 || ends.byHandle[ends.last] != nil; ends.last++ {
		ends.last = max(ends.last, 0) // after math.MaxInt32 comes 1, or the next free handle
	}
	ends.byHandle[ends.last] = e
	return ends.last
}

// codecs returns the encoders for tables, which suit any schema in TOML. None has a parameter that names a file: packets
// contain parameters, and anyone may send them.
func codecs() []encoders.Codec {
	return []encoders.Codec{rows.DeltaAdaptive(), generic.XorRLE(), generic.Deflate(), generic.Zstd(), generic.ZstdBaseline()}
}

// openSender implements wirelab_sender.
func openSender(schema, encoder, options string) (*end, error) {
	s, o, err := parse(schema, options)
	if err != nil {
		return nil, err
	}
	encoding, err := parseEncoder(encoder, s)
	if err != nil {
		return nil, failure{badEncoder, err}
	}
	return &end{schema: s, sender: endpoint.NewSender(s, initialState(s), encoding, o), frame: s.NewFrame(), encoding: encoding,
		sequence: -1}, nil
}

// openReceiver implements wirelab_receiver.
func openReceiver(schema, options string) (*end, error) {
	s, o, err := parse(schema, options)
	if err != nil {
		return nil, err
	}
	return &end{schema: s, receiver: endpoint.NewReceiver(s, initialState(s), codecs(), o), sequence: -1}, nil
}

// initialState returns the state with which both ends begin: in each field the valid value that is nearest to 0.
func initialState(s *frame.Schema) *frame.Frame {
	f := s.NewFrame()
	for i := range f.Table {
		lowest, span := s.Fields[i%len(s.Fields)].Span()
		f.Table[i] = int32(min(max(0, int64(lowest)), int64(lowest)+int64(span)))
	}
	return f
}

// parse parses a schema and options such as "history=64".
func parse(schema, options string) (s *frame.Schema, o endpoint.Options, err error) {
	layout, err := table.ParseLayout("schema", []byte(schema))
	if err != nil {
		return nil, o, failure{badSchema, err}
	}
	if layout.AutoRows {
		return nil, o, fail(badSchema, `schema: rows = "auto" needs a log; expected a number`)
	}
	o.History = 64
	for _, word := range strings.Fields(options) {
		name, value, _ := strings.Cut(word, "=")
		o.History, err = strconv.Atoi(value)
		if name != "history" || err != nil || o.History < 1 || o.History > frame.MaxHistory {
			return nil, o, fail(badArgument, "option %q makes no sense; expected history=1 to %d", word, frame.MaxHistory)
		}
	}
	hz := layout.Schema.TickHz // a packet for each tick
	o.Cadence = endpoint.Cadence{TickHz: hz, RateHz: hz}
	return layout.Schema, o, nil
}

// parseEncoder parses the name of an encoder and its parameters as NAME=VALUE, separated by spaces; "" means
// delta-adaptive.
func parseEncoder(text string, s *frame.Schema) (e endpoint.Encoding, err error) {
	words := strings.Fields(cmp.Or(text, "delta-adaptive"))
	if len(words) == 0 {
		return e, fmt.Errorf("encoder %q has no name", text)
	}
	var names []string
	for _, c := range codecs() {
		if !c.Suits(s) {
			continue
		}
		names = append(names, c.Name)
		if c.Name != words[0] {
			continue
		}
		params := c.Defaults()
		for _, word := range words[1:] {
			name, value, _ := strings.Cut(word, "=")
			if err := encoders.SetParam(params, name, value); err != nil {
				return e, fmt.Errorf("encoder %s: %w", c.Name, err)
			}
		}
		if err := encoders.Validate(params); err != nil {
			return e, fmt.Errorf("encoder %s: %w", c.Name, err)
		}
		return endpoint.NewEncoding(s, &c, params)
	}
	return e, fmt.Errorf("no encoder of this schema is called %q; expected one of %s", words[0], strings.Join(names, ", "))
}

// closeEnd implements wirelab_close.
func closeEnd(handle int32) int32 {
	ends.Lock()
	defer ends.Unlock()
	if ends.byHandle[handle] == nil {
		return int32(badHandle)
	}
	delete(ends.byHandle, handle)
	return 0
}

// send implements wirelab_send.
func send(handle int32, nowUS int64, state, packet unsafe.Pointer, room int32) int32 {
	return call(handle, func(e *end) (int32, error) {
		if e.sender == nil {
			return 0, fail(badHandle, "the handle is a receiver; expected a sender")
		}
		values, err := slice[int32](state, len(e.frame.Table), "state")
		if err != nil {
			return 0, err
		}
		dst, err := slice[byte](packet, int(room), "packet")
		if err != nil {
			return 0, err
		}
		copy(e.frame.Table, values)
		if err := e.schema.Check(e.frame); err != nil {
			return 0, failure{badValue, err}
		}
		now := microseconds(nowUS)
		if !e.sender.Due(now) {
			e.sender.Hold(e.frame, nil)
			return 0, nil
		}
		p, err := e.sender.Send(now, e.frame, nil)
		if errors.Is(err, view.ErrNoRoom) { // the budget allows larger packets a little later
			return 0, nil
		}
		if errors.As(err, new(*view.TooLargeError)) {
			return 0, failure{badArgument, err}
		}
		if err != nil {
			return 0, err
		}
		e.sequence = int64(p.Seq)
		if len(p.Datagram) > len(dst) {
			return 0, fail(noRoom, "the packet has %d bytes, expected room for them, not %d; it counts as lost", len(p.Datagram), room)
		}
		return int32(copy(dst, p.Datagram)), nil
	})
}

// setBudget implements wirelab_set_budget.
func setBudget(handle int32, bitsPerSecond, intervalUS int64) int32 {
	return call(handle, func(e *end) (int32, error) {
		if e.sender == nil {
			return 0, fail(badHandle, "the handle is a receiver; expected a sender")
		}
		if e.encoding.Codec.Standalone && bitsPerSecond != 0 {
			return 0, fail(badArgument, "%s encodes whole states, and a budget sends parts of them; expected another encoder, such as delta-adaptive",
				e.encoding.Codec.Name)
		}
		const maxBudget, minInterval, maxInterval = 1_000_000_000, 1000, 10_000_000
		if bitsPerSecond < 0 || bitsPerSecond > maxBudget || intervalUS < minInterval || intervalUS > maxInterval {
			return 0, fail(badArgument, "a budget of %d bit/s with a state each %d us; expected 0 to %d bit/s, %d to %d us", bitsPerSecond, intervalUS,
				maxBudget, minInterval, maxInterval)
		}
		budget, interval := endpoint.Budget{Bps: bitsPerSecond, Burst: 1000}, microseconds(intervalUS)
		if least := endpoint.BudgetNeed(&e.encoding); bitsPerSecond > 0 && endpoint.MaxPacketOf(budget, interval) < least {
			return 0, fail(badArgument, "%d bit/s allow packets of at most %d bytes, and the first packet takes %d", bitsPerSecond,
				endpoint.MaxPacketOf(budget, interval), least)
		}
		e.sender.SetBudget(budget, interval)
		return 0, nil
	})
}

// handleAck implements wirelab_handle_ack.
func handleAck(handle int32, nowUS int64, ack unsafe.Pointer, size int32) int32 {
	return call(handle, func(e *end) (int32, error) {
		if e.sender == nil {
			return 0, fail(badHandle, "the handle is a receiver; expected a sender")
		}
		src, err := slice[byte](ack, int(size), "ack")
		if err != nil {
			return 0, err
		}
		if err := e.sender.HandleAckAt(microseconds(nowUS), src, false); err != nil { // false: acks contain no arrival time
			return 0, failure{corrupt, err}
		}
		return 0, nil
	})
}

// receive implements wirelab_receive.
func receive(handle int32, _ int64, packet unsafe.Pointer, size int32, state unsafe.Pointer) int32 {
	return call(handle, func(e *end) (int32, error) {
		if e.receiver == nil {
			return 0, fail(badHandle, "the handle is a sender; expected a receiver")
		}
		src, err := slice[byte](packet, int(size), "packet")
		if err != nil {
			return 0, err
		}
		dst, err := slice[int32](state, e.schema.Cells(), "state")
		if err != nil {
			return 0, err
		}
		rx := e.receiver.Receive(src)
		if v := e.receiver.View(); rx.HasView && v != nil && (rx.Outcome == endpoint.Decoded || rx.Outcome == endpoint.Stale) {
			copy(dst, v.Display()) // an older packet may contain rows that no newer one does
			e.sequence = max(e.sequence, int64(rx.Seq))
			return 1, nil
		}
		switch rx.Outcome {
		case endpoint.Decoded:
			copy(dst, rx.Frame.Table)
			e.sequence = int64(rx.Seq)
			return 1, nil
		case endpoint.Stale, endpoint.Duplicate:
			return 0, nil
		case endpoint.NoBaseline:
			return 0, fail(noBaseline, "the reference of packet %d has not arrived", rx.Seq)
		case endpoint.UnknownCodec:
			return 0, fail(unknownEncoder, "packet %d: %w", rx.Seq, rx.Err)
		default:
			return 0, fail(corrupt, "packet %d: %w", rx.Seq, cmp.Or(rx.Err, error(encoders.ErrCorrupt)))
		}
	})
}

// makeAck implements wirelab_make_ack.
func makeAck(handle int32, _ int64, ack unsafe.Pointer, room int32) int32 {
	return call(handle, func(e *end) (int32, error) {
		if e.receiver == nil {
			return 0, fail(badHandle, "the handle is a sender; expected a receiver")
		}
		dst, err := slice[byte](ack, int(room), "ack")
		if err != nil {
			return 0, err
		}
		made := e.receiver.AppendAck(dst[:0])
		if len(made) > len(dst) {
			return 0, fail(noRoom, "the ack has %d bytes, expected room for them, not %d", len(made), room)
		}
		return int32(len(made)), nil
	})
}

// Numbers that describe the schema of an end: wirelab_rows, wirelab_fields and wirelab_tick_hz.
func rowCount(handle int32) int32 {
	return call(handle, func(e *end) (int32, error) { return int32(e.schema.Rows), nil })
}
func fieldCount(handle int32) int32 {
	return call(handle, func(e *end) (int32, error) { return int32(len(e.schema.Fields)), nil })
}
func tickHz(handle int32) int32 {
	return call(handle, func(e *end) (int32, error) { return int32(e.schema.TickHz), nil })
}

// fieldIndex implements wirelab_field.
func fieldIndex(handle int32, name string) int32 {
	return call(handle, func(e *end) (int32, error) {
		for i := range e.schema.Fields {
			if e.schema.Fields[i].Name == name {
				return int32(i), nil
			}
		}
		return 0, fail(badArgument, "the schema has no field %q", name)
	})
}

// fieldStep implements wirelab_step.
func fieldStep(handle, field int32) float64 {
	return call(handle, func(e *end) (float64, error) {
		if field < 0 || int(field) >= len(e.schema.Fields) {
			return 0, fail(badArgument, "field %d does not exist, expected 0 to %d", field, len(e.schema.Fields)-1)
		}
		return e.schema.Fields[field].Step(), nil
	})
}

// sequence implements wirelab_sequence.
func sequence(handle int32) int64 {
	return call(handle, func(e *end) (int64, error) { return e.sequence, nil })
}

// acked implements wirelab_acked.
func acked(handle int32) int64 {
	return call(handle, func(e *end) (int64, error) {
		if e.sender == nil {
			return 0, fail(badHandle, "the handle is a receiver; expected a sender")
		}
		if seq, ok := e.sender.Acked(); ok {
			return int64(seq), nil
		}
		return -1, nil
	})
}

// lastError implements wirelab_error.
func lastError(handle int32, text unsafe.Pointer, room int32) int32 {
	return call(handle, func(e *end) (int32, error) { return putText(text, room, e.lastError), nil })
}

// microseconds returns a time in microseconds as a duration; beyond 292 years it is limited.
func microseconds(us int64) time.Duration {
	const limit = math.MaxInt64 / int64(time.Microsecond)
	return time.Duration(min(max(us, -limit), limit)) * time.Microsecond
}

// slice returns the n values at p. what names them in the error for a null pointer or a negative n.
func slice[T byte | int32](p unsafe.Pointer, n int, what string) ([]T, error) {
	if n < 0 || p == nil && n > 0 {
		return nil, fail(badArgument, "%s is null or has a negative size", what)
	}
	return unsafe.Slice((*T)(p), n), nil
}

// getText returns the text at p, which ends with a zero byte; "" for a null pointer.
func getText(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// putText writes a text to the room bytes at p, if any, shortened if necessary to valid UTF-8 and with a zero byte at the
// end. It returns the length of the whole text.
func putText(p unsafe.Pointer, room int32, text string) int32 {
	if dst, err := slice[byte](p, int(room), "text"); err == nil && room > 0 {
		start := strings.ToValidUTF8(text[:min(len(text), len(dst)-1)], "")
		dst[copy(dst, start)] = 0
	}
	return int32(len(text))
}
