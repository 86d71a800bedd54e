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

// csvWriter writes frames as CSV, and the schema with which that reads back as the same frames: a
// line for each row, with the number of the frame and of the row in front. The first frame is the
// initial state.
type csvWriter struct {
	out    *bufio.Writer
	layout Layout
	line   []byte
	frames int
}

// NewWriter returns a writer of frames of schema s, and writes the names of the columns. Schema s
// must have rows.
func NewWriter(out io.Writer, s *frame.Schema) *csvWriter {
	free := func(name string) string {
		for slices.ContainsFunc(s.Fields, func(f frame.Field) bool { return f.Name == name }) {
			name += "_"
		}
		return name
	}
	w := &csvWriter{out: bufio.NewWriterSize(out, 1<<16)}
	w.layout = Layout{Schema: s, Preamble: 1, Header: true, Comma: ',', Frame: free("frame")}
	w.line = append(append(w.line, w.layout.Frame+","...), free("row")...)
	for i := range s.Fields {
		w.line = append(append(w.line, ','), quotedCell(s.Fields[i].Name)...)
	}
	w.flush()
	return w
}

// quotedCell quotes a name where CSV asks for it.
func quotedCell(name string) string {
	if strings.ContainsAny(name, `,"`) {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return name
}

// Schema returns the schema as a file that ParseLayout takes.
func (w *csvWriter) Schema() []byte { return w.layout.Describe() }

// Write writes a frame. What is wrong with the output, Close says.
func (w *csvWriter) Write(f *frame.Frame) error {
	s := w.layout.Schema
	if len(f.Body) > 0 {
		return fmt.Errorf("frame %d has bytes besides its table, for which CSV has no place", w.frames)
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

func (w *csvWriter) flush() {
	_, _ = w.out.Write(append(w.line, '\n')) // the error stays, and Close returns it
	w.line = w.line[:0]
}

// Close writes what is left, and returns what was wrong.
func (w *csvWriter) Close() error { return w.out.Flush() }

// appendCell appends a value as parse reads it.
func appendCell(dst []byte, v int32, f *frame.Field) []byte {
	switch {
	case f.Kind == frame.Float32:
		x := math.Float32frombits(uint32(v))
		if x != x || math.IsInf(float64(x), 0) {
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

// appendFloat appends x as briefly as it can be said to a reader who takes it for a float64 first.
func appendFloat(dst []byte, x float32) []byte {
	at := len(dst)
	dst = strconv.AppendFloat(dst, float64(x), 'g', -1, 32)
	if v, err := strconv.ParseFloat(string(dst[at:]), 64); err != nil || float32(v) != x {
		dst = strconv.AppendFloat(dst[:at], float64(x), 'g', -1, 64)
	}
	return dst
}
