package table

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
)

// csvWriter writes frames as CSV, one line for each row with the number of the frame and of the row
// first. Its Schema describes the file so that it reads back as the same frames. The first frame must
// be the initial state.
type csvWriter struct {
	out    *bufio.Writer
	layout Layout
	line   []byte // buffer
	frames int    // number of frames written
}

// NewWriter returns a writer of frames with schema s, which must have rows, and writes the line
// with the names of the columns.
func NewWriter(out io.Writer, s *frame.Schema) *csvWriter {
	unusedName := func(name string) string {
		for slices.ContainsFunc(s.Fields, func(f frame.Field) bool { return f.Name == name }) {
			name += "_"
		}
		return name
	}
	w := &csvWriter{out: bufio.NewWriterSize(out, 1<<16)}
	numbers := *s // with values as numbers, also those that have a name
	numbers.Fields = slices.Clone(s.Fields)
	for i := range numbers.Fields {
		numbers.Fields[i].Values = nil
	}
	w.layout = Layout{Schema: &numbers, Preamble: 1, Header: true, Comma: ',', Frame: unusedName("frame")}
	w.line = append(append(w.line, w.layout.Frame+","...), unusedName("row")...)
	for i := range s.Fields {
		w.line = append(append(w.line, ','), quotedCell(s.Fields[i].Name)...)
	}
	w.flush()
	return w
}

// quotedCell quotes a name if it contains a comma or a quote.
func quotedCell(name string) string {
	if strings.ContainsAny(name, `,"`) {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return name
}

// Schema returns the schema of the file in TOML.
func (w *csvWriter) Schema() []byte { return w.layout.Describe() }

// Write writes a frame. It fails if the frame has a body. Errors of the output are returned by Close.
func (w *csvWriter) Write(f *frame.Frame) error {
	s := w.layout.Schema
	if len(f.Body) > 0 {
		return fmt.Errorf("frame %d has a body of %d bytes, which CSV cannot represent", w.frames, len(f.Body))
	}
	n := len(s.Fields)
	for row := range s.Rows {
		w.line = append(strconv.AppendInt(w.line, int64(w.frames), 10), ',')
		w.line = strconv.AppendInt(w.line, int64(row), 10)
		for i, v := range f.Table[row*n : (row+1)*n] {
			w.line = appendCell(append(w.line, ','), v, &s.Fields[i])
		}
		w.flush()
	}
	w.frames++
	return nil
}

// flush writes w.line as a line.
func (w *csvWriter) flush() {
	_, _ = w.out.Write(append(w.line, '\n')) // the error is sticky, and Close returns it
	w.line = w.line[:0]
}

// Close flushes the output and returns its first error.
func (w *csvWriter) Close() error { return w.out.Flush() }

// appendCell appends a value v, in steps, as text that parseCell parses to the same value.
func appendCell(dst []byte, v int32, f *frame.Field) []byte {
	switch {
	case f.Kind == frame.Float32:
		x := math.Float32frombits(uint32(v))
		if x != x || math.IsInf(float64(x), 0) { // NaN or infinite: the bits in hexadecimal
			return fmt.Appendf(dst, "0x%08x", uint32(v))
		}
		return appendFloat(dst, x)
	case f.Kind == frame.Bits:
		return strconv.AppendUint(dst, uint64(uint32(v)), 10)
	case f.Kind == frame.Flag || f.Kind == frame.Enum || f.Step() == 1:
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return strconv.AppendFloat(dst, float64(v)*f.Step(), 'g', -1, 64)
}

// appendFloat appends the shortest decimal number that gives x when it is parsed as a float64 and then
// rounded to a float32, as parseCell does. The shortest float32 number may round differently that way.
func appendFloat(dst []byte, x float32) []byte {
	at := len(dst)
	dst = strconv.AppendFloat(dst, float64(x), 'g', -1, 32)
	if v, err := strconv.ParseFloat(string(dst[at:]), 64); err != nil || float32(v) != x {
		dst = strconv.AppendFloat(dst[:at], float64(x), 'g', -1, 64)
	}
	return dst
}
