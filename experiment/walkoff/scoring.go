package walkoff

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
)

// A scorer scores one encoder.
type scorer struct {
	codec    *encoders.Codec
	params   any // of the codec
	opt      Options
	frames   int // number of frames to encode
	progress func(done int)

	pair   *drive.Pair
	audit  *audit
	tally  tally
	packet []byte // of the newest frame
}

// progressEvery is the number of frames between two reports of progress.
const progressEvery = 64

// run encodes, decodes and compares all frames. It returns errors of the data and of ctx; errors of the
// codec are part of the result.
func (m *scorer) run(ctx context.Context, open Open) (Result, error) {
	src, err := open()
	if err != nil {
		return Result{}, err
	}
	defer closeSource(src)
	s := src.Schema()
	initial, f := s.NewFrame(), s.NewFrame()
	src.Initial(initial)
	m.pair, err = newPair(m.codec, m.params, s, initial, m.opt.Back)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", m.codec.Name, err)
	}
	m.pair.Clock = m.opt.Clock
	if m.opt.Audit != nil {
		m.audit, err = startAudit(ctx, m.opt.Audit, m.codec.Name, m.codec.Canonical(m.params), s, initial)
		if err != nil {
			return Result{}, err
		}
		defer m.audit.stop()
	}
	m.tally.schema = s
	n, err := dataset.Read(ctx, src, f, m.frames, func(n int) error {
		if problem := m.scoreFrame(n+Delay, m.opt.baselineAge(src), f); problem != "" {
			return &codecProblem{problem}
		}
		if m.progress != nil && (n%progressEvery == 0 || n == m.frames-1) {
			m.progress(n + 1)
		}
		return nil
	})
	problem := &codecProblem{}
	switch {
	case errors.As(err, &problem):
	case err != nil:
		return Result{}, err
	case n < m.frames:
		return Result{}, errors.New("the recording became shorter while it was read")
	}
	return m.result(ctx, problem.text)
}

// codecProblem is why a codec is not lossless: it ends the reading of frames.
type codecProblem struct{ text string }

// Error returns the problem.
func (p *codecProblem) Error() string { return p.text }

// scoreFrame encodes frame n, whose baseline is frame n-back, decodes it, and adds the packet to the
// tally and the audit. It returns a description of the problem if the codec fails or the decoded frame
// differs; "" if none.
func (m *scorer) scoreFrame(n, back int, f *frame.Frame) (problem string) {
	p := m.pair
	sent := refsFor(&p.Sender, n, back)
	changed := f.ChangedRows(sent[0].Frame, len(m.tally.schema.Fields))
	var err error
	m.packet, _, err = p.Encode(m.packet[:0], n, f, sent, nil) // nil: no bit budget is kept
	if err != nil {
		return fmt.Sprintf("frame %d cannot be encoded: %v", n, err)
	}
	if m.audit != nil {
		m.audit.add(n, f, m.packet)
	}
	got, err := p.Decode(n, m.packet, refsFor(&p.Receiver, n, back))
	if err != nil {
		return fmt.Sprintf("frame %d cannot be decoded: %v", n, err)
	}
	m.tally.add(len(m.packet), changed, p.EncodeNS, p.DecodeNS)
	return difference(m.tally.schema, n, f, got)
}

// difference describes the first value in which the decoded frame differs from the recording; ""
// if they are equal.
func difference(s *frame.Schema, n int, want, got *frame.Frame) string {
	if slices.Equal(want.Table, got.Table) {
		return ""
	}
	if len(got.Table) != len(want.Table) {
		return fmt.Sprintf("frame %d: decoded %d values, expected %d", n, len(got.Table), len(want.Table))
	}
	i, fields := 0, len(s.Fields)
	for want.Table[i] == got.Table[i] {
		i++
	}
	return fmt.Sprintf("frame %d, %s %d: %s decoded as %d, expected %d", n, s.Item, i/fields,
		s.Fields[i%fields].Name,
		got.Table[i], want.Table[i])
}

// result waits for the audit, if any, and returns the encoder's result. problem is why the encoder is not
// lossless, "" if it is.
func (m *scorer) result(ctx context.Context, problem string) (Result, error) {
	r := m.tally.result()
	r.Encoder, r.Params, r.Version = m.codec.Name, string(m.codec.Canonical(m.params)),
		m.codec.PacketVersion()
	r.RunsAs, r.Audit = m.codec.Runtime(), auditOff
	r.Lossless, r.Problem = problem == "", problem
	if m.audit == nil {
		return r, nil
	}
	violation := m.audit.verdict()
	if err := ctx.Err(); err != nil {
		return Result{}, err // ctx ended the processes too: there is no verdict
	}
	r.Audit = auditPass
	if violation != "" || !r.Lossless {
		r.Audit = auditFail
	}
	if r.Problem == "" {
		r.Problem = violation
	}
	return r, nil
}

// A tally collects the measurements of one encoder.
type tally struct {
	schema         *frame.Schema
	sizes          []int   // sizes of the packets in bytes
	changed        int     // rows that differ from the baseline, in all frames
	encode, decode []int64 // times of the packets in nanoseconds
}

// add adds a packet of size bytes, the number of its changed rows, and its times in nanoseconds.
func (t *tally) add(size, changed int, encode, decode int64) {
	t.sizes = append(t.sizes, size)
	t.changed += changed
	t.encode = append(t.encode, encode)
	t.decode = append(t.decode, decode)
}
