// Package states codes tables of things that have a state, such as players and missiles. It is
// delta-adaptive for schemas with floats, parts or hints, and delta-trained.
//
// It codes which rows changed, which of their fields, and the distance of their values from
// predictions: the old value, the same step again, the velocity (which is coded before the
// place), drag and a push. Each predictor has a distribution of its own past errors, which
// predicts every binary decision on the way to a value. An adaptive mixer combines these with the
// predictions of counters in several contexts (Mahoney's PAQ). The class of a float comes before
// its value: whole, eighth, multiple of the schema's step, or other. A new row is made from one
// that is there.
//
// All adaptive state is part of the frame's memo (Giesen's gaffer_net), which has a fixed size,
// so loss cannot desynchronise the two ends. Everything is integer arithmetic but single
// operations on floats, which every machine rounds alike.
package states

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
)

// Bounds of tables, so that memos are small.
const (
	maxRows   = 1 << 12
	maxFields = 1 << 10
)

// coder is the encoder or the decoder: one traversal serves both. A packet has, in this order,
// the time of the frame, values in fields outside of their row's part, the rows, and the body.
type coder struct {
	encoders.TableCoder[memo]
	*plan
	x       rangecoder.StateMixer
	changed frame.Rows

	cur, base  []int32 // tables
	m          *memo
	tick       int64  // ticks since base
	recent     uint32 // which of the rows before changed, the last in the lowest bit
	row        row
	predictors predictorList
	logs       *logarithms
}

// New returns an encoder and a decoder for a schema. limit is the number of decisions that a
// probability rests on at most, rate the learning rate of the mixing weights.
func New(s *frame.Schema, limit, rate int) (encoders.Encoder, encoders.Decoder) {
	return newCoder(s, limit, rate), newCoder(s, limit, rate)
}

func newCoder(s *frame.Schema, limit, rate int) *coder {
	e := &coder{plan: newPlan(s), changed: frame.NewRows(s.Rows), logs: logTable()}
	e.TableCoder = encoders.TableCoder[memo]{Name: "states", Cells: s.Cells(), Initial: newMemo(e.plan), Check: e.check, Code: e.code}
	e.x = rangecoder.StateMixer{Coder: &e.Coder, LearnRate: int32(rate / 2), StateLimit: rangecoder.MaxState(limit)}
	e.row.coder = e
	return e
}

// check refuses a frame that cannot be coded, and finds the rows that changed.
func (e *coder) check(cur *frame.Frame, ref *encoders.Ref) error {
	if err := e.CheckSize(cur); err != nil {
		return err
	}
	if ref.Changed != nil {
		copy(e.changed, ref.Changed)
		e.changed.Differing(cur.Table, ref.Frame.Table, e.fields)
	} else {
		e.changed.Compare(cur.Table, ref.Frame.Table, e.fields)
	}
	for i := range e.changed.All() {
		if err := e.schema.CheckRow(cur, i); err != nil {
			return err
		}
	}
	return nil
}

// code codes a frame.
func (e *coder) code(cur, base *frame.Frame, past, next *memo) error {
	next.begin(past)
	e.m, e.recent = next, 0
	e.x.Use(next.counters, next.weights, next.count)
	e.cur, e.base = cur.Table, base.Table
	e.tick = int64(min(max(cur.Tick-base.Tick, 1), forever))
	if err := e.codeNow(); err != nil {
		return err
	}
	if len(e.schema.Parts) > 0 {
		if err := e.codeStrays(); err != nil {
			return err
		}
	}
	for i := range e.rows {
		if err := e.codeRow(i); err != nil {
			return err
		}
	}
	e.x.Begin()
	e.x.AddContext(markBody, flag(len(base.Body) == 0), 0, 0)
	same := e.x.CodeFlag(string(cur.Body) == string(base.Body), 0, markBody, 1)
	err := e.Body(cur, base, same)
	e.Charge(encoders.SlotBody)
	return err
}

// codeStrays codes changes of fields that are not part of their row. A table that keeps the
// schema's rules has none, but no frame is refused.
func (e *coder) codeStrays() error {
	at := -1
	if !e.Reading() {
		at = e.stray(0)
	}
	e.x.Begin()
	e.x.AddContext(markStray, 0, 0, 0)
	for more := e.x.CodeFlag(at >= 0, 0, markStray, 1); more; more = e.Direct(uint64(flag(at >= 0)), 1) != 0 {
		v := uint64(0)
		if at >= 0 {
			v = uint64(uint32(e.cur[at]))
		}
		where := e.Direct(uint64(max(at, 0)), 32)
		v = e.Direct(v, 32)
		if err := e.Err(); err != nil {
			return err
		}
		if where >= uint64(len(e.cur)) {
			return fmt.Errorf("value %d of %d", where, len(e.cur))
		}
		row, k := int(where)/e.fields, int(where)%e.fields
		if !e.cols[k].Admits(int32(v)) {
			return fmt.Errorf("%s %d, %w", e.schema.Item, row, column.Error(e.schema, k, int64(int32(v))))
		}
		e.cur[where] = int32(v)
		at = -1
		if !e.Reading() {
			at = e.stray(int(where) + 1)
		}
	}
	e.Charge(encoders.SlotTable)
	return nil
}

// stray returns the first value, at index from or later, that changed in a field that is not
// part of its row; -1 if none.
func (e *coder) stray(from int) int {
	for i := range e.changed.All() {
		q := &e.parts[e.partOf[i]]
		for at := max(from, i*e.fields); at < (i+1)*e.fields; at++ {
			k := at - i*e.fields
			if (k < q.field || k >= q.field+q.fields) && e.cur[at] != e.base[at] {
				return at
			}
		}
	}
	return -1
}

// codeNow codes the time of the frame. It is predicted from the time per tick so far.
func (e *coder) codeNow() error {
	e.m.lapse = e.tick
	if e.now.row < 0 {
		return nil
	}
	at := e.now.row*e.fields + e.now.field
	was := e.base[at]
	predicted := int64(was) + (e.tick*e.m.pace+1<<15)>>16
	e.x.Begin()
	e.x.AddContext(markNow, 0, 0, 0)
	v := int64(e.cur[at])
	if e.x.CodeFlag(v == predicted, 0, markNow, 1) {
		v = predicted
	} else {
		v = int64(int32(e.Direct(uint64(uint32(v)), 32)))
	}
	if v != int64(int32(v)) || !e.cols[e.now.field].Admits(int32(v)) {
		return column.Error(e.schema, e.now.field, v)
	}
	e.cur[at] = int32(v)
	lapse := v - int64(was)
	e.m.lapse = 0
	if lapse > 0 && lapse < 1<<20 {
		e.m.lapse = lapse
		e.m.pace = (lapse << 16) / e.tick
	}
	e.Charge(encoders.FieldSlot(e.now.field))
	return nil
}

// flag returns 1 for true, as a part of a context.
func flag(v bool) uint32 { return uint32(rangecoder.Flag(v)) }

// Suits reports whether a schema is one that this coder is for: one with floats, hints or parts,
// and small memos.
func Suits(s *frame.Schema) bool {
	if s.Rows > maxRows || len(s.Fields) > maxFields {
		return false
	}
	more := len(s.Parts) > 0
	for i := range s.Fields {
		f := &s.Fields[i]
		more = more || f.Kind == frame.Float32 || f.Hint != (frame.Hint{})
	}
	return more && newPlan(s).memory <= maxMemory
}
