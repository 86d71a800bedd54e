// Package cubes implements the ladder: nine encoders of cube snapshots that follow Glenn Fiedler's
// article "Snapshot Compression" (2015). Each rung adds one idea to the one before, so that what each
// idea saves can be measured.
//
// A packet is a bit stream without a header; values are written with the lowest bit first, and zero
// bits fill the last byte. Ladder describes the fields of each rung.
//
// Each rung has one traversal for both directions: its coder either writes the values that it is given
// or replaces them with those that it reads. So encoder and decoder cannot differ.
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
		// Orientation as four floats, velocity and position as three each, and one bit: 321 bits per
		// cube. The decoder quantises the floats again, which restores the integers exactly.
		{ID: 1, Name: "raw", Standalone: true, New: newCodec(func(int, any) rung { return everyRow(codeRaw) }),
			Summary: "every cube as ten floats and a bit, as a first program would send it"},
		// An at-rest flag, and no velocity for cubes at rest: 127 bits for a cube at rest, 160 for a
		// cube that moves.
		{ID: 2, Name: "at-rest", Standalone: true, New: newCodec(func(int, any) rung { return everyRow(codeAtRest) }),
			Summary: "no velocity for cubes at rest; orientation as smallest three, position still in floats"},
		// Smallest three 2+9+9+9 bits, position 18+18+14, interacting 1: 80 bits. No velocity, because
		// receivers interpolate.
		{ID: 3, Name: "quantized", Standalone: true, New: newCodec(func(int, any) rung { return everyRow(codeAbsolute) }),
			Summary: "every cube as integers: smallest three in 29 bits, position in 50, no velocity"},
		{ID: 4, Name: "changed-bits", New: newChangedCodec(func(int) indexCoder { return bitmap{} }),
			Summary: "only the cubes that differ from the baseline; one bit for every cube marks these"},
		{ID: 5, Name: "changed-index", New: newChangedCodec(func(rows int) indexCoder { return newIndices(rows) }),
			Summary: "a 10-bit index for each changed cube if they are few, otherwise one bit for every cube"},
		// Distances are small because cubes that touch often have neighbouring indices.
		{ID: 6, Name: "relative-index", New: newChangedCodec(func(rows int) indexCoder {
			return newGaps(rows,
				publishedGapWidths...)
		}),
			Summary: "indices of changed cubes as the distance from one to the next, in 4, 7 or 12 bits"},
		{ID: 7, Name: "relative-position", Params: &positionWidths{5, 9, 5, 9}, New: newCodec(newRelativePosition),
			Summary: "position as a difference from the baseline: a small or a large number of bits per component"},
		// Orientations as differences too, if the baseline has the same largest component, and only the
		// parts of a cube that changed. This is where the article ends, below 256 kbps on its author's
		// recording.
		//
		// The scheme of the article takes more bits than its author's final program. So the rung adds
		// three ideas: the widths of a cube depend on its speed (inClasses), one bit marks a cube that
		// changed in the usual way (codeParts), and one bit marks that the next cube changed too
		// (closeGapWidths). On charlie: 585 bytes per packet with gear_bits = 0 and the article's widths
		// 5-9-5-9-5-8 (small and large width for x and y, for z and for the orientation),
		// 516.5 with Fiedler's program, 510 with all three.
		{ID: 8, Name: "relative-orientation", New: newCodec(newRelativeOrientation),
			Params:  &orientationParams{positionWidths: positionWidths{6, 8, 6, 7}, OrientSmall: 5, OrientLarge: 7, GearBits: 3},
			Summary: "orientation as a difference too; the widths follow each cube's speed"},
		// The rotation since the baseline needs no largest component and no sign, and is near zero if
		// the cube hardly turned. It can also be predicted from the motion, because cubes that move
		// along the floor mostly roll. So the rung sends the difference from the predicted roll.
		{ID: 9, Name: "rotor", New: newCodec(newRotor), Source: "Quaternions, Rotations and Compression, Chris Doran, 2015",
			Params: &rotorParams{positionWidths: positionWidths{6, 8, 6, 7}, RotorSmall: 5, RotorLarge: 7, RotorSteps: 710,
				RollBits: 4, GearBits: 3},
			Summary: "orientation as the rotation since the baseline, relative to the rotation of a rolling cube"},
	}
	for i := range list {
		list[i].Refs, list[i].Suits = 1, frame.IsCubes
		list[i].Source = cmp.Or(list[i].Source, "Snapshot Compression, Glenn Fiedler, 2015")
	}
	return list
}

// newChangedCodec returns the function New of a rung that sends the cubes that changed, each with
// codeAbsolute. indices returns its index coder for the given number of cubes.
func newChangedCodec(indices func(rows int) indexCoder) func(*frame.Schema, any) (encoders.Encoder,
	encoders.Decoder, error) {
	return newCodec(func(rows int, _ any) rung {
		return &changedRung{indices: indices(rows), rows: absolutes{}, alone: true}
	})
}

// rung is the part in which the encoders of the ladder differ.
type rung interface {
	// codeFrame passes every value of cur to c and stores the result. When c reads, cur starts as a
	// copy of base.
	codeFrame(c *coder, cur, base *frame.Frame)
}

