package rows

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/states"
)

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
	c       encoders.Ranged
	x       mixer
	next    *memo
	initial *memo
	err     error // the first error

	scene scene
	row   rowState
}

func newCoder(s *frame.Schema, p *Params) *coder {
	e := &coder{plan: newPlan(s)}
	e.initial = newMemo(e.plan)
	e.x.Mix = rangecoder.Mix{Coder: &e.c.Coder, Bias: bias, Limit: p.Limit, Rate: int32(p.Rate)}
	e.row.init(e)
	return e
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
	if len(cur.Table) != len(base.Table) || len(cur.Body) > encoders.MaxBody {
		return dst, nil, fmt.Errorf("rows: frame of %d values and a body of %d bytes, expected %d and at most %d",
			len(cur.Table), len(cur.Body), len(base.Table), encoders.MaxBody)
	}
	if err := e.schema.Check(cur); err != nil {
		return dst, nil, fmt.Errorf("rows: %w", err)
	}
	e.c.Begin(dst, b)
	e.err = nil
	e.code(cur, base, past, next)
	if e.err != nil {
		return dst, nil, fmt.Errorf("rows: %w", e.err)
	}
	return e.c.End(dst, b), next, nil
}

// Decode implements encoders.Decoder.
func (e *coder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	base, past, next := e.references(refs, spare)
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = append(dst.Body[:0], base.Body...)
	e.c.Open(src)
	e.err = nil
	e.code(dst, base, past, next)
	if err := e.c.Ended(e.err); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	return next, nil
}

// code codes a frame.
func (e *coder) code(cur, base *frame.Frame, past, next *memo) {
	next.begin(past, cur, base)
	e.next, e.x.Table, e.x.weights = next, next.model, next.weights
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
	} else {
		e.err = e.c.Body(cur)
	}
	e.c.Charge(encoders.SlotBody)
}
