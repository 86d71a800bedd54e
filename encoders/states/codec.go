// Package states encodes tables whose rows have a state, such as the players and missiles of a
// game. The codec delta-adaptive uses it for schemas with floats, and for wide tables with parts or
// hints if that makes packets smaller.
//
// # Model
//
// A frame is encoded against one baseline. The coder first codes which rows changed, then which
// fields of those rows, and then the new values. A value is coded by its distance from a first
// guess. Up to nine predictors contribute: the old value, the old value plus its last step, the
// position moved by the velocity (velocities are coded before positions), the velocity after drag
// and a push, and others. The errors that a predictor has made are counted in a distribution
// (errorDist); from it follows a probability for each binary decision on the way to the value. A
// logistic mixer (Mahoney, PAQ) combines these probabilities with those of counters selected by up
// to six contexts.
//
// A float is preceded by its class: whole number, multiple of 1/8, multiple of the schema's step,
// or other, because games store such values in floats. A row that appears is coded relative to a
// source row that is already present.
//
// # State
//
// Counters, weights, error distributions and the histories of rows are the memo of a frame (compare
// Giesen's gaffer_net): a pure function of the frame, its baseline and the baseline's memo. Losses
// therefore cannot desynchronise sender and receiver. The size of a memo is fixed and at most 256
// KB.
//
// All arithmetic is integer, except for single float64 operations, whose results IEEE 754 defines
// exactly. So packets are the same on every machine.
package states

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
)

// Bounds of tables. Larger schemas are left to encoders/rows; see Suits.
const (
	maxRows   = 1 << 12
	maxFields = 1 << 10
)

// A coder is an encoder or a decoder: one traversal of the frame serves both, because every
// decision passes through the range coder, which writes or reads it. A packet holds, in this order:
//
//  1. the time of the frame, if the schema has a field of role Now: a flag whether it is as
//     predicted, otherwise 32 bits
//  2. if the schema has parts: changed values outside the fields of their row's part, see codeStrays
//  3. for each row a flag whether it changed, and its new contents if so, see row
//  4. a flag whether the body equals the baseline's, otherwise its length and bytes
type coder struct {
	encoders.TableCoder[memo]
	*plan
	mixer   rangecoder.StateMixer
	changed frame.Rows // in an encoder: rows that differ between cur and base

	cur, base     []int32       // tables of the frame being coded and of its baseline
	memo          *memo         // memo of the frame being coded; starts as a copy of the baseline's
	ticks         int64         // ticks from base to cur, 1..maxAge
	recentChanges uint32        // flags: whether each of the previous rows changed, the last in bit 0
	row           row           // scratch space: the row being coded
	predictors    predictorList // scratch space: predictors of the number being coded
	logs          *logarithms   // table for the predictions of numbers
}

// New returns an encoder that is also a decoder, for a schema that Suits accepts. limit is the maximum
// number of updates that a counter's confidence stands for, rate is the learning rate of the mixer's
// weights in units of 1/131072, memory bounds a memo, in bytes.
func New(s *frame.Schema, limit, rate, memory int) encoders.Model {
	return newCoder(s, limit, rate, memory)
}

// newCoder returns an encoder or a decoder; see New for the parameters.
func newCoder(s *frame.Schema, limit, rate, memory int) *coder {
	e := &coder{plan: newPlan(s, memory), changed: frame.NewRows(s.Rows), logs: logTable()}
	e.TableCoder = encoders.TableCoder[memo]{Name: "states", Cells: s.Cells(), Initial: newMemo(e.plan), Check: e.check, Code: e.codeFrame}
	// LearnRate is in units of 1/65536, rate in units of 1/131072.
	e.mixer = rangecoder.StateMixer{Coder: &e.Coder, LearnRate: int32(rate / 2), StateLimit: rangecoder.MaxState(limit)}
	e.row.coder = e
	return e
}

// check returns an error if cur has the wrong size, or if a row that differs from ref is outside of
// the schema's ranges. It sets e.changed to the rows that differ.
func (e *coder) check(cur *frame.Frame, ref *encoders.Ref) error {
	if err := e.CheckSize(cur); err != nil {
		return err
	}
	if ref.Changed != nil {
		copy(e.changed, ref.Changed)
		e.changed.RemoveEqual(cur.Table, ref.Frame.Table, e.fields)
	} else {
		e.changed.SetDiffering(cur.Table, ref.Frame.Table, e.fields)
	}
	for i := range e.changed.All() {
		if err := e.schema.CheckRow(cur, i); err != nil {
			return err
		}
	}
	return nil
}

