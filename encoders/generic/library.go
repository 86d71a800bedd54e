// Package generic holds encoders that see a frame as bytes and know nothing of what
// it means, and so suit any schema. They are the yardstick that everyone will ask
// for: what would a general-purpose compressor make of it? Only zstd-dict, which has
// a dictionary of cubes, is for cubes alone.
//
// All of them work on the same layout: field by field, and within a field byte
// plane by byte plane, so that similar bytes stand together; then the body.
package generic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"

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
		c := l.columns[i]
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
func (c fieldLayout) pack(to []byte, from []int32, stride, rows int) (bad bool) {
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
		c := l.columns[i]
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
func (c fieldLayout) unpack(to []int32, from []byte, stride, rows int) (most uint32, ok bool) {
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

// compressor is a general-purpose compressor of a library, made to be used for
// one packet after another.
type compressor interface {
	// compress appends src, compressed, to dst. base is what both ends hold.
	compress(dst, src, base []byte) ([]byte, error)
	// expand is the inverse; it fills dst up to its capacity and no further. Any
	// bytes may come; io.ErrUnexpectedEOF means that they end early.
	expand(dst, src, base []byte) ([]byte, error)
}

// library is the encoder and the decoder around a compressor. Such codecs
// allocate what their library does.
type library struct {
	name        string // begins the texts of errors
	layout      *layout
	compressor  compressor
	plain, base []byte // memory that is reused
}

// with returns the New of a codec around the compressors that build makes for
// inputs of up to most bytes.
func with(name string, build func(most int, params any) compressor) func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		if err := encoders.Validate(params); err != nil {
			return nil, nil, err
		}
		end := func() *library {
			l := newLayout(s)
			return &library{name: "generic: " + name, layout: l, compressor: build(l.size+encoders.MaxBody, params)}
		}
		return end(), end(), nil
	}
}

// Encode implements encoders.Encoder.
func (l *library) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	var err error
	if l.plain, err = l.layout.pack(l.plain[:0], cur); err != nil {
		return dst, nil, err
	}
	l.base = l.layout.base(l.base, refs)
	out, err := l.compressor.compress(dst, l.plain, l.base)
	if err != nil {
		return dst, nil, fmt.Errorf("%s: %w", l.name, err)
	}
	slot := encoders.SlotTable
	if l.layout.size == 0 {
		slot = encoders.SlotBody
	}
	b.Bits(slot, 8*(len(out)-len(dst)))
	return out, nil, nil
}

// Decode implements encoders.Decoder.
func (l *library) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	if most := l.layout.size + encoders.MaxBody; cap(l.plain) < most {
		l.plain = make([]byte, 0, most)
	}
	l.base = l.layout.base(l.base, refs)
	plain, err := l.compressor.expand(l.plain[:0], src, l.base)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%s: %w", l.name, encoders.ErrTruncated)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %v", l.name, encoders.ErrCorrupt, err)
	}
	return nil, l.layout.unpack(dst, plain)
}

// deflateParams are the parameters of deflate.
type deflateParams struct {
	Level int `toml:"level" help:"effort, from fastest to smallest" min:"1" max:"9"`
}

// Deflate compresses every frame by itself, as a web server would.
func Deflate() encoders.Codec {
	return encoders.Codec{
		ID: 65, Name: "deflate", Refs: 1, Standalone: true, Suits: anySchema,
		Summary: "every frame by itself through DEFLATE, as a web server would",
		Source:  "RFC 1951, Peter Deutsch, 1996; library klauspost/compress",
		Params:  &deflateParams{Level: 6},
		New: with("deflate", func(_ int, params any) compressor {
			return &deflate{level: params.(*deflateParams).Level}
		}),
	}
}

// deflate is not the standard library's, so that its bytes, which digests of
// runs depend on, change with go.mod only.
type deflate struct {
	level int
	w     *flate.Writer
	r     io.ReadCloser
	out   bytes.Buffer
	in    bytes.Reader
}

func (d *deflate) compress(dst, src, _ []byte) ([]byte, error) {
	d.out.Reset()
	if d.w == nil {
		w, err := flate.NewWriter(&d.out, d.level)
		if err != nil {
			return dst, err
		}
		d.w = w
	} else {
		d.w.Reset(&d.out)
	}
	_, err := d.w.Write(src)
	err = cmp.Or(err, d.w.Close())
	return append(dst, d.out.Bytes()...), err
}

func (d *deflate) expand(dst, src, _ []byte) ([]byte, error) {
	d.in.Reset(src)
	if d.r == nil {
		d.r = flate.NewReader(&d.in)
	} else if err := d.r.(flate.Resetter).Reset(&d.in, nil); err != nil {
		return dst, err
	}
	dst, err := fill(d.r, dst)
	if err == nil && d.in.Len() > 0 {
		err = fmt.Errorf("%d bytes left over", d.in.Len())
	}
	return dst, err
}

var errFull = errors.New("expands to more than a frame can hold")

// fill appends all of r to dst, which must not exceed its capacity.
func fill(r io.Reader, dst []byte) ([]byte, error) {
	for {
		room := dst[len(dst):cap(dst)]
		var more [1]byte
		if len(room) == 0 {
			room = more[:]
		}
		n, err := r.Read(room)
		if len(dst) == cap(dst) && n > 0 {
			return dst, errFull
		}
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}
