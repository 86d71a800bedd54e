// Package savings says what an encoder makes of messages: "what would my game save?"
// Each is encoded as a session would, over a link that loses nothing and whose acks are
// so many messages late; it is decoded again and compared.
package savings

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Options are what savings are measured under.
type Options struct {
	Lag   int                  // messages until an ack arrives, 1 to frame.MaxHistory-1
	Most  int                  // messages that are looked at; 0: all
	Clock func() time.Duration // nil: no timings
}

// Saving is what one encoder makes of messages. Sizes are of payload, without headers.
type Saving struct {
	Encoder  string  `json:"encoder"`
	Messages int64   `json:"messages"`
	Raw      int64   `json:"raw_bytes"`
	Bytes    int64   `json:"bytes"`
	Ratio    float64 `json:"ratio"`     // Bytes/Raw
	Larger   int64   `json:"larger"`    // messages that became larger
	MostOver int     `json:"most_over"` // bytes, of the one that grew most
	Lossless bool    `json:"lossless"`
	Refused  int64   `json:"refused,omitempty"` // messages that the encoder would not take: they count as they are
	Problem  string  `json:"problem,omitempty"` // why there are no figures, or the first refusal
	Timing   *Timing `json:"timing,omitempty"`
}

// Timing is how long it took, a byte of message. It differs between runs, as nothing else.
type Timing struct {
	EncodeUS float64 `json:"encode_us_per_byte"`
	DecodeUS float64 `json:"decode_us_per_byte"`
	RunsAs   string  `json:"runs_as,omitempty"` // of an encoder from outside: WebAssembly or process, whose times they are
}

// trial is an encoder at work.
type trial struct {
	Saving
	opt     Options
	schema  *frame.Schema
	codec   *encoders.Codec
	enc     encoders.Encoder
	dec     encoders.Decoder
	initial *frame.Frame
	sent    []end // by number modulo the length
	got     []end
	reports [][]byte
	out     []byte
	took    [2]time.Duration // by the encoder and the decoder
}

// end is what one end keeps of a message.
type end struct {
	frame frame.Frame
	memo  encoders.Memo
	held  bool // both ends have it
}

// Of measures a codec on what next yields until io.EOF.
func Of(ctx context.Context, codec *encoders.Codec, params any, s *frame.Schema, initial *frame.Frame,
	next func(*frame.Frame) error, opt Options) (Saving, error) {
	if opt.Lag < 1 || opt.Lag >= frame.MaxHistory {
		return Saving{}, fmt.Errorf("acks %d messages late, expected 1 to %d", opt.Lag, frame.MaxHistory-1)
	}
	t := &trial{opt: opt, schema: s, codec: codec, initial: initial, Saving: Saving{Encoder: codec.Name, Lossless: true},
		sent: make([]end, 2*opt.Lag+2), got: make([]end, 2*opt.Lag+2), reports: make([][]byte, opt.Lag)}
	var err error
	if t.enc, t.dec, err = codec.New(s, params); err != nil {
		t.Lossless, t.Problem = false, err.Error()
		return t.Saving, nil
	}
	f := s.NewFrame()
	for n := 0; opt.Most == 0 || n < opt.Most; n++ {
		if err := ctx.Err(); err != nil {
			return t.Saving, err
		}
		if err := next(f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return t.Saving, err
		}
		f.Tick = uint32(n)
		t.send(n, f)
	}
	if t.Raw > 0 {
		t.Ratio = float64(t.Bytes) / float64(t.Raw)
		if opt.Clock != nil {
			t.Timing = &Timing{EncodeUS: t.took[0].Seconds() * 1e6 / float64(t.Raw), DecodeUS: t.took[1].Seconds() * 1e6 / float64(t.Raw), RunsAs: t.codec.RunsAs()}
		}
	}
	return t.Saving, nil
}

// refs returns the newest messages whose acks are there, newest first.
func (t *trial) refs(n int, ends []end) []encoders.Ref {
	var refs []encoders.Ref
	for i := n - t.opt.Lag; i >= 0 && i > n-len(ends) && len(refs) < max(1, t.codec.Refs); i-- {
		if e := &ends[i%len(ends)]; e.held {
			refs = append(refs, encoders.Ref{Frame: &e.frame, Memo: e.memo})
		}
	}
	if len(refs) == 0 {
		refs = []encoders.Ref{{Frame: t.initial}}
	}
	return refs
}

// send encodes message n, decodes it and compares.
func (t *trial) send(n int, f *frame.Frame) {
	a, b := &t.sent[n%len(t.sent)], &t.got[n%len(t.got)]
	sentRefs, gotRefs := t.refs(n, t.sent), t.refs(n, t.got)
	t.learn(n)
	t.Messages++
	t.Raw += int64(len(f.Body))
	a.frame.CopyFrom(f)
	start := t.now()
	out, memo, err := t.enc.Encode(t.out[:0], &a.frame, sentRefs, a.spare(), nil)
	t.took[0] += t.now() - start
	if err != nil {
		t.refuse(n, f, err)
		return
	}
	t.out, a.memo = out, memo
	t.Bytes += int64(len(out))
	if over := len(out) - len(f.Body); over > 0 {
		t.Larger++
		t.MostOver = max(t.MostOver, over)
	}
	b.frame.CopyFrom(t.initial)
	b.frame.Tick = f.Tick
	start = t.now()
	b.memo, err = t.dec.Decode(&b.frame, out, gotRefs, b.spare())
	t.took[1] += t.now() - start
	a.held, b.held = err == nil, err == nil
	if err != nil || !b.frame.Equal(f) && !t.codec.Quantises {
		t.Lossless = false
		if t.Problem == "" {
			t.Problem = fmt.Sprintf("message %d does not come back: %v", n, err)
		}
	}
	if r, ok := t.dec.(encoders.Feedback); ok {
		at := n % len(t.reports)
		t.reports[at] = r.Report(t.reports[at][:0])
	}
}

// spare gives the memo that is overwritten now back to the codec.
func (e *end) spare() encoders.Memo {
	m := e.memo
	e.memo, e.held = nil, false
	return m
}

// refuse counts a message that the encoder will not take: it would be sent as it is.
func (t *trial) refuse(n int, f *frame.Frame, err error) {
	t.Refused++
	t.Bytes += int64(len(f.Body))
	t.got[n%len(t.got)].held = false
	if t.Problem == "" {
		t.Problem = fmt.Sprintf("message %d: %v", n, err)
	}
}

// learn gives the sender the report of the ack that arrives before message n.
func (t *trial) learn(n int) {
	at := n % len(t.reports)
	if e, ok := t.enc.(encoders.Feedback); ok && len(t.reports[at]) > 0 {
		if err := e.Learn(t.reports[at]); err != nil && t.Problem == "" {
			t.Problem = fmt.Sprintf("before message %d: %v", n, err)
		}
	}
}

func (t *trial) now() time.Duration {
	if t.opt.Clock == nil {
		return 0
	}
	return t.opt.Clock()
}
