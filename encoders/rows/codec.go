// Package rows encodes tables of any schema: rows of fields, most of which do not change from frame to
// frame. It uses only the schema and learns the rest, so it suits users' own data.
//
// # Model
//
// A frame is encoded against one baseline. The coder codes which rows changed, which of their fields, and
// the residuals of predicted values. Several predictors compete; residuals count from the one with the
// least recent error, and the next best one is a context. What the predictors need is derived from the
// schema and its hints: positions follow their velocities, or the last change of the row; fields of the
// same kind, range and unit share statistics; an enum of four values before three quantities of one range
// is a rotation. If the fields mean something else, packets are larger, but still correct.
//
// Each decision is coded by logistic mixing of the predictions of several contexts (Mahoney, PAQ). All
// adaptive state is part of the frame's memo (compare Giesen's gaffer_net), so losses cannot desynchronise
// sender and receiver.
//
// # Packets
//
// A packet holds the time of the frame, if a field has role Now; values outside of the parts of their rows;
// for each row a flag whether it changed, and its fields if so; a flag whether the body equals the
// baseline's, and the body otherwise. A row that was empty, with all values 0, appears: its fields are
// coded relative to a source row. See rowState.
package rows

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
)

// params are the parameters of delta-adaptive.
type params struct {
	Limit  int `toml:"limit" help:"largest number of decisions that a probability averages; lower adapts faster" unit:"decisions" min:"8" max:"60"`
	Rate   int `toml:"rate" help:"learning rate of the mixing weights; 0: they do not change" min:"0" max:"4000"`
	Memory int `toml:"memory" help:"memory of what is learnt, for each frame of the history; half of it holds probabilities" unit:"KB" min:"64" max:"4096"`
}

// MemoSize implements encoders.MemoSizer.
func (p *params) MemoSize() int { return p.Memory << 10 }

// DeltaAdaptive returns the codec delta-adaptive, which encodes any table. Its versions:
//
//	1  tables with floats, hints or parts are always coded by a model of their own
//	2  models with the hints are selected if they save bytes
//	3  one model for all tables
func DeltaAdaptive() encoders.Codec {
	return encoders.Codec{
		ID:      40,
		Name:    "delta-adaptive",
		Version: 3,
		Refs:    1,
		Suits:   suits,
		Summary: "any table: changed rows, fields predicted from their motion, adaptive mixed probabilities",
		Source:  "gaffer_net, Fabian Giesen, 2015; PAQ, Matt Mahoney, 2005",
		Params:  &params{Limit: 60, Rate: 400, Memory: 256},
		New: func(s *frame.Schema, p any) (encoders.Encoder, encoders.Decoder, error) {
			if !suits(s) {
				return nil, nil, fmt.Errorf("schema %s is not suited to delta-adaptive: "+
					"expected a table, and frames of which only the newest matters", s.Name)
			}
			if err := encoders.Validate(p); err != nil {
				return nil, nil, err
			}
			return newCoder(s, p.(*params)), newCoder(s, p.(*params)), nil
		},
	}
}

// suits reports whether frames have a table and only the newest frame matters.
func suits(s *frame.Schema) bool {
	return s.Rows > 0 && len(s.Fields) > 0 && s.Delivery == frame.Latest
}

// A coder is an encoder or a decoder: one traversal of the frame serves both.
type coder struct {
	encoders.TableCoder[memo]
	*plan
	mixer     rangecoder.Mixer
	changed   frame.Rows // of an encoder: the rows that differ between frame and baseline
	table     []int32    // of the frame being coded
	baseTable []int32
	past      *memo // of the baseline
	next      *memo // of the frame being coded
	scene     scene
	recent    uint32 // flags: whether the rows before changed, the last one lowest
	row       rowState
}

// newCoder returns an encoder that is also a decoder.
func newCoder(s *frame.Schema, p *params) *coder {
	memory := p.Memory << 10
	e := &coder{plan: newPlan(s, memory), changed: frame.NewRows(s.Rows)}
	e.TableCoder = encoders.TableCoder[memo]{
		Name:    "rows",
		Cells:   s.Cells(),
		Initial: newMemo(e.plan, memory),
		Check:   e.check,
		Code:    e.codeFrame,
	}
	e.mixer = rangecoder.NewMixer(&e.Coder, p.Limit, p.Rate)
	e.scene.plan = e.plan
	e.row = rowState{
		coder:     e,
		origin:    make([]int64, e.fields),
		lastDelta: make([]int64, e.fields),
	}
	return e
}

// check returns an error if cur cannot be encoded. It sets e.changed.
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

