package table

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"unicode"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/unpack"
)

// packedFrames reads frames of little-endian int32 values: frame by frame, row by row, field by field.
type packedFrames struct {
	path   string
	layout *Layout
	in     *unpack.Reader
	buf    []byte // one frame
}

// start begins to read from in.
func (p *packedFrames) start(in *unpack.Reader) error {
	p.in = in
	return nil
}

// read reads the next frame into f. n is its number, for errors. It returns io.EOF at the end.
func (p *packedFrames) read(f *frame.Frame, n int) error {
	switch got, err := p.in.Fill(p.buf); {
	case err == io.EOF && got > 0:
		return p.truncated(n, got)
	case err == io.EOF:
		return io.EOF
	case err != nil:
		return fmt.Errorf("%s: frame %d: %w", p.path, n, err)
	}
	fields := p.layout.Schema.Fields
	for i := range f.Table {
		v := int32(binary.LittleEndian.Uint32(p.buf[i*4:]))
		field := &fields[i%len(fields)]
		switch {
		case field.Kind == frame.Float32:
			if x := float64(math.Float32frombits(uint32(v))); math.IsNaN(x) || math.IsInf(x, 0) {
				return p.fail(n, i, fmt.Sprintf("%g is not a finite number", x), "the bits of a finite float32", ErrRecords)
			}
		case field.Kind.Bounded() && (v < field.Min || v > field.Max):
			return p.fail(n, i, fmt.Sprintf("%d is out of range", v), fmt.Sprintf("%d to %d", field.Min, field.Max)+p.formatHint(n), frame.ErrRange)
		}
		f.Table[i] = v
	}
	return nil
}

// place describes the value with index at in the table of frame n, for errors.
func (p *packedFrames) place(n, at int) string {
	s := p.layout.Schema
	return fmt.Sprintf("frame %d, %s %d, field %s", n, s.Item, at/len(s.Fields), s.Fields[at%len(s.Fields)].Name)
}

// fail returns an error about the value with index at in frame n.
func (p *packedFrames) fail(n, at int, problem, expected string, kind error) error {
	return &source.Error{File: p.path, Place: p.place(n, at), Problem: problem, Expected: expected, Kind: kind}
}

// truncated returns the error for a file that has only got bytes of frame n.
func (p *packedFrames) truncated(n, got int) error {
	problem := "the records end before this value"
	if got%4 != 0 {
		problem = fmt.Sprintf("the records end after %d of its 4 bytes", got%4)
	}
	s := p.layout.Schema
	return p.fail(n, got/4, problem, fmt.Sprintf("complete frames of %d bytes (%d rows of %d int32)", len(p.buf), s.Rows,
		len(s.Fields)), ErrTruncated)
}

// formatHint returns a suggestion for an error in frame n if the file seems to be CSV, otherwise "".
func (p *packedFrames) formatHint(n int) string {
	if n > 0 {
		return ""
	}
	for _, c := range p.buf[:min(len(p.buf), 64)] {
		if c >= 0x80 || !unicode.IsPrint(rune(c)) && !unicode.IsSpace(rune(c)) {
			return ""
		}
	}
	return ` in little-endian int32; the file looks like text: set format = "csv" in the schema`
}
