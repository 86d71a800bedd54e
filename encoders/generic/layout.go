// Package generic holds encoders that see a frame as bytes and know nothing of what
// it means, and so suit any schema. They are the yardstick that everyone will ask
// for: what would a general-purpose compressor make of it? Only zstd-dict, which has
// a dictionary of cubes, is for cubes alone.
//
// All of them work on the same layout: field by field, and within a field byte
// plane by byte plane, so that similar bytes stand together; then the body.
package generic

import (
	"fmt"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
)

// layout lays a frame out as bytes: each field in as few bytes as its range
// needs, offset by its minimum, the low bytes of all rows before the next ones.
type layout struct {
	schema  *frame.Schema
	columns []fieldLayout
	size    int // bytes of a table
}

// fieldLayout is one field in the layout.
type fieldLayout struct {
	column.Range
	bytes int // of a value, 0 for a field that has but one
}

func newLayout(s *frame.Schema) *layout {
	l := &layout{schema: s}
	if s.Rows == 0 {
		return l // all body
	}
	l.columns = make([]fieldLayout, len(s.Fields))
	for i, f := range s.Fields {
		c := fieldLayout{Range: column.RangeOf(&f)}
		c.bytes = int(c.Width+7) / 8
		l.columns[i] = c
		l.size += c.bytes * s.Rows
	}
	return l
}

// pack appends f as bytes to dst.
func (l *layout) pack(dst []byte, f *frame.Frame) ([]byte, error) {
	if len(f.Table) != l.schema.Cells() || len(f.Body) > encoders.MaxBody {
		return dst, fmt.Errorf("generic: frame of %d values and a body of %d bytes, expected %d and at most %d",
			len(f.Table), len(f.Body), l.schema.Cells(), encoders.MaxBody)
	}
	start := len(dst)
	dst = slices.Grow(dst, l.size+len(f.Body))[:start+l.size]
	to, bad := dst[start:], false
	for i := range l.columns {
		c := &l.columns[i]
		bad = c.pack(to, f.Table[i:], len(l.columns), l.schema.Rows) || bad
		to = to[c.bytes*l.schema.Rows:]
	}
	if bad {
		return dst[:start], fmt.Errorf("generic: %w", l.schema.Check(f))
	}
	return append(dst, f.Body...), nil
}

// pack writes a column of which every stride-th value of from is one, and
// reports whether any is out of range.
func (c *fieldLayout) pack(to []byte, from []int32, stride, rows int) (bad bool) {
	var over uint32 // not zero once a value was above the span
	for r := range rows {
		v := c.Raw(from[r*stride])
		if v > c.Span {
			over = 1
		}
		switch c.bytes {
		case 1:
			to[r] = byte(v)
		case 2:
			to[r], to[rows+r] = byte(v), byte(v>>8)
		default:
			for b := range c.bytes {
				to[b*rows+r] = byte(v >> (8 * b))
			}
		}
	}
	return over != 0
}

// unpack fills f from bytes that pack might have made.
func (l *layout) unpack(f *frame.Frame, src []byte) error {
	if len(src) < l.size {
		return fmt.Errorf("generic: %w: table of %d bytes, expected %d", encoders.ErrTruncated, len(src), l.size)
	}
	if len(src) > l.size+encoders.MaxBody {
		return fmt.Errorf("generic: %w: body of %d bytes, expected at most %d", encoders.ErrCorrupt, len(src)-l.size, encoders.MaxBody)
	}
	f.Body = append(f.Body[:0], src[l.size:]...)
	for i := range l.columns {
		c := &l.columns[i]
		if v, ok := c.unpack(f.Table[i:], src, len(l.columns), l.schema.Rows); !ok {
			return fmt.Errorf("generic: %w: field %s: %w: %d above its minimum", encoders.ErrCorrupt, l.schema.Fields[i].Name,
				frame.ErrRange, v)
		}
		src = src[c.bytes*l.schema.Rows:]
	}
	return nil
}

// unpack is the inverse of pack; it returns the largest value above the minimum
// and whether that is in range.
func (c *fieldLayout) unpack(to []int32, from []byte, stride, rows int) (most uint32, ok bool) {
	for r := range rows {
		var v uint32
		switch c.bytes {
		case 1:
			v = uint32(from[r])
		case 2:
			v = uint32(from[r]) | uint32(from[rows+r])<<8
		default:
			for b := range c.bytes {
				v |= uint32(from[b*rows+r]) << (8 * b)
			}
		}
		most = max(most, v)
		to[r*stride] = c.Value(v)
	}
	return most, most <= c.Span
}

// fieldAt returns the field that the byte at belongs to, and where the field's
// bytes end; the body counts as field -1 and does not end.
func (l *layout) fieldAt(at int) (field, end int) {
	for i, c := range l.columns {
		end += c.bytes * l.schema.Rows
		if at < end {
			return i, end
		}
	}
	return -1, int(^uint(0) >> 1)
}

// base returns the reference as bytes, in dst's memory.
func (l *layout) base(dst []byte, refs []encoders.Ref) []byte {
	if len(refs) == 0 {
		panic("generic: the endpoints must hand over a reference")
	}
	base, err := l.pack(dst[:0], refs[0].Frame)
	if err != nil {
		panic("generic: the reference is not a frame of the schema: " + err.Error())
	}
	return base
}