// ladder is the encoder or the decoder of a rung. An instance is used as one of both only, because
// it reuses memory.
type ladder struct {
	coder coder
	rows  int  // number of cubes
	rung  rung // codes the cubes of a frame
}

// newCodec returns the function New of a codec. build returns its rung for the given number of cubes;
// it is called for the encoder and for the decoder.
func newCodec(build func(rows int, params any) rung) func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		if err := cube.CheckSchema(s); err != nil {
			return nil, nil, err
		}
		if err := encoders.Validate(params); err != nil {
			return nil, nil, err
		}
		newLadder := func() *ladder { return &ladder{rows: s.Rows, rung: build(s.Rows, params)} }
		encoder := newLadder()
		if changed, ok := encoder.rung.(*changedRung); ok && changed.alone {
			return &rowLadder{ladder: encoder, changed: changed}, newLadder(), nil
		}
		return encoder, newLadder(), nil
	}
}

func (l *ladder) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := cube.CheckFrame(cur, l.rows); err != nil {
		return dst, nil, fmt.Errorf("cubes: %w", err)
	}
	c := &l.coder
	c.beginWrite(dst)
	c.changed, c.trace = refs[0].Changed, b.Tracing()
	l.rung.codeFrame(c, cur, l.baseline(refs))
	if c.err != nil {
		return dst, nil, fmt.Errorf("cubes: %w", c.err)
	}
	return c.finish(b), nil, nil // the ladder has no memos
}

func (l *ladder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	base := l.baseline(refs)
	dst.Table = append(dst.Table[:0], base.Table...)
	dst.Body = dst.Body[:0]
	c := &l.coder
	c.beginRead(src)
	l.rung.codeFrame(c, dst, base)
	if err := c.close(); err != nil {
		return nil, fmt.Errorf("cubes: %w", err)
	}
	return nil, nil // the ladder has no memos
}

// baseline returns the frame of the only reference.
func (l *ladder) baseline(refs []encoders.Ref) *frame.Frame {
	return encoders.Base(refs, l.rows*frame.CubeFields)
}

// coder writes or reads a packet, with the same calls. A writer writes the value that it is given and
// returns it; a reader ignores that value and returns the one in the packet. A writer also accounts
// for the bits.
type coder struct {
	reading bool                      // decoding: read from r, otherwise write to w
	w       bitio.Writer              // the packet, when encoding
	r       bitio.Reader              // the packet, when decoding
	err     error                     // the first error of the packet; nil if none
	charged int                       // bits of the packet that are in spent
	spent   [encoders.SlotPadding]int // bits written so far of each slot of the budget
	changed frame.Rows                // when writing: the rows that differ from the baseline; nil if not known
	trace   *encoders.Trace           // when writing: describes the bits; nil if no trace is wanted. See trace.go
}

// beginWrite makes c append a packet to dst.
func (c *coder) beginWrite(dst []byte) {
	*c = coder{}
	c.w.Reset(dst)
}

// beginRead makes c read the packet src.
func (c *coder) beginRead(src []byte) {
	*c = coder{reading: true}
	c.r.Reset(src)
}

// codeBits writes the lower n bits of v, or reads and returns them. n is at most 57, the limit of package bitio.
func (c *coder) codeBits(v uint64, n uint) uint64 {
	if c.reading {
		return c.r.Bits(n)
	}
	c.w.Bits(v, n)
	return v
}

// codeFlag writes v as one bit, or reads and returns it.
func (c *coder) codeFlag(v bool) bool {
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

// charge charges the bits written since the last charge to slot k. It does nothing in a reader.
func (c *coder) charge(k encoders.Slot) {
	if !c.reading {
		length := c.w.Len()
		c.spent[k] += length - c.charged
		c.charged = length
	}
}

// fail stores err in c.err, unless an error is stored already.
func (c *coder) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// checkRange reports whether cube i can be coded. If a cube to be written is out of range, it stores an error
// in c. It returns false after any error.
func (c *coder) checkRange(i int, q *cube.Row) bool {
	if !c.reading && !cube.InRange(q) {
		c.fail(cube.RangeError(i, q))
	}
	return c.err == nil
}

// finish returns the written packet and charges its bits to b, with the zero bits that fill its last byte.
func (c *coder) finish(b *encoders.Budget) []byte {
	for k, n := range c.spent {
		b.AddUnits(encoders.Slot(k), int64(n)*encoders.BitUnit) // the trace has them already
	}
	b.SetRow(encoders.NoRow)
	b.Bits(encoders.SlotPadding, -c.w.Len()&7) // from the length in bits to the next multiple of 8
	return c.w.Bytes()
}

// close returns the first error of the packet that was read, nil if it is valid. It checks that only zero
// bits up to the next byte follow the frame, which detects more corrupt packets. That the packet is too short
// takes precedence over other errors, which then are consequences.
func (c *coder) close() error {
	err := c.r.Close()
	if c.err != nil && !errors.Is(err, bitio.ErrShort) {
		err = c.err
	}
	return encoders.DecodeError(err, bitio.ErrShort)
}
