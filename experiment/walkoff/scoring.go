package walkoff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// scoring scores one encoder.
type scoring struct {
	codec    *encoders.Codec
	opt      Options
	frames   int // number of frames to encode
	progress func(done int)

	send  *sender
	recv  *receiver
	audit *audit
	tally tally
}

// progressEvery is the number of frames between two reports of progress.
const progressEvery = 64

// run encodes, decodes and compares frame by frame. Errors are of the data or of ctx;
// faults of the codec are part of the result.
func (m *scoring) run(ctx context.Context, open Open) (Result, error) {
	src, err := open()
	if err != nil {
		return Result{}, err
	}
	defer closeSource(src)
	s := src.Schema()
	initial, f := s.NewFrame(), s.NewFrame()
	src.Initial(initial)
	if m.send, m.recv, err = newEndpoints(m.codec, s, initial, m.opt.back()); err != nil {
		return Result{}, fmt.Errorf("%s: %w", m.codec.Name, err)
	}
	if m.opt.Audit != nil {
		if m.audit, err = startAudit(ctx, m.opt.Audit, m.codec.Name, s, initial); err != nil {
			return Result{}, err
		}
		defer m.audit.stop()
	}
	m.tally.schema = s
	problem := ""
	var packet []byte
	for n := Delay; n < Delay+m.frames && problem == ""; n++ {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if err := src.Next(f); err != nil {
			return Result{}, endedEarly(err)
		}
		packet, problem = m.step(n, m.opt.backOf(src), f, packet[:0])
		if game, ok := src.(dataset.Priced); ok && game.Price().Key {
			m.tally.keyBytes += len(packet)
		}
		if m.progress != nil && (n%progressEvery == 0 || n == Delay+m.frames-1) {
			m.progress(n - Delay + 1)
		}
	}
	return m.result(ctx, problem)
}

// endedEarly replaces io.EOF: the recording is now shorter than survey found it.
func endedEarly(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("the recording became shorter while it was being read")
	}
	return err
}

// step encodes and decodes one frame. It returns the packet, and what went wrong; ""
// if nothing did.
func (m *scoring) step(n, back int, f *frame.Frame, packet []byte) (_ []byte, problem string) {
	changed := f.ChangedRows(m.send.baseline(n, back)[0].Frame, len(m.tally.schema.Fields))
	t0 := m.opt.Clock()
	packet, err := m.send.encode(packet, n, back, f)
	t1 := m.opt.Clock()
	if err != nil {
		return packet, fmt.Sprintf("frame %d cannot be encoded: %v", n, err)
	}
	if m.audit != nil {
		m.audit.add(n, f, packet)
	}
	t2 := m.opt.Clock()
	got, err := m.recv.decode(n, back, packet)
	t3 := m.opt.Clock()
	if err != nil {
		return packet, fmt.Sprintf("frame %d cannot be decoded: %v", n, err)
	}
	m.tally.add(len(packet), changed, t1-t0, t3-t2)
	return packet, difference(m.tally.schema, n, f, got)
}

// difference describes the first value in which the decoded frame differs from the
// recording; "" if there is none.
func difference(s *frame.Schema, n int, want, got *frame.Frame) string {
	if slices.Equal(want.Table, got.Table) {
		return ""
	}
	if len(got.Table) != len(want.Table) {
		return fmt.Sprintf("frame %d: decoded %d values, expected %d", n, len(got.Table), len(want.Table))
	}
	fields := s.Fields
	for i, v := range want.Table {
		if g := got.Table[i]; g != v {
			return fmt.Sprintf("frame %d, %s %d: %s decoded as %d, expected %d", n, s.Item, i/len(fields), fields[i%len(fields)].Name, g, v)
		}
	}
	return ""
}

// result waits for the audit and returns the encoder's result.
func (m *scoring) result(ctx context.Context, problem string) (Result, error) {
	r := m.tally.result()
	r.Encoder, r.RunsAs, r.Audit = m.codec.Name, m.codec.RunsAs(), AuditOff
	r.Lossless, r.Problem = problem == "", problem
	if m.audit == nil {
		return r, nil
	}
	illegal := m.audit.verdict()
	if err := ctx.Err(); err != nil {
		return Result{}, err // ctx ended the processes too: there is no verdict
	}
	r.Audit = AuditPass
	if illegal != "" || !r.Lossless {
		r.Audit = AuditFail
	}
	if r.Problem == "" {
		r.Problem = illegal
	}
	return r, nil
}

// tally collects the measurements of one encoder.
type tally struct {
	schema         *frame.Schema
	sizes          []int
	changed        int
	keyBytes       int // in place of keyframes of the recording
	encode, decode []time.Duration
}

func (t *tally) add(size, changed int, encode, decode time.Duration) {
	t.sizes = append(t.sizes, size)
	t.changed += changed
	t.encode = append(t.encode, encode)
	t.decode = append(t.decode, decode)
}
