// Package encoders defines encoders: the interfaces that the endpoints
// call, the description by which a codec is listed and configured (Codec), and
// the account of what each bit was spent on (Budget).
//
// An encoder turns a frame into a packet's payload, given references to frames
// that both ends hold. It is otherwise stateless: what an adaptive encoder has
// learnt is attached to a frame as its memo, a pure function of the frame and of
// its baseline's memo. So loss, reordering and duplication can never
// desynchronise two ends: an end that holds the baseline holds its memo.
//
// The encoders themselves live in the packages below; package table lists them.
package encoders

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"wirelab/dataset/frame"
)

// Memo is what a codec remembers of a frame; immutable while attached to one.
type Memo any

// Ref is a frame that both ends hold. Memo is nil unless it was made in this
// very epoch of this codec; the codec then starts from its initial memo.
//
// Changed is for encoders, so that they need not compare frames: the rows in which the frame
// to be encoded differs from Frame. nil means that the frames were not compared.
type Ref struct {
	Frame   *frame.Frame
	Memo    Memo
	Changed frame.Rows
}

// Encoder writes packets. One belongs to one sender.
//
// Frames come with their ticks, at both ends alike: the source's counter, as the
// sequence numbers and the configured rates give it. So an encoder that predicts
// motion knows the time between a frame and its references.
type Encoder interface {
	// Encode appends the payload for cur to dst and returns it with the memo to
	// attach to cur, which is never that of a reference. refs are frames that
	// both ends hold, newest first: at least one, at most Codec.Refs; refs[0] may
	// be the initial state. spare, if not nil, is a memo of this codec that has
	// left the history: overwrite and return it instead of allocating. Bits are
	// charged to budget, which may be nil. A codec that quantises rewrites cur,
	// which is the endpoint's own copy, to exactly what Decode will yield. It
	// fails only if cur cannot be coded.
	Encode(dst []byte, cur *frame.Frame, refs []Ref, spare Memo, budget *Budget) ([]byte, Memo, error)
}

// Decoder reads packets. One belongs to one receiver.
type Decoder interface {
	// Decode fills dst from src. Any bytes may come: the answer is then an error
	// that wraps ErrTruncated or ErrCorrupt, or some frame within the schema's
	// ranges; never a panic, and never more work than an honest packet causes.
	// dst's table has the schema's size and its tick is set; the content is undefined
	// on error.
	Decode(dst *frame.Frame, src []byte, refs []Ref, spare Memo) (Memo, error)
}

// Feedback is implemented by protocols in which the receiver controls the model: Report
// on the decoder, Learn on the encoder.
type Feedback interface {
	Report(dst []byte) []byte  // appended to every ack, billed to the uplink
	Learn(report []byte) error // on the encoder; any bytes may come
}

// Finisher is implemented by encoders and decoders that can do part of their work after
// the packet is sent, or the frame shown: what only the memo needs.
type Finisher interface {
	// Defer makes all further calls of Encode or Decode leave that part to Finish.
	Defer()
	// Finish completes the memo that the last call returned. Until then that memo must
	// not be used, and the frame and its references must not change. The next call finishes first what
	// is not finished; without Defer there is never anything to do.
	Finish()
}

// Errors of decoders. Wrap them with what was being read.
var (
	// ErrTruncated: the payload ended before the frame was complete.
	ErrTruncated = errors.New("payload truncated")
	// ErrCorrupt: the payload says something that no encoder writes.
	ErrCorrupt = errors.New("payload corrupt")
)

// ErrBroken says that an encoder from outside did not keep its contract: it trapped, took too
// long or lied about lengths. A session goes on with the encoder before.
var ErrBroken = errors.New("broken")

// Codec describes one encoder: a value in an explicit, ordered table.
type Codec struct {
	ID        uint8  // travels in every packet header; 1..127, never reused
	Name      string // as users type it
	Summary   string // one line: the idea
	Source    string // name, author, year of what it follows
	Refs      int    // the most references it takes, 1 or 2
	Quantises bool   // decodes to something near the source, not equal to it
	// Standalone: the decoder needs no reference, so packets name none and can
	// never lack one. The encoder still gets refs, for what it derives from them.
	Standalone bool
	Suits      func(*frame.Schema) bool
	// Params is a pointer to a struct of defaults, nil if none. Its
	// exported fields are int, float64, bool or string with tags
	// `toml:"name" help:"..." unit:"bits" min:"2" max:"8"`; it may have a method
	// Validate() error for what ranges cannot say.
	Params any
	// Plugin is the origin of an encoder from outside, nil if it is built in.
	Plugin *Plugin
	New    func(s *frame.Schema, params any) (Encoder, Decoder, error)
}

// Plugin is where an encoder from outside came from, and how it runs.
type Plugin struct {
	Path    string // of the module, or exec:COMMAND
	SHA256  string
	Memory  int64         // bytes that each end may take; 0 means no limit
	Timeout time.Duration // of a call; negative: it is trusted
	Runs    string        // WebAssembly, interpreted WebAssembly or process: its times are those of that
}

// ProcessPrefix stands before the command of a plugin that is a process of its own, in place of a path.
const ProcessPrefix = "exec:"

// IsProcess reports whether the path of a plugin is such a command.
func IsProcess(path string) bool { return strings.HasPrefix(path, ProcessPrefix) }

// RunsAs returns what the times of an encoder include: empty for one that is built in, whose
// times are those of native code in this process.
func (c *Codec) RunsAs() string {
	if c.Plugin == nil {
		return ""
	}
	return c.Plugin.Runs
}

// TimeMark is what stands behind a time of an encoder that runs as that: empty for one that
// is built in.
func TimeMark(runsAs string) string {
	if runsAs == "" {
		return ""
	}
	return "*"
}

// TimeNote explains the mark.
func TimeNote(runsAs string) string {
	why := "a native build is faster"
	if runsAs == "process" { // which may be native, but has to be asked
		why = "built in, it need not be asked by messages"
	}
	return "* times of a plugin (" + runsAs + "): " + why
}

// Gauge is a figure of one end of a protocol for display, such as models built or memory
// held. It influences nothing.
type Gauge struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"`
}

// Gauged is implemented by encoders and decoders that have gauges.
type Gauged interface {
	Gauges() []Gauge
}

// Base returns the newest reference. It panics unless that is a frame of the given
// number of values, which the endpoints have to see to.
func Base(refs []Ref, cells int) *frame.Frame {
	if len(refs) == 0 || len(refs[0].Frame.Table) != cells {
		panic("encoders: the endpoints must pass a reference of the schema's size")
	}
	return refs[0].Frame
}

// memos returns past, the memo of the newest reference, or initial if that has none, and
// next, the memo to write, which is spare if it is an M, or else new.
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

// DecodeError wraps what went wrong with a payload in ErrTruncated or ErrCorrupt; nil
// stays nil. short is the error of a bit reader whose input ended early.
func DecodeError(err, short error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, short):
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}
