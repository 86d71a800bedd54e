package cubes

import (
	"errors"

	"wirelab/encoders"
	"wirelab/encoders/bitio"
	"wirelab/encoders/cubes/cube"
)

// coder is both directions of a packet behind one set of calls: when it writes
// it returns the value it was given, when it reads it ignores that value and
// returns the one from the packet. It also keeps the account of bits.
type coder struct {
	reading bool
	w       bitio.Writer
	r       bitio.Reader
	err     error // sticky: the first thing that was wrong
	mark    int   // bits that are charged
	spent   [encoders.SlotPadding]int
}

// write makes c append a packet to dst.
func (c *coder) write(dst []byte) {
	*c = coder{}
	c.w.Reset(dst)
}

// read makes c take a packet from src.
func (c *coder) read(src []byte) {
	*c = coder{reading: true}
	c.r.Reset(src)
}

// bits codes a value of n bits, at most 57.
func (c *coder) bits(v uint64, n uint) uint64 {
	if c.reading {
		return c.r.Bits(n)
	}
	c.w.Bits(v, n)
	return v
}

// flag codes one bit.
func (c *coder) flag(v bool) bool {
	if c.reading {
		return c.r.Bits(1) != 0
	}
	var bit uint64
	if v {
		bit = 1
	}
	c.w.Bits(bit, 1)
	return v
}

// charge accounts for all bits since the last charge. Nobody asks what a decoder
// spends.
func (c *coder) charge(k encoders.Slot) {
	if !c.reading {
		at := c.w.Len()
		c.spent[k] += at - c.mark
		c.mark = at
	}
}

// fail notes the first thing that was wrong.
func (c *coder) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// admit reports whether cube i may be coded: a writer refuses one that is out of
// range, a reader does not know it yet.
func (c *coder) admit(i int, q *cube.Row) bool {
	if !c.reading && !cube.InRange(q) {
		c.fail(cube.RangeError(i, q))
	}
	return c.err == nil
}

// finish returns the packet and hands the account to b.
func (c *coder) finish(b *encoders.Budget) []byte {
	for k, n := range c.spent {
		b.Bits(encoders.Slot(k), n)
	}
	b.Bits(encoders.SlotPadding, -c.w.Len()&7)
	return c.w.Bytes()
}

// close returns what was wrong with the packet that was read. Packets hold
// nothing beyond the frame but zeros up to the byte: a decoder that insists on
// it finds more damage.
func (c *coder) close() error {
	err := c.r.Close()
	if c.err != nil && !errors.Is(err, bitio.ErrShort) {
		err = c.err
	}
	return encoders.DecodeError(err, bitio.ErrShort)
}
