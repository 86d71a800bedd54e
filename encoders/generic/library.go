// Package generic contains encoders that treat a frame as bytes, so they suit any schema. They are
// the yardstick for the others: the result of a general-purpose compressor. Only zstd-dict is for
// cubes and captures alone, because of its dictionaries.
//
// All of them use the same layout of a frame: field by field, and within a field byte plane by byte
// plane, so that similar bytes are adjacent; then the body.
package generic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/flate"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
)

// A layout converts frames to bytes: each field, relative to its minimum, in as few bytes as its
// range needs, the lowest bytes of all rows before the next bytes of all rows.
type layout struct {
	schema  *frame.Schema
	columns []fieldLayout
	size    int // size of a packed table, in bytes
}

// A fieldLayout is one field in the layout.
type fieldLayout struct {
	column.Range
	width int // bytes of a value; 0 for a field with only one possible value
}

func newLayout(s *frame.Schema) *layout {
	l := &layout{schema: s}
	if s.Rows == 0 {
		return l // frames have only a body
	}
	l.columns = make([]fieldLayout, len(s.Fields))
	for i, f := range s.Fields {
		c := fieldLayout{Range: column.NewRange(&f)}
		c.width = int(c.Width+7) / 8
		l.columns[i] = c
		l.size += c.width * s.Rows
	}
	return l
}

// pack appends f as bytes to dst.
func (l *layout) pack(dst []byte, f *frame.Frame) ([]byte, error) {
	if len(f.Table) != l.schema.Cells() || len(f.Body) > encoders.MaxBody {
		return dst, fmt.Errorf("generic: frame has %d values and a body of %d bytes, expected %d values and at most %d bytes",
			len(f.Table), len(f.Body), l.schema.Cells(), encoders.MaxBody)
	}
	start := len(dst)
	dst = slices.Grow(dst, l.size+len(f.Body))[:start+l.size]
	rest, invalid := dst[start:], false // rest begins at the next field
	for i := range l.columns {
		c := l.columns[i]
		invalid = c.pack(rest, f.Table[i:], len(l.columns), l.schema.Rows) || invalid
		rest = rest[c.width*l.schema.Rows:]
	}
	if invalid {
		return dst[:start], fmt.Errorf("generic: %w", l.schema.Check(f))
	}
	return append(dst, f.Body...), nil
}

// pack writes the values of a field in all rows to dst: the lowest bytes of all rows, then the next bytes.
// values[i*stride] is the field's value in row i. It reports whether any value is out of range.
func (c fieldLayout) pack(dst []byte, values []int32, stride, rows int) (invalid bool) {
	var outOfRange uint32 // 1 if any value was above the span
	for r := range rows {
		v := c.Raw(values[r*stride])
		if v > c.Span {
			outOfRange = 1
		}
		switch c.width {
		case 1:
			dst[r] = byte(v)
		case 2:
			dst[r], dst[rows+r] = byte(v), byte(v>>8)
		default:
			for b := range c.width {
				dst[b*rows+r] = byte(v >> (8 * b))
			}
		}
	}
	return outOfRange != 0
}

// unpack is the inverse of pack: it fills f from src. src may hold any bytes; values out of range are an error.
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
			return fmt.Errorf("generic: %w: field %s: %w: %d above the minimum, expected at most %d", encoders.ErrCorrupt,
				l.schema.Fields[i].Name, frame.ErrRange, v, c.Span)
		}
		src = src[c.width*l.schema.Rows:]
	}
	return nil
}

// unpack is the inverse of pack: it sets values[i*stride] for each row i from src. It returns the largest
// value, relative to the field's minimum, and whether it is in range.
func (c fieldLayout) unpack(values []int32, src []byte, stride, rows int) (maxRaw uint32, ok bool) {
	for r := range rows {
		var v uint32
		switch c.width {
		case 1:
			v = uint32(src[r])
		case 2:
			v = uint32(src[r]) | uint32(src[rows+r])<<8
		default:
			for b := range c.width {
				v |= uint32(src[b*rows+r]) << (8 * b)
			}
		}
		maxRaw = max(maxRaw, v)
		values[r*stride] = c.FromRaw(v)
	}
	return maxRaw, maxRaw <= c.Span
}

// fieldAt returns the field of the byte at offset, and the offset where the field's bytes end. For
// bytes of the body it returns -1 and the maximum int.
func (l *layout) fieldAt(offset int) (field, end int) {
	for i, c := range l.columns {
		end += c.width * l.schema.Rows
		if offset < end {
			return i, end
		}
	}
	return -1, math.MaxInt
}

// rowAt returns the row of the byte at offset; encoders.NoRow for bytes of the body.
func (l *layout) rowAt(offset int) int {
	if offset >= l.size {
		return encoders.NoRow
	}
	return offset % l.schema.Rows // each field takes a multiple of that number of bytes
}

// packBaseline returns the baseline as bytes, in dst's memory.
func (l *layout) packBaseline(dst []byte, refs []encoders.Ref) []byte {
	if len(refs) == 0 {
		panic("generic: the endpoints must pass a reference")
	}
	base, err := l.pack(dst[:0], refs[0].Frame)
	if err != nil {
		panic("generic: the reference is not a frame of the schema: " + err.Error())
	}
	return base
}

