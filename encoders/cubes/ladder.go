// Package cubes holds the encoders of cube snapshots: the ladder of ideas that
// Glenn Fiedler climbed in "Snapshot Compression" (2015), each rung an encoder
// of its own, so that one can step up and down and see what every idea buys.
//
//	raw                   floats, as a first program would send them
//	at-rest               no velocity for cubes that stand still
//	quantized             integers of just enough bits
//	changed-bits          only the cubes that differ from the baseline
//	changed-index         ... named by index when they are few
//	relative-index        ... by the distance from the one before
//	relative-position     position as a small difference
//	relative-orientation  orientation too
//	rotor                 orientation as the turn since the baseline
//
// Every rung is written once, as a traversal by a coder that either writes the
// values it is handed or replaces them by what it reads, so that encoder and
// decoder cannot drift apart.
package cubes

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

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
