package encoders

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

// RangeCoder is a range coder that charges the bits of a packet to a budget.
type RangeCoder struct {
	rangecoder.Coder
	hasBudget   bool            // false if charges are not needed
	chargedUpTo int64           // Spent at the last charge
	charged     [MaxSlots]int64 // units by slot since BeginEncode
	trace       *Trace          // gets the position of each charge too; nil if no trace is wanted
}

// BeginEncode starts a packet that is appended to dst. FinishEncode adds the charges to b, which may be nil.
func (c *RangeCoder) BeginEncode(dst []byte, b *Budget) {
	c.Write(dst)
	c.hasBudget, c.trace = b != nil, b.Tracing()
	if c.trace != nil {
		c.trace.Arithmetic = true
	}
	if c.hasBudget {
		c.chargedUpTo, c.charged = 0, [MaxSlots]int64{} // the previous packet may not have reached FinishEncode
	}
}

// BeginDecode starts to read a packet from src.
func (c *RangeCoder) BeginDecode(src []byte) {
	c.Read(src)
	c.hasBudget, c.trace = false, nil
}

// Charge charges the bits since the last charge to slot k.
func (c *RangeCoder) Charge(k Slot) {
	if c.hasBudget {
		spent := c.Spent()
		c.charged[k] += spent - c.chargedUpTo
		c.chargedUpTo = spent
		if c.trace != nil {
			c.extendTrace(k, NoField)
		}
	}
}

// Traced reports whether a trace is wanted. A codec must then charge every row separately.
func (c *RangeCoder) Traced() bool { return c.trace != nil }

// TraceRow sets the row on which the bits that follow are spent, or NoRow. Only a trace uses it.
func (c *RangeCoder) TraceRow(row int) {
	if c.trace != nil {
		c.trace.row = row
	}
}

// TraceField assigns the bits since the last charge or call of TraceField to a field, in the trace only. They must
// be charged to slot k afterwards.
func (c *RangeCoder) TraceField(k Slot, field int) {
	if c.trace != nil {
		c.extendTrace(k, field)
	}
}

// extendTrace is TraceField if a trace is wanted. It is a function of its own so that the compiler inlines TraceField.
func (c *RangeCoder) extendTrace(k Slot, field int) { c.trace.ExtendTo(k, field, c.Spent()) }

// Charged returns the units charged to slot k since BeginEncode.
func (c *RangeCoder) Charged(k Slot) int64 { return c.charged[k] }

// FinishEncode finishes a packet, charges it to b and returns dst with the packet appended. dst and b must
// be those of BeginEncode.
func (c *RangeCoder) FinishEncode(dst []byte, b *Budget) []byte {
	out := c.Finish()
	if c.hasBudget {
		before := b.Total() // the charges of earlier packets
		for k, units := range c.charged {
			b.AddUnits(Slot(k), units) // the trace has them already
		}
		b.Close(before, len(out)-len(dst)) // charges the rest of the packet's bytes to padding
	}
	return out
}

// FinishDecode finishes reading a packet. err is the error of reading its content, nil if none. Without
// one, FinishDecode checks that the packet has ended. It returns an error that wraps ErrTruncated or
// ErrCorrupt.
func (c *RangeCoder) FinishDecode(err error) error {
	if err == nil {
		err = c.Close()
	}
	return DecodeError(err, rangecoder.ErrShort)
}

// MaxBody is the maximum size in bytes of the body of a frame with a table. It bounds the memory
// that a decoder allocates for a packet.
const MaxBody = 1 << 16

// CodeBody codes the body of cur, or sets it when reading. same means that it equals the body of base,
// which takes no bits; otherwise CodeBody codes the length (17 bits, enough for MaxBody) and the bytes.
func (c *RangeCoder) CodeBody(cur, base *frame.Frame, same bool) error {
	if same {
		if c.Reading() {
			cur.Body = append(cur.Body[:0], base.Body...)
		}
		return nil
	}
	n := int(c.Direct(uint64(len(cur.Body)), 17))
	switch {
	case n > MaxBody:
		return fmt.Errorf("body has %d bytes, expected at most %d", n, MaxBody)
	case c.Reading():
		cur.Body = cur.Body[:0]
	}
	for i := range n {
		if !c.Reading() {
			c.Direct(uint64(cur.Body[i]), 8)
			continue
		}
		if err := c.Err(); err != nil {
			return err
		}
		cur.Body = append(cur.Body, byte(c.Direct(0, 8)))
	}
	return nil
}

// A Model is an encoder and a decoder in one, such as a TableCoder.
type Model interface {
	Encoder
	Decoder
}

// TableCoder implements Encoder and Decoder for a codec that passes every decision about a frame to
// a range coder and has memos of type M. One traversal, Code, serves both directions.
type TableCoder[M any] struct {
	RangeCoder
	Name    string // prefix of errors
	Cells   int    // number of values in a table
	Initial *M     // memo of a reference that has none
	// Check returns an error if cur cannot be encoded against ref. Only the encoder calls it.
	Check func(cur *frame.Frame, ref *Ref) error
	// Code passes every decision to the range coder and stores the results in cur, which a decoder
	// initialises with a copy of base. past is the memo of base; Code fills next, the memo of cur.
	Code func(cur, base *frame.Frame, past, next *M) error
}

func (t *TableCoder[M]) Encode(dst []byte, cur *frame.Frame, refs []Ref, spare Memo, b *Budget) ([]byte, Memo, error) {
	base := Base(refs, t.Cells)
	past, next := memos(refs, spare, t.Initial)
	err := t.Check(cur, &refs[0])
	if err == nil {
		t.BeginEncode(dst, b)
		err = t.Code(cur, base, past, next)
	}
	if err != nil {
		return dst, nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return t.FinishEncode(dst, b), next, nil
}

func (t *TableCoder[M]) Decode(dst *frame.Frame, src []byte, refs []Ref, spare Memo) (Memo, error) {
	base := Base(refs, t.Cells)
	past, next := memos(refs, spare, t.Initial)
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = append(dst.Body[:0], base.Body...)
	t.BeginDecode(src)
	if err := t.FinishDecode(t.Code(dst, base, past, next)); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return next, nil
}

// CheckSize returns an error if a frame's table does not have the schema's size, or its body
// exceeds MaxBody.
func (t *TableCoder[M]) CheckSize(cur *frame.Frame) error {
	if len(cur.Table) != t.Cells || len(cur.Body) > MaxBody {
		return fmt.Errorf("frame has %d values and a body of %d bytes, expected %d values and at most %d bytes",
			len(cur.Table), len(cur.Body), t.Cells, MaxBody)
	}
	return nil
}
