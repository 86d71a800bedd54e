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

// packed reads frames of little-endian int32 values, one after the other, row by row.
type packed struct {
	path   string
	layout *Layout
	in     *unpack.Reader
	buf    []byte // one frame
}

func (p *packed) start(in *unpack.Reader) error {
	p.in = in
	return nil
}

// read fills table with frame n of the file; io.EOF if there is none.
func (p *packed) read(table []int32, n int) error {
	switch got, err := p.in.Fill(p.buf); {
	case err == io.EOF && got > 0:
		return p.breaksOff(n, got)
	case err == io.EOF:
		return io.EOF
	case err != nil:
		return fmt.Errorf("%s: frame %d: %w", p.path, n, err)
	}
	fields := p.layout.Schema.Fields
	for at := range table {
		v := int32(binary.LittleEndian.Uint32(p.buf[at*4:]))
		f := &fields[at%len(fields)]
		switch {
		case f.Kind == frame.Float32:
			if x := float64(math.Float32frombits(uint32(v))); math.IsNaN(x) || math.IsInf(x, 0) {
				return p.fail(n, at, fmt.Sprintf("%g is no number that could be sent", x), "the bits of a finite float32", ErrRecords)
			}
		case f.Kind.Bounded() && (v < f.Min || v > f.Max):
			return p.fail(n, at, fmt.Sprintf("%d is out of range", v), fmt.Sprintf("%d to %d", f.Min, f.Max)+p.hint(n), frame.ErrRange)
		}
		table[at] = v
	}
	return nil
}

// place names a value of frame n.
func (p *packed) place(n, at int) string {
	s := p.layout.Schema
	return fmt.Sprintf("frame %d, %s %d, field %s", n, s.Item, at/len(s.Fields), s.Fields[at%len(s.Fields)].Name)
}

func (p *packed) fail(n, at int, problem, expected string, kind error) error {
	return &source.Error{File: p.path, Place: p.place(n, at), Problem: problem, Expected: expected, Kind: kind}
}

// breaksOff says that only got bytes of frame n are there.
func (p *packed) breaksOff(n, got int) error {
	problem := "the records end before it"
	if got%4 != 0 {
		problem = fmt.Sprintf("the records end after %d of its 4 bytes", got%4)
	}
	s := p.layout.Schema
	return p.fail(n, got/4, problem, fmt.Sprintf("whole frames of %d bytes (%d rows of %d int32)", len(p.buf), s.Rows,
		len(s.Fields)), ErrTruncated)
}

// hint says what else the file may be, if it looks like text.
func (p *packed) hint(n int) string {
	if n > 0 {
		return ""
	}
	for _, c := range p.buf[:min(len(p.buf), 64)] {
		if c >= 0x80 || !unicode.IsPrint(rune(c)) && !unicode.IsSpace(rune(c)) {
			return ""
		}
	}
	return ` in little-endian int32; of what looks like text, say format = "csv" in the schema`
}
