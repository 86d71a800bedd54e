package walkoff

import (
	"context"
	"fmt"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
	"wirelab/internal/wallclock"
)

// MessageOptions configure MeasureMessages.
type MessageOptions struct {
	Lag   int             // messages until an ack arrives, 1 to frame.MaxHistory-1
	Limit int             // maximum number of messages; 0 means all
	Clock wallclock.Clock // nil means no timings
}

// MessageResult is the result of one encoder for messages. Sizes are those of payloads, without headers.
type MessageResult struct {
	Encoder   string         `json:"encoder"`
	Messages  int64          `json:"messages"`
	Raw       int64          `json:"raw_bytes"`
	Bytes     int64          `json:"bytes"`
	Ratio     float64        `json:"ratio"`     // Bytes/Raw
	Larger    int64          `json:"larger"`    // number of messages whose packet is larger than the message
	MaxGrowth int            `json:"most_over"` // largest difference of a packet and its message, in bytes
	Lossless  bool           `json:"lossless"`
	Refused   int64          `json:"refused,omitempty"` // messages that the encoder rejected; they are counted with their raw size
	Problem   string         `json:"problem,omitempty"` // the first problem; empty if none
	Timing    *messageTiming `json:"timing,omitempty"`
}

// messageTiming is the time of the codec per byte of the messages. It differs between runs.
type messageTiming struct {
	EncodeUS float64 `json:"encode_us_per_byte"`
	DecodeUS float64 `json:"decode_us_per_byte"`
	RunsAs   string  `json:"runs_as,omitempty"` // encoders.Plugin.Runtime of a plugin
}

// A messageRun is the state of MeasureMessages.
type messageRun struct {
	MessageResult
	codec   *encoders.Codec
	pair    *drive.Pair
	lag     int
	reports [][]byte // ring of the decoder's reports in acks: that about message n is at n % lag
	packet  []byte

	encodeNS, decodeNS int64
}

// MeasureMessages measures how much a codec reduces the messages of src. Each is encoded as in a session
// over a link without loss whose acks arrive a fixed number of messages later; it is then decoded and
// compared. A codec that rejects params or the schema is not an error: MessageResult.Problem contains
// the reason. After an error of src or ctx, MeasureMessages also returns the sizes so far.
func MeasureMessages(ctx context.Context, codec *encoders.Codec, params any, src dataset.Source,
	opt MessageOptions) (MessageResult, error) {
	if opt.Lag < 1 || opt.Lag >= frame.MaxHistory {
		return MessageResult{}, fmt.Errorf("acks arrive %d messages later, expected 1 to %d", opt.Lag,
			frame.MaxHistory-1)
	}
	t := &messageRun{codec: codec, MessageResult: MessageResult{Encoder: codec.Name, Lossless: true},
		lag: opt.Lag, reports: make([][]byte, opt.Lag)}
	initial, f := src.Schema().NewFrame(), src.Schema().NewFrame()
	src.Initial(initial)
	var err error
	historyLength := 2*opt.Lag + 1 // the oldest reference: see refsFor
	t.pair, err = drive.NewPair(codec, params, src.Schema(), initial, historyLength)
	if err != nil {
		t.Lossless = false
		t.Problem = err.Error()
		return t.MessageResult, nil
	}
	t.pair.Clock = opt.Clock
	_, err = dataset.Read(ctx, src, f, opt.Limit, func(n int) error {
		f.Tick = uint32(n)
		t.send(n, f)
		return nil
	})
	if err == nil && t.Raw > 0 {
		t.Ratio = float64(t.Bytes) / float64(t.Raw)
		if opt.Clock != nil {
			perByte := func(ns int64) float64 { return float64(ns) / 1e3 / float64(t.Raw) }
			t.Timing = &messageTiming{EncodeUS: perByte(t.encodeNS), DecodeUS: perByte(t.decodeNS),
				RunsAs: codec.Runtime()}
		}
	}
	return t.MessageResult, err
}

// refsFor returns the references for message n, with the memos that endpoint e has for them: as many
// messages as the codec uses, the newest first, of those that were decoded and whose acks have arrived.
// The ack of a message arrives t.lag messages later. Without such a message, the initial state is the
// only reference.
func (t *messageRun) refsFor(e *drive.End, n int) []encoders.Ref {
	var seqs []uint64
	limit := max(1, t.codec.Refs)
	oldest := max(0, n-2*t.lag-1) // the histories of t.pair do not contain older messages
	for i := n - t.lag; i >= oldest && len(seqs) < limit; i-- {
		if t.pair.Receiver.History.Get(uint64(i)) != nil {
			seqs = append(seqs, uint64(i))
		}
	}
	if len(seqs) == 0 {
		return e.Initial(0)
	}
	return e.RefsTo(seqs...)
}

// send encodes message n, decodes it and compares. It adds the sizes and times to the result, and stores the
// decoder's report for deliverReport.
func (t *messageRun) send(n int, f *frame.Frame) {
	p := t.pair
	t.deliverReport(n)
	t.Messages++
	t.Raw += int64(len(f.Body))
	packet, _, err := p.Encode(t.packet[:0], n, f, t.refsFor(&p.Sender, n), nil) // nil: no bit budget is kept
	t.encodeNS += p.EncodeNS
	if err != nil { // the game would send the message itself
		t.Refused++
		t.Bytes += int64(len(f.Body))
		t.setProblem(fmt.Sprintf("message %d: %v", n, err))
		return
	}
	t.packet = packet
	t.Bytes += int64(len(packet))
	if growth := len(packet) - len(f.Body); growth > 0 {
		t.Larger++
		t.MaxGrowth = max(t.MaxGrowth, growth)
	}
	got, err := p.Decode(n, packet, t.refsFor(&p.Receiver, n))
	t.decodeNS += p.DecodeNS
	switch {
	case err != nil:
		t.Lossless = false
		t.setProblem(fmt.Sprintf("message %d cannot be decoded: %v", n, err))
	case !got.Equal(f) && !t.codec.Quantises:
		t.Lossless = false
		t.setProblem(fmt.Sprintf("message %d: the decoded message differs from the sent one", n))
	}
	if d, ok := p.Decoder.(encoders.Feedback); ok {
		slot := n % t.lag
		t.reports[slot] = d.Report(t.reports[slot][:0])
	}
}

// deliverReport passes the decoder's report about message n-lag to the encoder. This report is in the
// ack that arrives just before message n is sent. deliverReport does nothing if encoder or decoder do
// not use reports.
func (t *messageRun) deliverReport(n int) {
	report := t.reports[n%t.lag]
	if e, ok := t.pair.Encoder.(encoders.Feedback); ok && len(report) > 0 {
		if err := e.Learn(report); err != nil {
			t.setProblem(fmt.Sprintf("before message %d: %v", n, err))
		}
	}
}

// setProblem stores the first problem.
func (t *messageRun) setProblem(problem string) {
	if t.Problem == "" {
		t.Problem = problem
	}
}
