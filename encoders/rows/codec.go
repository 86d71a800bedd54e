package rows

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/states"
)

// MaxBody bounds the body of a frame, in bytes.
const MaxBody = 1 << 16

// Params are the settings of delta-adaptive.
type Params struct {
	Limit int `toml:"limit" help:"how many decisions a probability rests on at most; fewer forget faster" unit:"decisions" min:"8" max:"1000"`
	Rate  int `toml:"rate" help:"learning rate of the mixing weights; 0: they stay" min:"0" max:"4000"`
}

// DeltaAdaptive codes any table by its schema and by adaptive models.
func DeltaAdaptive() encoders.Codec {
	return encoders.Codec{
		ID: 40, Name: "delta-adaptive", Refs: 1, Suits: suits,
		Summary: "any table: which rows changed, each field against its own motion, by mixed probabilities learnt on the way",
		Source:  "gaffer_net, Fabian Giesen, 2015; PAQ, Matt Mahoney, 2005",
		Params:  &Params{Limit: 250, Rate: 400},
		New: func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			if !suits(s) {
				return nil, nil, fmt.Errorf("schema %s has no table", s.Name)
			}
			if err := encoders.Validate(params); err != nil {
				return nil, nil, err
			}
			p := params.(*Params)
			if states.Suits(s) {
				enc, dec := states.New(s, states.Params{Limit: p.Limit, Rate: p.Rate})
				return enc, dec, nil
			}
			return newCoder(s, p), newCoder(s, p), nil
		},
	}
}

func suits(s *frame.Schema) bool {
	return s.Rows > 0 && len(s.Fields) > 0 && s.Delivery == frame.Latest
}

// coder is the encoder or the decoder: one traversal serves both. It passes every
// decision to the range coder and stores the result; when it reads, cur starts as a copy
// of base.
type coder struct {
	*plan
	c       rangecoder.Coder
	x       mixer
	initial *memo
	err     error // the first error

	counting bool
	mark     int64
	spent    [encoders.MaxSlots]int64

	scene scene
	row   rowState
}

func newCoder(s *frame.Schema, p *Params) *coder {
	e := &coder{plan: newPlan(s)}
	e.initial = newMemo(e.plan)
	e.x = mixer{c: &e.c, limit: p.Limit, rate: int32(p.Rate)}
	e.row.init(e)
	return e
}

// charge accounts for the units since the last charge.
func (e *coder) charge(k encoders.Slot) {
	if e.counting {
		at := e.c.Spent()
		e.spent[k] += at - e.mark
		e.mark = at
	}
}

// references returns the reference, its memo, and the memo to write.
func (e *coder) references(refs []encoders.Ref, spare encoders.Memo) (base *frame.Frame, past, next *memo) {
	base = encoders.Base(refs, e.schema.Cells())
	past, next = encoders.Memos(refs, spare, e.initial)
	return base, past, next
}

// Encode implements encoders.Encoder.
func (e *coder) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	base, past, next := e.references(refs, spare)
	if len(cur.Table) != len(base.Table) || len(cur.Body) > MaxBody {
		return dst, nil, fmt.Errorf("rows: frame of %d values and a body of %d bytes, expected %d and at most %d",
			len(cur.Table), len(cur.Body), len(base.Table), MaxBody)
	}
	if err := e.schema.Check(cur); err != nil {
		return dst, nil, fmt.Errorf("rows: %w", err)
	}
	e.c.Write(dst)
	e.err, e.counting, e.mark = nil, b != nil, 0
	e.spent = [encoders.MaxSlots]int64{}
	e.code(cur, base, past, next)
	if e.err != nil {
		return dst, nil, fmt.Errorf("rows: %w", e.err)
	}
	out := e.c.Finish()
	before := b.Total()
	for k, units := range e.spent {
		b.Charge(encoders.Slot(k), units)
	}
	b.Close(before, len(out)-len(dst))
	return out, next, nil
}

// Decode implements encoders.Decoder.
func (e *coder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	base, past, next := e.references(refs, spare)
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = append(dst.Body[:0], base.Body...)
	e.c.Read(src)
	e.err, e.counting = nil, false
	e.code(dst, base, past, next)
	if e.err == nil {
		e.err = e.c.Close()
	}
	if err := encoders.DecodeError(e.err, rangecoder.ErrShort); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	return next, nil
}

// code codes a frame.
func (e *coder) code(cur, base *frame.Frame, past, next *memo) {
	next.begin(past, cur, base)
	e.x.m = next
	e.scene.begin(e.plan, base, past)
	e.codeRows(cur, base, past, next)
	if e.err == nil {
		e.codeBody(cur, base)
	}
}

// codeBody codes the bytes of the body: a flag that they are the baseline's, or all of
// them.
func (e *coder) codeBody(cur, base *frame.Frame) {
	e.x.begin(e.shared)
	e.x.addContext(bodyMark, flag(len(base.Body) == 0), 0, 0)
	same := string(cur.Body) == string(base.Body)
	if e.x.bit(bodyNode, int(flag(same)), nil) != 0 {
		if e.c.Reading() {
			cur.Body = append(cur.Body[:0], base.Body...)
		}
		e.charge(encoders.SlotBody)
		return
	}
	n := int(e.c.Direct(uint64(len(cur.Body)), 17))
	switch {
	case n > MaxBody:
		e.err = fmt.Errorf("a body of %d bytes, expected at most %d", n, MaxBody)
		return
	case e.c.Reading():
		cur.Body = cur.Body[:0]
	}
	for i := range n {
		if e.c.Reading() {
			if e.err = e.c.Err(); e.err != nil {
				return
			}
			cur.Body = append(cur.Body, byte(e.c.Direct(0, 8)))
		} else {
			e.c.Direct(uint64(cur.Body[i]), 8)
		}
	}
	e.charge(encoders.SlotBody)
}
