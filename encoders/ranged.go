package encoders

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

// Ranged is a range coder that keeps account: what codecs have in common that pass every decision
// of a frame to one.
type Ranged struct {
	rangecoder.Coder
	counting bool  // there is a budget
	mark     int64 // units charged so far
	spent    [MaxSlots]int64
}

// Begin makes c append a packet to dst, for the account of b.
func (c *Ranged) Begin(dst []byte, b *Budget) {
	c.Write(dst)
	if c.counting = b != nil; c.counting {
		c.mark, c.spent = 0, [MaxSlots]int64{} // left over if the frame before was refused
	}
}

// Open makes c take a packet from src.
func (c *Ranged) Open(src []byte) {
	c.Read(src)
	c.counting = false
}

// Charge accounts for the units since the last charge.
func (c *Ranged) Charge(k Slot) {
	if c.counting {
		at := c.Spent()
		c.spent[k] += at - c.mark
		c.mark = at
	}
}

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

// Ended returns what a decoder says of a packet that was read, of which err came.
func (c *Ranged) Ended(err error) error {
	if err == nil {
		err = c.Close()
	}
	return DecodeError(err, rangecoder.ErrShort)
}

// MaxBody bounds the body of a frame beside a table, in bytes. A decoder that expands a packet
// stops there, whatever the packet claims.
const MaxBody = 1 << 16

// Body codes the bytes of a body. A reader fills that of f.
func (c *Ranged) Body(f *frame.Frame) error {
	n := int(c.Direct(uint64(len(f.Body)), 17))
	switch {
	case n > MaxBody:
		return fmt.Errorf("a body of %d bytes, expected at most %d", n, MaxBody)
	case c.Reading():
		f.Body = f.Body[:0]
	}
	for i := range n {
		if !c.Reading() {
			c.Direct(uint64(f.Body[i]), 8)
			continue
		}
		if err := c.Err(); err != nil {
			return err
		}
		f.Body = append(f.Body, byte(c.Direct(0, 8)))
	}
	return nil
}
