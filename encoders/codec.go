// Package encoders defines the interfaces between a session's endpoints and its encoders (Encoder,
// Decoder), the description by which an encoder is listed and configured (Codec), and the bit budget:
// what the bits of packets were spent on (Budget).
//
// # Encoding a frame
//
// An encoder turns a frame into the payload of a packet, relative to references: earlier frames
// that sender and receiver both have. The newest reference is the baseline. A decoder with the same
// references turns the payload back into the frame:
//
//	enc, dec, err := codec.New(schema, codec.Defaults())
//	payload, memo, err := enc.Encode(nil, cur, refs, nil, nil)
//	memo, err = dec.Decode(dst, payload, refs, nil)
//
// # State
//
// Encoders and decoders keep no state between packets that affects the payload. What an adaptive
// codec has learnt is attached to a frame as its Memo: a pure function of the frame, its baseline
// and the baseline's memo. An endpoint that has the baseline therefore has its memo, so loss,
// reordering and duplication of packets cannot desynchronise sender and receiver.
//
// # Implementing a codec
//
// A codec is a function that returns a Codec value; package table lists all of them. TableCoder
// implements Encoder and Decoder for codecs that are built on a range coder. The codecs are in the
// packages below this one.
package encoders

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"wirelab/dataset/frame"
	"wirelab/internal/escape"
)

// Memo is what a codec has learnt up to a frame. A codec must not change a memo that is attached to
// a frame.
type Memo any

// MemoSizer is implemented by the parameters of codecs whose memos can be large.
type MemoSizer interface {
	// MemoSize returns the size of a memo, in bytes, approximately.
	MemoSize() int
}

// Ref is a reference: a frame that sender and receiver both have.
type Ref struct {
	Frame *frame.Frame

	// Memo is the memo that the codec attached to Frame. It is nil if the frame was encoded by another
	// codec or in another epoch; the codec then starts from its initial memo.
	Memo Memo

	// Changed lists the rows in which the frame to be encoded may differ from Frame, so that an
	// encoder need not compare the others. nil means that the frames were not compared. Decoders do
	// not use it.
	Changed frame.Rows
}

// Encoder writes the payloads of packets. It belongs to one sender and need not be safe for
// concurrent use.
//
// Frames have a tick, which is the same at both endpoints, so an encoder that predicts motion knows
// the time between a frame and its references.
type Encoder interface {
	// Encode appends the payload for cur to dst and returns the extended slice, and the memo to
	// attach to cur, which must not be the memo of a reference.
	//
	// refs holds the references, newest first: at least one, at most Codec.Refs. refs[0] may be the
	// initial state of the session.
	//
	// spare is a memo of this codec that is no longer used, or nil. Encode may overwrite and return
	// it instead of allocating.
	//
	// The bits of the payload are charged to budget, which may be nil. If it has a Trace, their
	// positions are recorded too.
	//
	// A codec with Quantises set rewrites cur, the endpoint's own copy, to exactly what Decode will
	// return. Other codecs do not change cur.
	//
	// Encode returns an error only if cur cannot be encoded.
	Encode(dst []byte, cur *frame.Frame, refs []Ref, spare Memo, budget *Budget) ([]byte, Memo, error)
}

// Decoder reads the payloads of packets. It belongs to one receiver and need not be safe for
// concurrent use.
type Decoder interface {
	// Decode decodes src into dst and returns the memo to attach to dst. dst's table has the
	// schema's size and dst's tick is set. refs must be those of the encoder; spare is as in
	// Encode.
	//
	// src may hold any bytes. Decode then returns an error that wraps ErrTruncated or ErrCorrupt,
	// or some frame within the schema's ranges. It must not panic, and must not take more time than
	// a valid packet can. After an error the content of dst is undefined.
	Decode(dst *frame.Frame, src []byte, refs []Ref, spare Memo) (Memo, error)
}

// RowCoder is implemented by encoders that code each row by itself, relative to one reference: a payload
// is a list of the rows that differ, and then the code of each of them. A server with many clients codes a
// pair of values once and appends the codes to the packets of all clients that need it. The payload
// is that of Encode, whose result has no memo.
type RowCoder interface {
	Encoder
	// CodeRow returns the code of a row that has the values cur, and in the reference base, which differ
	// from cur. ok is false if Encode refuses such a row.
	CodeRow(cur, base []int32) (code RowCode, ok bool)
	// AppendRows appends to dst the payload of a frame that differs from the reference in the rows of
	// list, in ascending order. codes has the code of each.
	AppendRows(dst []byte, list []int32, codes []RowCode) []byte
}

// RowCode has the bits of a row: those of Low first, from the lowest on, then those of High.
type RowCode struct {
	Low, High uint64
	Bits      uint // at most 128
}

// Feedback is implemented by encoders and decoders of protocols in which the receiver controls the
// model. The endpoints call Report on the decoder and Learn on the encoder.
type Feedback interface {
	// Report appends the decoder's report to dst. It is sent with every ack and counts as uplink
	// traffic.
	Report(dst []byte) []byte
	// Learn applies a report. report may hold any bytes.
	Learn(report []byte) error
}

// Finisher is implemented by encoders and decoders that can postpone the work that only the memo
// needs until the packet is sent or the frame is displayed.
type Finisher interface {
	// Defer makes all following calls of Encode and Decode leave that work to Finish.
	Defer()
	// Finish completes the memo that the last call of Encode or Decode returned. Until then the
	// memo must not be used, and the frame and its references must not change. If Finish was not
	// called, the next Encode or Decode completes the memo first. Without Defer, Finish does
	// nothing.
	Finish()
}

