package encoders

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

// Ranged is a range coder that accounts for the bits of a packet.
type Ranged struct {
	rangecoder.Coder
	counting bool  // there is a budget
	mark     int64 // units charged so far
	spent    [MaxSlots]int64
}

// Begin makes c append a packet to dst, to be charged to b.
func (c *Ranged) Begin(dst []byte, b *Budget) {
	c.Write(dst)
	c.counting = b != nil
	if c.counting {
		c.mark, c.spent = 0, [MaxSlots]int64{} // left over if the frame before was refused
	}
}

// Open makes c read a packet from src.
func (c *Ranged) Open(src []byte) {
	c.Read(src)
	c.counting = false
}

// Charge charges the units since the last charge to slot k.
func (c *Ranged) Charge(k Slot) {
	if c.counting {
		at := c.Spent()
		c.spent[k] += at - c.mark
		c.mark = at
	}
}

// Charged returns the units charged to slot k since Begin.
func (c *Ranged) Charged(k Slot) int64 { return c.spent[k] }

// End returns dst with the packet that was appended to it, and charges that to b.
func (c *Ranged) End(dst []byte, b *Budget) []byte {
	out := c.Finish()
	if c.counting {
		before := b.Total()
		for k, units := range c.spent {
			b.Charge(Slot(k), units)
		}
		b.Close(before, len(out)-len(dst))
	}
	return out
}

// Ended returns the error of a packet that was read. err is the error of reading it, nil if
// there was none.
func (c *Ranged) Ended(err error) error {
	if err == nil {
		err = c.Close()
	}
	return DecodeError(err, rangecoder.ErrShort)
}

// MaxBody bounds the body of a frame beside a table, in bytes. A decoder that expands a packet
// stops there, whatever the packet claims.
const MaxBody = 1 << 16

// Body codes the body of cur: nothing if it is the same as that of base, else its bytes.
func (c *Ranged) Body(cur, base *frame.Frame, same bool) error {
	if same {
		if c.Reading() {
			cur.Body = append(cur.Body[:0], base.Body...)
		}
		return nil
	}
	n := int(c.Direct(uint64(len(cur.Body)), 17))
	switch {
	case n > MaxBody:
		return fmt.Errorf("a body of %d bytes, expected at most %d", n, MaxBody)
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

// TableCoder is the encoder and the decoder of a codec that passes every decision on a frame to a
// range coder and keeps what it learns in memos of type M. One traversal serves both directions.
type TableCoder[M any] struct {
	Ranged
	Name    string // begins the texts of errors
	Cells   int    // values of a table
	Initial *M     // the memo of a reference that has none
	// Check refuses a frame that cannot be coded against ref.
	Check func(cur *frame.Frame, ref *Ref) error
	// Code passes every decision to the range coder and stores the result in cur, which starts
	// as a copy of base when it reads. It fills next.
	Code func(cur, base *frame.Frame, past, next *M) error
}

// Encode implements Encoder.
func (t *TableCoder[M]) Encode(dst []byte, cur *frame.Frame, refs []Ref, spare Memo, b *Budget) ([]byte, Memo, error) {
	base := Base(refs, t.Cells)
	past, next := memos(refs, spare, t.Initial)
	err := t.Check(cur, &refs[0])
	if err == nil {
		t.Begin(dst, b)
		err = t.Code(cur, base, past, next)
	}
	if err != nil {
		return dst, nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return t.End(dst, b), next, nil
}

// Decode implements Decoder.
func (t *TableCoder[M]) Decode(dst *frame.Frame, src []byte, refs []Ref, spare Memo) (Memo, error) {
	base := Base(refs, t.Cells)
	past, next := memos(refs, spare, t.Initial)
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = append(dst.Body[:0], base.Body...)
	t.Open(src)
	if err := t.Ended(t.Code(dst, base, past, next)); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return next, nil
}

// CheckSize refuses a frame that has not the schema's number of values, or too large a body.
func (t *TableCoder[M]) CheckSize(cur *frame.Frame) error {
	if len(cur.Table) != t.Cells || len(cur.Body) > MaxBody {
		return fmt.Errorf("frame of %d values and a body of %d bytes, expected %d and at most %d",
			len(cur.Table), len(cur.Body), t.Cells, MaxBody)
	}
	return nil
}
