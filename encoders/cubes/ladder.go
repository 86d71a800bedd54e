// Package cubes holds the encoders of cube snapshots: the ladder of ideas that
// Glenn Fiedler climbed in "Snapshot Compression" (2015), each rung an encoder
// of its own, so that one can step up and down and see what every idea buys.
//
// Every rung is written once, as a traversal by a coder that either writes the
// values it is handed or replaces them by what it reads, so that encoder and
// decoder cannot drift apart.
package cubes

import (
	"cmp"
	"errors"
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/internal/bitio"
)

// Ladder returns the encoders in the order of the ladder.
func Ladder() []encoders.Codec {
	list := []encoders.Codec{
		// Orientation as four floats, velocity and position as three each, and one bit: 321 bits a
		// cube. The floats are those that the snapshot's integers stand for; the decoder quantises
		// them again, exactly.
		{ID: 1, Name: "raw", Standalone: true, New: newCodec(func(int, any) rung { return everyRow(raw) }),
			Summary: "every cube as ten floats and a bit, as a first program would send it"},
		// One bit for "this cube stands still", and no velocity of those that do: 127 bits for a cube
		// at rest, 160 for one that moves.
		{ID: 2, Name: "at-rest", Standalone: true, New: newCodec(func(int, any) rung { return everyRow(atRest) }),
			Summary: "no velocity for cubes at rest; orientation as smallest three, position still in floats"},
		// Smallest three 2+9+9+9 bits, position 18+18+14, interacting 1. Receivers interpolate.
		{ID: 3, Name: "quantized", Standalone: true, New: newCodec(func(int, any) rung { return everyRow(absolute) }),
			Summary: "every cube as integers: smallest three in 29 bits, position in 50, no velocity"},
		{ID: 4, Name: "changed-bits", New: newChanged(func(int) indexCoder { return bitmap{} }),
			Summary: "only the cubes that differ from the baseline, named by one bit for every cube"},
		{ID: 5, Name: "changed-index", New: newChanged(func(rows int) indexCoder { return newIndices(rows) }),
			Summary: "changed cubes named by a 10-bit index each when they are few, else by one bit for every cube"},
		// Distances are small since cubes that touch are often neighbours.
		{ID: 6, Name: "relative-index", New: newChanged(func(rows int) indexCoder { return newGaps(rows, publishedGaps...) }),
			Summary: "indices of changed cubes as the distance from one to the next, in 4, 7 or 12 bits"},
		{ID: 7, Name: "relative-position", Params: &positionWidths{5, 9, 5, 9}, New: newCodec(newRelativePosition),
			Summary: "position as a difference to the baseline: a small or a large number of bits per component"},
		// Orientations as differences too, where the baseline has the same largest component; and only
		// those parts of a cube that changed. This is where the article ends, below 256 kbps on its
		// author's recording.
		//
		// The article's scheme to the letter takes more than its author's final program does. So the
		// rung goes three steps further: a cube's widths follow its speed (gears), one bit says that a
		// cube changed in the usual way (parts), and one bit says that the next cube changed too
		// (closeGaps). On charlie: 585 bytes a packet with gear_bits = 0 and the article's widths
		// 5-9-5-9-5-8, 516.5 by his program, 510 with all three.
		{ID: 8, Name: "relative-orientation", New: newCodec(newRelativeOrientation),
			Params:  &orientationParams{positionWidths: positionWidths{6, 8, 6, 7}, OrientSmall: 5, OrientLarge: 7, GearBits: 3},
			Summary: "orientation as a difference too; the widths follow each cube's speed"},
		// A turn has no largest component and no sign, and is near zero whenever the cube hardly
		// turned. It also stands in the same space as the motion: what moves along the floor mostly
		// rolls. So the rung sends what is left of the turn after the roll that the cube's motion
		// makes likely.
		{ID: 9, Name: "rotor", New: newCodec(newRotor), Source: "Quaternions, Rotations and Compression, Chris Doran, 2015",
			Params: &rotorParams{positionWidths: positionWidths{6, 8, 6, 7}, RotorSmall: 5, RotorLarge: 7, RotorSteps: 710,
				RollBits: 4, GearBits: 3},
			Summary: "orientation as the rotor from the baseline to now, less what rolling explains: no largest index, no signs"},
	}
	for i := range list {
		list[i].Refs, list[i].Suits = 1, frame.IsCubes
		list[i].Source = cmp.Or(list[i].Source, "Snapshot Compression, Glenn Fiedler, 2015")
	}
	return list
}

// newChanged returns the New of a rung that sends the cubes that changed, absolute.
func newChanged(indices func(rows int) indexCoder) func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return newCodec(func(rows int, _ any) rung { return &delta{indices: indices(rows), rows: absolutes{}} })
}

// rung is the traversal in which the encoders of the ladder differ. It passes every
// value of cur to c and stores the result. When c reads, cur starts as a copy of base.
type rung interface {
	code(c *coder, cur, base *frame.Frame)
}

// ladder is the encoder or the decoder of a rung. An instance serves one direction,
// since its coder's memory is reused.
type ladder struct {
	coder coder
	rows  int
	rung  rung
}

// newCodec returns the New of a codec whose rung is made by build for a schema.
func newCodec(build func(rows int, params any) rung) func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		if err := cube.CheckSchema(s); err != nil {
			return nil, nil, err
		}
		if err := encoders.Validate(params); err != nil {
			return nil, nil, err
		}
		end := func() *ladder { return &ladder{rows: s.Rows, rung: build(s.Rows, params)} }
		return end(), end(), nil
	}
}

// Encode implements encoders.Encoder.
func (l *ladder) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := cube.CheckFrame(cur, l.rows); err != nil {
		return dst, nil, fmt.Errorf("cubes: %w", err)
	}
	c := &l.coder
	c.write(dst)
	c.changed = refs[0].Changed
	l.rung.code(c, cur, l.base(refs))
	if c.err != nil {
		return dst, nil, fmt.Errorf("cubes: %w", c.err)
	}
	return c.finish(b), nil, nil
}

// Decode implements encoders.Decoder.
func (l *ladder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	base := l.base(refs)
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = dst.Body[:0]
	c := &l.coder
	c.read(src)
	l.rung.code(c, dst, base)
	if err := c.close(); err != nil {
		return nil, fmt.Errorf("cubes: %w", err)
	}
	return nil, nil
}

func (l *ladder) base(refs []encoders.Ref) *frame.Frame {
	return encoders.Base(refs, l.rows*frame.CubeFields)
}

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