// A compressor is a general-purpose compressor, used for one packet after another.
type compressor interface {
	// compress appends src, compressed, to dst. base is the baseline as bytes.
	compress(dst, src, base []byte) ([]byte, error)
	// expand is the inverse. It fills dst up to its capacity and no further. src may hold any
	// bytes; io.ErrUnexpectedEOF means that they end early.
	expand(dst, src, base []byte) ([]byte, error)
}

// A libraryCoder is an encoder or a decoder around the compressor of a library. It allocates as much
// as the library does.
type libraryCoder struct {
	name         string // prefix of errors
	layout       *layout
	compressor   compressor
	packed, base []byte // buffers that are reused
}

// newCodec returns the New function of a codec whose encoder and decoder each have a compressor. build creates
// one for inputs of up to maxSize bytes, with the parameters of the codec. name is for errors.
func newCodec(name string, build func(maxSize int, params any) compressor) func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) {
	return func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		if err := encoders.Validate(params); err != nil {
			return nil, nil, err
		}
		newCoder := func() *libraryCoder {
			l := newLayout(s)
			return &libraryCoder{name: "generic: " + name, layout: l, compressor: build(l.size+encoders.MaxBody, params)}
		}
		return newCoder(), newCoder(), nil
	}
}

func (l *libraryCoder) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, _ encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	var err error
	if l.packed, err = l.layout.pack(l.packed[:0], cur); err != nil {
		return dst, nil, err
	}
	l.base = l.layout.packBaseline(l.base, refs)
	out, err := l.compressor.compress(dst, l.packed, l.base)
	if err != nil {
		return dst, nil, fmt.Errorf("%s: %w", l.name, err)
	}
	slot := encoders.SlotTable // compressed bytes cannot be assigned to fields
	if l.layout.size == 0 {
		slot = encoders.SlotBody
	}
	b.Bits(slot, 8*(len(out)-len(dst)))
	return out, nil, nil
}

func (l *libraryCoder) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, _ encoders.Memo) (encoders.Memo, error) {
	if maxSize := l.layout.size + encoders.MaxBody; cap(l.packed) < maxSize {
		l.packed = make([]byte, 0, maxSize)
	}
	l.base = l.layout.packBaseline(l.base, refs)
	plain, err := l.compressor.expand(l.packed[:0], src, l.base)
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
	Level int `toml:"level" help:"compression level: 1 is fastest, 9 smallest" min:"1" max:"9"`
}

// Deflate returns the codec deflate, which compresses every frame alone, as a web server would.
func Deflate() encoders.Codec {
	return encoders.Codec{
		ID: 65, Name: "deflate", Refs: 1, Standalone: true, Suits: suits,
		Summary: "every frame alone, compressed with DEFLATE, as a web server would",
		Source:  "RFC 1951, Peter Deutsch, 1996; library klauspost/compress",
		Params:  &deflateParams{Level: 6},
		New: newCodec("deflate", func(_ int, params any) compressor {
			return &deflate{level: params.(*deflateParams).Level}
		}),
	}
}

// A deflate is a compressor for DEFLATE. It does not use the standard library's, so that its bytes,
// on which digests of runs depend, change only with go.mod.
type deflate struct {
	level  int
	writer *flate.Writer
	reader io.ReadCloser
	output bytes.Buffer
	input  bytes.Reader
}

// compress implements compressor; it ignores the baseline.
func (d *deflate) compress(dst, src, _ []byte) ([]byte, error) {
	d.output.Reset()
	if d.writer == nil {
		w, err := flate.NewWriter(&d.output, d.level)
		if err != nil {
			return dst, err
		}
		d.writer = w
	} else {
		d.writer.Reset(&d.output)
	}
	_, err := d.writer.Write(src)
	err = cmp.Or(err, d.writer.Close())
	return append(dst, d.output.Bytes()...), err
}

// expand implements compressor; it ignores the baseline.
func (d *deflate) expand(dst, src, _ []byte) ([]byte, error) {
	d.input.Reset(src)
	if d.reader == nil {
		d.reader = flate.NewReader(&d.input)
	} else if err := d.reader.(flate.Resetter).Reset(&d.input, nil); err != nil {
		return dst, err
	}
	dst, err := readAll(d.reader, dst)
	if err == nil && d.input.Len() > 0 {
		err = fmt.Errorf("%d bytes follow the end of the compressed data", d.input.Len())
	}
	return dst, err
}

// errTooLarge means that a packet expands to more than a frame can hold.
var errTooLarge = errors.New("packet expands to more bytes than the largest frame has")

// readAll appends all of r to dst. If r has more bytes than dst has capacity for, it returns errTooLarge.
func readAll(r io.Reader, dst []byte) ([]byte, error) {
	for {
		free := dst[len(dst):cap(dst)]
		var extra [1]byte
		if len(free) == 0 { // dst is full: only the end may follow
			free = extra[:]
		}
		n, err := r.Read(free)
		if len(dst) == cap(dst) && n > 0 {
			return dst, errTooLarge
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