// codeFrame codes a frame. past is the memo of base; next becomes that of cur.
func (e *coder) codeFrame(cur, base *frame.Frame, past, next *memo) error {
	ticks := min(max(cur.Tick-base.Tick, 1), maxAge)
	next.begin(past, int64(ticks))
	e.past = past
	e.next = next
	e.table = cur.Table
	e.baseTable = base.Table
	e.mixer.MixerModel = next.mixing
	e.recent = 0
	if past.frames == 0 { // which rows exist is not known
		for i := range next.rows {
			q := &e.parts[e.partOf[i]]
			next.rows[i].exists = !q.empty(e.baseTable[i*e.fields:][:e.fields])
		}
	}
	if len(e.position) > 0 {
		e.scene.begin(base.Table, past)
	}
	if err := e.codeTime(); err != nil {
		return err
	}
	if err := e.codeStrays(); err != nil {
		return err
	}
	for i := range e.rows {
		if err := e.row.code(i); err != nil {
			return fmt.Errorf("%s %d: %w", e.schema.Item, i, err)
		}
	}
	if err := e.Err(); err != nil {
		return err
	}
	e.TraceRow(encoders.NoRow)
	e.beginShared()
	e.mixer.AddContext(decisionBody, flag(len(base.Body) == 0), 0, 0)
	same := e.mixer.Flag(bodyNode, string(cur.Body) == string(base.Body))
	err := e.CodeBody(cur, base, same)
	e.Charge(encoders.SlotBody)
	return err
}

// beginShared begins a decision that belongs to no field.
func (e *coder) beginShared() { e.mixer.Begin(e.fields) }

// codeTime codes the time of the frame, if the schema has a field of role Now: a flag whether it is as
// predicted, and its 32 bits if not.
func (e *coder) codeTime() error {
	if e.timeRow < 0 {
		return nil
	}
	at := e.timeRow*e.fields + e.timeField
	m := e.next
	old := int64(e.baseTable[at])
	predicted := int32(old + (m.ticks*m.timePerTick+1<<15)>>16)
	e.beginShared()
	e.mixer.AddContext(decisionTime, 0, 0, 0)
	v := predicted
	if !e.mixer.Flag(timeNode, e.table[at] == predicted) {
		v = int32(e.Direct(uint64(uint32(e.table[at])), 32))
	}
	if err := e.checkValue(e.timeField, v); err != nil {
		return err
	}
	e.table[at] = v
	m.elapsed = max(int64(v)-old, 0)
	if m.elapsed >= maxElapsed {
		m.elapsed = 0
	}
	if m.elapsed > 0 {
		m.timePerTick = m.elapsed << 16 / m.ticks
	}
	e.Charge(encoders.FieldSlot(e.timeField))
	return nil
}

// maxElapsed bounds the time since the baseline, so that products with rates cannot overflow.
const maxElapsed = 1 << 20

// codeStrays codes changed values in fields that do not belong to their row's part: each follows a flag
// that there is one more.
func (e *coder) codeStrays() error {
	if len(e.schema.Parts) == 0 {
		return nil
	}
	e.beginShared()
	e.mixer.AddContext(decisionStray, 0, 0, 0)
	for from := 0; ; {
		at := e.findStray(from)
		if !e.mixer.Flag(strayNode, at < len(e.table)) {
			break
		}
		at = int(e.Direct(uint64(at), 32))
		if err := e.Err(); err != nil {
			return err
		}
		if at >= len(e.table) {
			return fmt.Errorf("index of a stray value is %d, expected less than %d", at, len(e.table))
		}
		v := int32(e.Direct(uint64(uint32(e.table[at])), 32))
		if err := e.checkValue(at%e.fields, v); err != nil {
			return err
		}
		e.table[at] = v
		from = at + 1
	}
	e.Charge(encoders.SlotTable)
	return nil
}

// findStray returns the index of the first stray value at or after index from; the length of the table
// without one, and always in a decoder.
func (e *coder) findStray(from int) int {
	if e.Reading() {
		return len(e.table)
	}
	for row := from / e.fields; row < e.rows; row++ {
		if !e.changed.Has(row) {
			continue
		}
		q := &e.parts[e.partOf[row]]
		for k := range e.fields {
			at := row*e.fields + k
			inPart := k >= q.firstField && k < q.firstField+q.fields
			if at >= from && !inPart && e.table[at] != e.baseTable[at] {
				return at
			}
		}
	}
	return len(e.table)
}

// checkValue returns an error if v is out of the range of field k.
func (e *coder) checkValue(k int, v int32) error {
	if e.columns[k].Admits(v) {
		return nil
	}
	return column.RangeError(e.schema, k, int64(v))
}

func flag(v bool) uint32 { return uint32(rangecoder.Flag(v)) }
