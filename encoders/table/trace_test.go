package table_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
)

// describesOnlyBody lists the codecs that do not support traces: their spans have no rows.
var describesOnlyBody = []string{"datagram", "datagram-acked", "patch", "whole-zstd", "whole-raw", "deflate", "zstd", "zstd-dict",
	"zstd-baseline"}

// A trace does not change the packet, covers it without gaps, and its spans sum to the budget of the packet, slot by
// slot.
func TestTraceSums(t *testing.T) {
	forEachCodec(t, func(t *testing.T, c encoders.Codec, s *frame.Schema) {
		plain, traced := newPair(t, c, s), newPair(t, c, s)
		var trace encoders.Trace
		base := initialFrame(s)
		for _, f := range randomFrames(s, 11, 6) {
			cur := &frame.Frame{}
			cur.CopyFrom(f)
			want, memo, err := plain.enc.Encode(nil, f, []encoders.Ref{{Frame: base, Memo: plain.sent[base]}}, nil, &plain.budget)
			if err != nil {
				t.Fatal(err)
			}
			got, err := trace.Record(traced.enc, cur, []encoders.Ref{{Frame: base, Memo: plain.sent[base]}})
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("with a trace the packet is %x (%v), without one %x", head(got), err, head(want))
			}
			plain.sent[f] = memo
			checkTrace(t, &c, s, &trace, &plain.budget, len(want))
			plain.budget.Reset()
			base = f
		}
	})
}

// checkTrace compares a trace with the budget of the same packet, of n bytes.
func checkTrace(t *testing.T, c *encoders.Codec, s *frame.Schema, trace *encoders.Trace, budget *encoders.Budget, n int) {
	t.Helper()
	var bySlot encoders.Budget
	end := int64(0)
	for i, span := range trace.Spans {
		if span.Begin != end || span.Units <= 0 || span.Row < encoders.NoRow || span.Row >= s.Rows || span.Field >= len(s.Fields) {
			t.Fatalf("span %d of %d is %+v, expected to begin at %d", i, len(trace.Spans), span, end)
		}
		end = span.End()
		bySlot.Units[span.Slot] += span.Units
	}
	if end != int64(n)*8*encoders.BitUnit || trace.Total() != end {
		t.Fatalf("the trace of %d bytes ends at %d units and sums to %d", n, end, trace.Total())
	}
	if slices.Contains(describesOnlyBody, c.Name) {
		if slices.ContainsFunc(trace.Spans, func(span encoders.Span) bool { return span.Row != encoders.NoRow }) {
			t.Fatalf("spans %+v, expected none of a row", trace.Spans)
		}
		return
	}
	if bySlot.Units != budget.Units {
		t.Fatalf("the trace sums to %v\nthe budget to %v", bySlot.Units, budget.Units)
	}
}

// Every row that changed has bits of its own, and codecs that send only changed rows spend none on the others.
func TestTraceRows(t *testing.T) {
	forEachCodec(t, func(t *testing.T, c encoders.Codec, s *frame.Schema) {
		if slices.Contains(describesOnlyBody, c.Name) || s.Rows == 0 {
			t.Skip("no rows")
		}
		base := initialFrame(s)
		cur := randomFrames(s, 12, 2)[1]
		enc, _, err := c.New(s, defaults(c))
		if err != nil {
			t.Fatal(err)
		}
		changed := frame.NewRows(s.Rows)
		changed.SetDiffering(cur.Table, base.Table, len(s.Fields))
		var trace encoders.Trace
		if _, err := trace.Record(enc, cur, []encoders.Ref{{Frame: base}}); err != nil {
			t.Fatal(err)
		}
		traced := frame.NewRows(s.Rows)
		for _, span := range trace.Spans {
			if span.Row != encoders.NoRow {
				traced.Add(span.Row)
			}
		}
		onlyChanged := strings.HasPrefix(c.Name, "changed-index") || strings.HasPrefix(c.Name, "relative-index")
		for row := range s.Rows {
			// With a bitmap, which is shorter for long lists, all rows have a bit.
			if changed.Has(row) && !traced.Has(row) || onlyChanged && !changed.Has(row) && traced.Has(row) && changed.Count() < s.Rows/20 {
				t.Fatalf("row %d: changed %v, in the trace %v", row, changed.Has(row), traced.Has(row))
			}
		}
	})
}

// A flipped bit of a value changes exactly the field that the trace names, in packets whose values do not depend on
// each other. The last bit of a value is the highest of its magnitude, so the widths stay.
func TestTraceNamesTheBits(t *testing.T) {
	for _, name := range []string{"quantized", "changed-bits", "changed-index", "relative-index", "relative-position", "relative-orientation", "full"} {
		t.Run(name, func(t *testing.T) {
			c := codecNamed(t, name)
			s, frames := taleFor(c)
			enc, dec, err := c.New(s, defaults(c))
			if err != nil {
				t.Fatal(err)
			}
			base, cur := frames[len(frames)-2], frames[len(frames)-1]
			refs := []encoders.Ref{{Frame: base}}
			var trace encoders.Trace
			payload, err := trace.Record(enc, cur, refs)
			if err != nil {
				t.Fatal(err)
			}
			checked := 0
			for _, span := range trace.Spans {
				if span.Field == encoders.NoField {
					continue
				}
				last := span.End()/encoders.BitUnit - 1
				payload[last/8] ^= 1 << (last % 8)
				got := s.NewFrame()
				got.Tick = cur.Tick
				if _, err := dec.Decode(got, payload, refs, nil); err == nil {
					checkOnlyChange(t, s, got, cur, span)
					checked++
				}
				payload[last/8] ^= 1 << (last % 8)
			}
			if checked == 0 {
				t.Fatal("no flipped bit decoded")
			}
		})
	}
}

// checkOnlyChange checks that got differs from want in the cell of span and nowhere else.
func checkOnlyChange(t *testing.T, s *frame.Schema, got, want *frame.Frame, span encoders.Span) {
	t.Helper()
	for i := range want.Table {
		if row, field := i/len(s.Fields), i%len(s.Fields); (got.Table[i] != want.Table[i]) != (row == span.Row && field == span.Field) {
			t.Fatalf("a bit of %+v changed row %d, %s: %d to %d", span, row, s.Fields[field].Name, want.Table[i], got.Table[i])
		}
	}
}

func codecNamed(t *testing.T, name string) encoders.Codec {
	t.Helper()
	c, err := table.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return *c
}
