package states

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// MaxRows and MaxFields bound tables, so that memos are small.
const (
	MaxRows   = 1 << 12
	MaxFields = 1 << 10
)

// Params are the settings of a coder, as those of delta-adaptive are.
type Params struct {
	Limit int // how many decisions a probability rests on at most
	Rate  int // learning rate of the mixing weights
}

// coder is the encoder or the decoder: one traversal serves both. It passes every
// decision to the range coder and stores the result; when it reads, cur starts as a copy
// of base.
type coder struct {
	*plan
	c       encoders.Ranged
	x       mixer
	initial *memo
	err     error // the first error
	changed frame.Rows

	cur, base []int32 // tables
	m         *memo
	tick      int64  // from base, in ticks
	recent    uint32 // which rows changed, the last one lowest
	row       row
	experts   [maxExperts]expert
}

// New returns an encoder and a decoder for a schema.
func New(s *frame.Schema, p Params) (encoders.Encoder, encoders.Decoder) {
	return newCoder(s, p), newCoder(s, p)
}

func newCoder(s *frame.Schema, p Params) *coder {
	e := &coder{plan: newPlan(s)}
	e.initial = newMemo(e.plan)
	e.x = mixer{c: &e.c.Coder, rate: int32(p.Rate / 2)}
	for e.x.last < 15 && int(counts[e.x.last+1]) <= p.Limit {
		e.x.last++
	}
	e.changed = frame.NewRows(s.Rows)
	e.row.coder = e
	return e
}

// Encode implements encoders.Encoder.
func (e *coder) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	base := encoders.Base(refs, e.schema.Cells())
	past, next := encoders.Memos(refs, spare, e.initial)
	if len(cur.Table) != len(base.Table) || len(cur.Body) > encoders.MaxBody {
		return dst, nil, fmt.Errorf("states: frame of %d values and a body of %d bytes, expected %d and at most %d",
			len(cur.Table), len(cur.Body), len(base.Table), encoders.MaxBody)
	}
	if refs[0].Changed != nil {
		copy(e.changed, refs[0].Changed)
		e.changed.Differing(cur.Table, base.Table, e.fields)
	} else {
		e.changed.Compare(cur.Table, base.Table, e.fields)
	}
	for i := range e.changed.All() {
		if err := e.schema.CheckRow(cur, i); err != nil {
			return dst, nil, fmt.Errorf("states: %w", err)
		}
	}
	e.c.Begin(dst, b)
	e.err = nil
	e.code(cur, base, past, next)
	if e.err != nil {
		return dst, nil, fmt.Errorf("states: %w", e.err)
	}
	return e.c.End(dst, b), next, nil
}

// Decode implements encoders.Decoder.
func (e *coder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	base := encoders.Base(refs, e.schema.Cells())
	past, next := encoders.Memos(refs, spare, e.initial)
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = append(dst.Body[:0], base.Body...)
	e.c.Open(src)
	e.err = nil
	e.code(dst, base, past, next)
	if err := e.c.Ended(e.err); err != nil {
		return nil, fmt.Errorf("states: %w", err)
	}
	return next, nil
}

// code codes a frame.
func (e *coder) code(cur, base *frame.Frame, past, next *memo) {
	next.begin(past)
	e.m, e.x.m = next, next
	e.x.seed, e.recent = next.count, 0
	e.cur, e.base = cur.Table, base.Table
	e.tick = int64(min(max(cur.Tick-base.Tick, 1), forever))
	e.codeNow()
	if e.err == nil && len(e.schema.Parts) > 0 {
		e.codeStrays()
	}
	for i := 0; i < e.plan.rows && e.err == nil; i++ {
		e.codeRow(i)
	}
	if e.err == nil {
		e.codeBody(cur, base)
	}
}

