package encoders

import "wirelab/dataset/frame"

// NoRow and NoField are Span.Row and Span.Field of bits that belong to no single row or field.
const (
	NoRow   = -1
	NoField = -1
)

// Span is a run of bits of a payload that were spent on one thing: for a range coder on one symbol, which may
// take a fraction of a bit.
type Span struct {
	Row   int   // row of the table, or NoRow
	Field int   // index in Schema.Fields, or NoField
	Slot  Slot  // the slot of the budget that the bits were charged to
	Begin int64 // position in the payload in units of 1/BitUnit bit
	Units int64 // length in the same units
}

// End returns the position of the first unit after the span.
func (s *Span) End() int64 { return s.Begin + s.Units }

// Trace lists what the bits of one payload were spent on, in the order of the payload. An encoder fills the
// trace of its Budget, if that has one. After Close the spans cover the payload without gaps or overlaps.
//
// A trace is meant for one packet that a user inspects. Filling it allocates memory. Without one, encoders
// only check for nil.
type Trace struct {
	Spans []Span
	// Arithmetic means that a range coder wrote the payload: the spans are symbols, their positions are cumulated
	// costs, and the bits of a byte are in order from the highest. Otherwise bits are in order from the lowest.
	Arithmetic bool

	row int   // row of the spans that follow
	end int64 // end of the last span
}

// Reset removes all spans.
func (t *Trace) Reset() { *t = Trace{Spans: t.Spans[:0], row: NoRow} }

// SetRow sets the row of the spans that follow, or NoRow. A nil Trace ignores the call.
func (t *Trace) SetRow(row int) {
	if t != nil {
		t.row = row
	}
}

// ExtendTo adds a span from the end of the last one up to position end, in units. It does nothing if that
// span would be empty, or if t is nil. With NoField, the field is that of slot k, if k is the slot of a field.
func (t *Trace) ExtendTo(k Slot, field int, end int64) {
	if t == nil || end <= t.end {
		return
	}
	if field == NoField {
		field = k.field()
	}
	if n := len(t.Spans); n > 0 {
		if last := &t.Spans[n-1]; last.Row == t.row && last.Field == field && last.Slot == k {
			last.Units += end - t.end
			t.end = end
			return
		}
	}
	t.Spans = append(t.Spans, Span{Row: t.row, Field: field, Slot: k, Begin: t.end, Units: end - t.end})
	t.end = end
}

// extend adds a span of slot k after the last one.
func (t *Trace) extend(k Slot, units int64) { t.ExtendTo(k, NoField, t.end+units) }

// ExtendBits is ExtendTo with the position in whole bits.
func (t *Trace) ExtendBits(k Slot, field, end int) { t.ExtendTo(k, field, int64(end)*BitUnit) }

// Close ends the trace of a payload of n bytes: bits that the encoder did not assign become padding. Without
// any span the whole payload is one span of SlotBody, because the encoder does not support traces.
func (t *Trace) Close(n int) {
	t.SetRow(NoRow)
	k := SlotPadding
	if t != nil && len(t.Spans) == 0 {
		k = SlotBody
	}
	t.ExtendTo(k, NoField, int64(n)*8*BitUnit)
}

// Record encodes cur with enc again and makes t the trace of the payload, which it returns. cur must be
// a copy, because a codec that quantises modifies it.
func (t *Trace) Record(enc Encoder, cur *frame.Frame, refs []Ref) (payload []byte, err error) {
	t.Reset()
	budget := Budget{Trace: t}
	payload, _, err = enc.Encode(nil, cur, refs, nil, &budget)
	if f, ok := enc.(Finisher); ok {
		f.Finish()
	}
	t.Close(len(payload))
	return payload, err
}

// Total returns the sum of all spans in units.
func (t *Trace) Total() (units int64) {
	for i := range t.Spans {
		units += t.Spans[i].Units
	}
	return units
}