// codeFrame codes a frame; the decoder stores the result in cur. past is the baseline's memo; next
// becomes the memo of cur.
func (e *coder) codeFrame(cur, base *frame.Frame, past, next *memo) error {
	next.begin(past)
	e.memo, e.recentChanges = next, 0
	e.mixer.SetModel(next.counters, next.weights, next.frames) // next.frames is the seed of stochastic rounding
	e.cur, e.base = cur.Table, base.Table
	e.ticks = int64(min(max(cur.Tick-base.Tick, 1), maxAge))
	if err := e.codeTime(); err != nil {
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
	e.TraceRow(encoders.NoRow)
	e.mixer.Begin()
	e.mixer.AddContext(decisionBody, flag(len(base.Body) == 0), 0, 0) // two of the four values are not needed
	// Node 0, one context.
	same := e.mixer.CodeFlag(string(cur.Body) == string(base.Body), 0, decisionBody, 1)
	err := e.CodeBody(cur, base, same)
	e.Charge(encoders.SlotBody)
	return err
}

// codeStrays codes stray values: changed values in fields that do not belong to their row's part. A
// table that follows its schema has none, but the encoder must not refuse a frame that has. Each
// stray takes 32 bits for its index in the table and 32 for its value; a flag before each reports
// whether another one follows. Only the first flag has an adaptive probability: it is nearly always
// 0, and strays are too rare to model.
func (e *coder) codeStrays() error {
	strayCell := -1 // index of the next stray; -1: none left. A decoder ignores it.
	if !e.Reading() {
		strayCell = e.findStray(0)
	}
	e.mixer.Begin()
	e.mixer.AddContext(decisionStray, 0, 0, 0) // the same context always: only the kind of the decision
	for more := e.mixer.CodeFlag(strayCell >= 0, 0, decisionStray, 1); more; more = e.Direct(uint64(flag(strayCell >= 0)), 1) != 0 {
		v := uint64(0)
		if strayCell >= 0 {
			v = uint64(uint32(e.cur[strayCell]))
		}
		target := e.Direct(uint64(max(strayCell, 0)), 32) // index of the stray in the table
		v = e.Direct(v, 32)
		if err := e.Err(); err != nil {
			return err
		}
		if target >= uint64(len(e.cur)) {
			return fmt.Errorf("index of a stray value is %d, expected less than %d", target, len(e.cur))
		}
		row, k := int(target)/e.fields, int(target)%e.fields
		if !e.columns[k].Admits(int32(v)) {
			return fmt.Errorf("%s %d, %w", e.schema.Item, row, column.RangeError(e.schema, k, int64(int32(v))))
		}
		e.cur[target] = int32(v)
		strayCell = -1
		if !e.Reading() {
			strayCell = e.findStray(int(target) + 1)
		}
	}
	e.Charge(encoders.SlotTable)
	return nil
}

// findStray returns the index in the table of the first stray value at or after index from: a changed value in a
// field that does not belong to its row's part. It returns -1 without a stray value.
func (e *coder) findStray(from int) int {
	for i := range e.changed.All() {
		q := &e.parts[e.partOf[i]]
		for cell := max(from, i*e.fields); cell < (i+1)*e.fields; cell++ {
			k := cell - i*e.fields
			if (k < q.firstField || k >= q.firstField+q.fields) && e.cur[cell] != e.base[cell] {
				return cell
			}
		}
	}
	return -1
}

// codeTime codes the time of the frame, if the schema has a field of role Now: a flag whether it is
// as predicted, otherwise 32 bits. The prediction continues with the last plausible time per tick.
// codeTime sets memo.elapsed: the time since the baseline in units of that field; in ticks without
// such a field; 0 if the time did not increase, or by 2^20 or more.
func (e *coder) codeTime() error {
	e.memo.elapsed = e.ticks
	if e.timeCell.row < 0 {
		return nil
	}
	timeIndex := e.timeCell.row*e.fields + e.timeCell.field // index of the time in the table
	old := e.base[timeIndex]
	predicted := int64(old) + (e.ticks*e.memo.timePerTick+1<<15)>>16 // timePerTick has 16 fractional bits
	e.mixer.Begin()
	e.mixer.AddContext(decisionTime, 0, 0, 0) // the same context always: only the kind of the decision
	v := int64(e.cur[timeIndex])
	if e.mixer.CodeFlag(v == predicted, 0, decisionTime, 1) { // node 0, one context
		v = predicted
	} else {
		v = int64(int32(e.Direct(uint64(uint32(v)), 32)))
	}
	if v != int64(int32(v)) || !e.columns[e.timeCell.field].Admits(int32(v)) {
		return column.RangeError(e.schema, e.timeCell.field, v)
	}
	e.cur[timeIndex] = int32(v)
	elapsed := v - int64(old)
	e.memo.elapsed = 0
	if elapsed > 0 && elapsed < 1<<20 {
		e.memo.elapsed = elapsed
		e.memo.timePerTick = (elapsed << 16) / e.ticks
	}
	e.TraceRow(e.timeCell.row)
	e.TraceField(encoders.FieldSlot(e.timeCell.field), e.timeCell.field)
	e.Charge(encoders.FieldSlot(e.timeCell.field))
	e.TraceRow(encoders.NoRow)
	return nil
}

// flag returns 1 for true and 0 for false, as a value to hash into a context.
func flag(v bool) uint32 { return uint32(rangecoder.Flag(v)) }

// Suits reports whether New accepts a schema. It needs floats, parts (ranges of rows with fields of
// their own) or hints (what a field means), because encoders/rows is better without, and a memo
// of at most memory bytes.
func Suits(s *frame.Schema, memory int) bool {
	if s.Rows > maxRows || len(s.Fields) > maxFields {
		return false
	}
	hasState := len(s.Parts) > 0
	for i := range s.Fields {
		f := &s.Fields[i]
		hasState = hasState || f.Kind == frame.Float32 || f.Hint != (frame.Hint{})
	}
	return hasState && newPlan(s, memory).memory <= memory
}
