// Package savings measures what an encoder makes of messages: "what would my game save?" Each message
// is encoded as a session would, over a link that loses nothing and whose acks are a fixed number of
// messages late; it is decoded again and compared.
package savings

import (
	"context"
	"errors"
	"fmt"
	"io"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
	"wirelab/internal/wallclock"
)

// Options are what savings are measured under.
type Options struct {
	Lag   int             // messages until an ack arrives, 1 to frame.MaxHistory-1
	Limit int             // messages that are read; 0: all
	Clock wallclock.Clock // nil: no timings
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
	Refused  int64   `json:"refused,omitempty"` // messages that the encoder rejected: they count with their raw size
	Problem  string  `json:"problem,omitempty"` // why there are no figures, or the first refusal
	Timing   *timing `json:"timing,omitempty"`
}

// timing is how long the codec took for a byte of message. Only timing differs between runs.
type timing struct {
	EncodeUS float64 `json:"encode_us_per_byte"`
	DecodeUS float64 `json:"decode_us_per_byte"`
	RunsAs   string  `json:"runs_as,omitempty"` // of an encoder from outside: how it ran
}

// trial is an encoder at work.
type trial struct {
	Saving
	codec  *encoders.Codec
	pair   *drive.Pair
	lag    int
	ackOf  [][]byte // the decoder's report in the ack of message n, at n % lag
	packet []byte

	encodeNS, decodeNS int64
}

// Of measures a codec on the messages that next yields until io.EOF.
func Of(ctx context.Context, codec *encoders.Codec, params any, s *frame.Schema, initial *frame.Frame,
	next func(*frame.Frame) error, opt Options) (Saving, error) {
	if opt.Lag < 1 || opt.Lag >= frame.MaxHistory {
		return Saving{}, fmt.Errorf("acks %d messages late, expected 1 to %d", opt.Lag, frame.MaxHistory-1)
	}
	t := &trial{codec: codec, Saving: Saving{Encoder: codec.Name, Lossless: true}, lag: opt.Lag, ackOf: make([][]byte, opt.Lag)}
	var err error
	t.pair, err = drive.NewPair(codec, params, s, initial, 2*opt.Lag+1)
	if err != nil {
		t.Lossless, t.Problem = false, err.Error()
		return t.Saving, nil
	}
	t.pair.Clock = opt.Clock
	f := s.NewFrame()
	for n := 0; opt.Limit == 0 || n < opt.Limit; n++ {
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
			perByte := func(ns int64) float64 { return float64(ns) / 1e3 / float64(t.Raw) }
			t.Timing = &timing{EncodeUS: perByte(t.encodeNS), DecodeUS: perByte(t.decodeNS), RunsAs: codec.RunsAs()}
		}
	}
	return t.Saving, nil
}

// refs returns, for one end, the newest messages that both ends hold and whose acks are there by
// message n, newest first.
func (t *trial) refs(e *drive.End, n int) []encoders.Ref {
	var seqs []uint64
	for i := n - t.lag; i >= max(0, n-2*t.lag-1) && len(seqs) < max(1, t.codec.Refs); i-- {
		if t.pair.Receiver.History.Get(uint64(i)) != nil {
			seqs = append(seqs, uint64(i))
		}
	}
	if len(seqs) == 0 {
		return e.Initial(0)
	}
	return e.To(seqs...)
}

// send encodes message n, decodes it and compares.
func (t *trial) send(n int, f *frame.Frame) {
	p := t.pair
	t.learn(n)
	t.Messages++
	t.Raw += int64(len(f.Body))
	packet, _, err := p.Encode(t.packet[:0], n, f, t.refs(&p.Sender, n), nil)
	t.encodeNS += p.EncodeNS
	if err != nil {
		t.Refused++
		t.Bytes += int64(len(f.Body))
		t.note(fmt.Sprintf("message %d: %v", n, err))
		return
	}
	t.packet = packet
	t.Bytes += int64(len(packet))
	if over := len(packet) - len(f.Body); over > 0 {
		t.Larger++
		t.MostOver = max(t.MostOver, over)
	}
	got, err := p.Decode(n, packet, t.refs(&p.Receiver, n))
	t.decodeNS += p.DecodeNS
	if err != nil || !got.Equal(f) && !t.codec.Quantises {
		t.Lossless = false
		t.note(fmt.Sprintf("message %d does not come back: %v", n, err))
	}
	if d, ok := p.Decoder.(encoders.Feedback); ok {
		at := n % t.lag
		t.ackOf[at] = d.Report(t.ackOf[at][:0])
	}
}

// learn passes the report in the ack that arrives before message n to the encoder.
func (t *trial) learn(n int) {
	report := t.ackOf[n%t.lag]
	if e, ok := t.pair.Encoder.(encoders.Feedback); ok && len(report) > 0 {
		if err := e.Learn(report); err != nil {
			t.note(fmt.Sprintf("before message %d: %v", n, err))
		}
	}
}

// note keeps the first problem.
func (t *trial) note(problem string) {
	if t.Problem == "" {
		t.Problem = problem
	}
}