// Errors of decoders. Decoders wrap them with a description of what was being read.
var (
	// ErrTruncated means that the payload ended before the frame was complete.
	ErrTruncated = errors.New("payload truncated")
	// ErrCorrupt means that no encoder writes this payload.
	ErrCorrupt = errors.New("payload corrupt")
)

// ErrBroken means that a plugin violated the contract of Encoder or Decoder: it trapped, exceeded
// its timeout or returned invalid lengths. A session then returns to the previous encoder.
var ErrBroken = errors.New("broken")

// Codec describes an encoder: its identity, its properties and how to create it.
type Codec struct {
	ID        uint8  // sent in every packet header; 1..127, never reused
	Name      string // the name as users type it
	Version   int    // of the packets: raised when equal frames give other packets than before; 0 means 1
	Summary   string // the idea of the codec in one line
	Source    string // name, author and year of the publication that it implements
	Refs      int    // maximum number of references, 1 or 2
	Quantises bool   // Decode returns a frame that is near the source's but not equal
	// Standalone means that the decoder needs no references, so packets name none and are never
	// undecodable for lack of one. The encoder still gets references.
	Standalone bool
	Suits      func(*frame.Schema) bool // reports whether the codec can encode frames of a schema
	// Params is a pointer to a struct with the default parameters; nil if the codec has none. Its
	// exported fields are of type int, float64, bool or string and have tags `toml:"name"
	// help:"..." unit:"bits" min:"2" max:"8"`. The struct may have a method Validate() error for
	// conditions that ranges cannot express.
	Params any
	// Plugin describes the plugin that implements the codec; nil for a built-in codec.
	Plugin *Plugin
	// New returns the encoder and the decoder of a session. params has the type of Params; nil for a
	// codec without parameters.
	New func(s *frame.Schema, params any) (Encoder, Decoder, error)
}

// PacketVersion returns Version, and 1 if that is 0. For a plugin it returns 0: the hash of its file identifies it.
func (c *Codec) PacketVersion() int {
	if c.Plugin != nil {
		return 0
	}
	return cmp.Or(c.Version, 1)
}

// Plugin describes a codec that a plugin implements.
type Plugin struct {
	Path    string        // path of the WebAssembly module, or ProcessPrefix and a command
	SHA256  string        // hash of the module, in hexadecimal
	Memory  int64         // maximum memory of each endpoint, in bytes; 0 means no limit
	Timeout time.Duration // maximum duration of a call; negative means no timeout: the plugin is trusted
	Runtime string        // how the plugin is run: "WebAssembly", "interpreted WebAssembly" or "process"; times include its overhead
}

// ProcessPrefix begins the path of a plugin that runs as a process; the command follows.
const ProcessPrefix = "exec:"

// IsProcess reports whether the path of a plugin is the command of a process.
func IsProcess(path string) bool { return strings.HasPrefix(path, ProcessPrefix) }

// Runtime returns the runtime of a plugin's codec, see Plugin.Runtime. It is empty for a built-in
// codec, which runs as native code in this process.
func (c *Codec) Runtime() string {
	if c.Plugin == nil {
		return ""
	}
	return c.Plugin.Runtime
}

// TimeMarker returns the marker that follows a time of an encoder with runtime runsAs: "*" for a
// plugin, empty for a built-in codec.
func TimeMarker(runsAs string) string {
	if runsAs == "" {
		return ""
	}
	return "*"
}

// TimeFootnote returns the footnote that explains the marker of TimeMarker. runsAs is Plugin.Runtime, not empty.
func TimeFootnote(runsAs string) string {
	why := "a native build is faster"
	if runsAs == "process" { // native already, but every call is an exchange of messages
		why = "they include the exchange of messages with the process"
	}
	return "* times of a plugin (" + escape.Line(runsAs) + "): " + why
}

// Gauge is a figure of one endpoint of a codec for display, such as the number of models or the
// memory used.
type Gauge struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
}

// Gauged is implemented by encoders and decoders that have gauges.
type Gauged interface {
	Gauges() []Gauge
}

// Base returns the frame of the newest reference. It panics if refs is empty, or if the table does
// not have the given number of cells: the endpoints must guarantee both.
func Base(refs []Ref, cells int) *frame.Frame {
	if len(refs) == 0 || len(refs[0].Frame.Table) != cells {
		panic("encoders: the endpoints must pass a reference of the schema's size")
	}
	return refs[0].Frame
}

// memos returns two memos for a call of Encode or Decode: past, the memo of the newest reference,
// or initial if it has none of type M; and next, the memo to write, which is spare if that is of
// type M, or a new one.
func memos[M any](refs []Ref, spare Memo, initial *M) (past, next *M) {
	past, _ = refs[0].Memo.(*M)
	if past == nil {
		past = initial
	}
	next, _ = spare.(*M)
	if next == nil {
		next = new(M)
	}
	return past, next
}

// DecodeError wraps err, an error of reading a payload, in ErrTruncated if it is errShort, and in
// ErrCorrupt otherwise. nil stays nil. errShort is the error of a bit reader or a range coder at
// the end of its input.
func DecodeError(err, errShort error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errShort):
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}