// codeStrays codes what changed in fields that are none of a row's part. By the rules there is
// nothing, but no frame is refused.
func (e *coder) codeStrays() {
	at := -1
	if !e.c.Reading() {
		at = e.stray(0)
	}
	e.x.begin()
	e.x.quiet()
	e.x.see(markStray, 0, 0, 0)
	more := e.x.bit(int(flag(at >= 0)), 0, markStray, 1)
	for more != 0 {
		v := uint64(0)
		if at >= 0 {
			v = uint64(uint32(e.cur[at]))
		}
		where := e.c.Direct(uint64(max(at, 0)), 32)
		v = e.c.Direct(v, 32)
		if e.err = e.c.Err(); e.err != nil {
			return
		}
		if where >= uint64(len(e.cur)) {
			e.err = fmt.Errorf("value %d of %d", where, len(e.cur))
			return
		}
		at = int(where)
		row, k := at/e.fields, at%e.fields
		if low, span := e.schema.Fields[k].Span(); uint32(v)-uint32(low) > span {
			e.err = fmt.Errorf("%s %d, field %s: %w: %d", e.schema.Item, row, e.schema.Fields[k].Name, frame.ErrRange, int32(v))
			return
		}
		e.cur[at] = int32(v)
		if at = -1; !e.c.Reading() {
			at = e.stray(row*e.fields + k + 1)
		}
		more = int(e.c.Direct(uint64(flag(at >= 0)), 1))
	}
	e.c.Charge(encoders.SlotTable)
}

// stray returns the first value from one on that changed in a field that is none of its row's
// part; -1: there is none.
func (e *coder) stray(from int) int {
	for i := range e.changed.All() {
		q := &e.parts[e.partOf[i]]
		if q.fields == e.fields || (i+1)*e.fields <= from {
			continue
		}
		for k := range e.fields {
			at := i*e.fields + k
			if at >= from && (k < q.field || k >= q.field+q.fields) && e.cur[at] != e.base[at] {
				return at
			}
		}
	}
	return -1
}

// codeNow codes the time of the frame: what it moved by is as a rule what it moved by before.
func (e *coder) codeNow() {
	e.m.lapse = e.tick
	if e.now.row < 0 {
		return
	}
	at := e.now.row*e.fields + e.now.field
	col, was := &e.cols[e.now.field], e.base[at]
	guess := int64(was) + (e.tick*e.m.pace+1<<15)>>16
	e.x.begin()
	e.x.quiet()
	e.x.see(markNow, 0, 0, 0)
	v := int64(e.cur[at])
	if e.x.bit(int(flag(v == guess)), 0, markNow, 1) != 0 {
		v = guess
	} else {
		v = int64(int32(e.c.Direct(uint64(uint32(v)), 32)))
	}
	if e.cur[at] = int32(v); uint32(e.cur[at])-uint32(col.min) > col.span || v != int64(int32(v)) {
		e.err = fmt.Errorf("field %s: %w: %d", e.schema.Fields[e.now.field].Name, frame.ErrRange, v)
		return
	}
	lapse := v - int64(was)
	if e.m.lapse = 0; lapse > 0 && lapse < 1<<20 {
		e.m.lapse = lapse
		e.m.pace = (lapse << 16) / e.tick
	}
	e.c.Charge(encoders.FieldSlot(e.now.field))
}

// codeBody codes the bytes of the body: a flag that they are the baseline's, or all of
// them.
func (e *coder) codeBody(cur, base *frame.Frame) {
	same := string(cur.Body) == string(base.Body)
	e.x.begin()
	e.x.quiet()
	e.x.see(markBody, flag(len(base.Body) == 0), 0, 0)
	if e.x.bit(int(flag(same)), 0, markBody, 1) != 0 {
		if e.c.Reading() {
			cur.Body = append(cur.Body[:0], base.Body...)
		}
	} else {
		e.err = e.c.Body(cur)
	}
	e.c.Charge(encoders.SlotBody)
}

// flag returns 1 for true.
func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}

// Suits reports whether a schema is one that this coder is for: one that tells of more than
// integers in rows that are all alike, and whose memos are small.
func Suits(s *frame.Schema) bool {
	if s.Rows > MaxRows || len(s.Fields) > MaxFields {
		return false
	}
	more := len(s.Parts) > 0
	for i := range s.Fields {
		f := &s.Fields[i]
		more = more || f.Kind == frame.Float32 || f.Hint != (frame.Hint{})
	}
	return more && newPlan(s).memory <= mostMemory
}
