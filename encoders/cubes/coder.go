package cubes

import (
	"errors"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/internal/bitio"
)

// coder is both directions of a packet behind one set of calls. A writer returns the
// value it was given; a reader ignores it and returns the value from the packet. It also
// accounts for the bits.
type coder struct {
	reading bool
	w       bitio.Writer
	r       bitio.Reader
	err     error // the first error
	mark    int   // bits charged so far
	spent   [encoders.SlotPadding]int
	changed frame.Rows // of a writer: the rows that differ from the baseline; nil: not known
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

// charge accounts for the bits since the last charge, in a writer only.
func (c *coder) charge(k encoders.Slot) {
	if !c.reading {
		at := c.w.Len()
		c.spent[k] += at - c.mark
		c.mark = at
	}
}

// fail stores the first error.
func (c *coder) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// admit reports whether cube i may be coded. A writer refuses one that is out of range.
func (c *coder) admit(i int, q *cube.Row) bool {
	if !c.reading && !cube.InRange(q) {
		c.fail(cube.RangeError(i, q))
	}
	return c.err == nil
}

// finish returns the packet and charges b.
func (c *coder) finish(b *encoders.Budget) []byte {
	for k, n := range c.spent {
		b.Bits(encoders.Slot(k), n)
	}
	b.Bits(encoders.SlotPadding, -c.w.Len()&7)
	return c.w.Bytes()
}

// close returns the error of the packet that was read. After the frame only zero bits up
// to the byte may follow, which detects more damage.
func (c *coder) close() error {
	err := c.r.Close()
	if c.err != nil && !errors.Is(err, bitio.ErrShort) {
		err = c.err
	}
	return encoders.DecodeError(err, bitio.ErrShort)
}
