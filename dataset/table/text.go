package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"wirelab/internal/suggest"
	"wirelab/internal/unpack"
)

// csvFrames reads frames from rows of CSV.
type csvFrames struct {
	csvReader
	layout      *Layout
	rounding    []roundingErrors // of each field
	columnOf    []int            // index of the column of each field
	frameColumn int              // index of the column that identifies frames, -1 if rows are counted
	label       []byte           // text of the frame column in the newest frame
	number      float64          // label as a number, -Inf if it is not a number
	hasNextRow  bool             // cells contain the first row of the next frame
}

// start reads the names of the columns, if the file has them, and finds the column of each field. In a
// file without names the columns are that of the frame, if the schema has one, then the fields in order.
func (t *csvFrames) start(in *unpack.Reader) error {
	if t.in == nil {
		t.in = bufio.NewReaderSize(in, maxLine)
	}
	t.in.Reset(in)
	t.line, t.hasNextRow, t.label, t.names = 0, false, t.label[:0], nil
	t.columnOf, t.frameColumn, t.number = t.columnOf[:0], -1, math.Inf(-1)
	l := t.layout
	if !l.Header {
		if l.Frame != "" {
			t.frameColumn, t.names = 0, append(t.names, l.Frame)
		}
		for _, name := range l.columns {
			t.columnOf, t.names = append(t.columnOf, len(t.names)), append(t.names, name)
		}
		return nil
	}
	if err := t.next(); err != nil {
		return err
	}
	for _, cell := range t.cells {
		t.names = append(t.names, string(cell))
	}
	for _, name := range l.columns {
		i, err := t.findColumn(name)
		if err != nil {
			return err
		}
		t.columnOf = append(t.columnOf, i)
	}
	if l.Frame == "" {
		return nil
	}
	var err error
	t.frameColumn, err = t.findColumn(l.Frame)
	return err
}

// findColumn returns the index of the column called name. The error for a missing column suggests
// what is wrong with the file or the schema.
func (t *csvFrames) findColumn(name string) (int, error) {
	i := slices.Index(t.names, name)
	switch {
	case i >= 0 && slices.Contains(t.names[i+1:], name):
		return 0, t.fail(i, ErrRecords, "two columns have this name", "one column called "+quoted(name))
	case i >= 0:
		return i, nil
	case t.lacksHeader():
		return 0, t.fail(-1, ErrRecords, "the first line has values, not the names of columns",
			`names in the first line, or header = false in the schema`)
	}
	if comma := t.guessSeparator(); comma != 0 {
		return 0, t.fail(-1, ErrRecords, fmt.Sprintf("a single cell with %q in it, no columns separated by %q", comma, t.comma),
			fmt.Sprintf("separator = %q in the schema", string(comma)))
	}
	expected := `this name in the first line, or column = "..." in the schema`
	if close := suggest.Closest(name, t.names); close != "" {
		expected = fmt.Sprintf("this name in the first line, or column = %q in the schema", close)
	}
	return 0, t.fail(-1, ErrRecords, "no column is called "+quoted(name), expected)
}

// lacksHeader reports whether the first line seems to have values instead of names: at least one cell
// is a number, and no cell is the name of a column.
func (t *csvFrames) lacksHeader() bool {
	return slices.ContainsFunc(t.cells, func(c []byte) bool { _, err := parseDecimal(c); return err == nil }) &&
		!slices.ContainsFunc(t.layout.columns, func(name string) bool { return slices.Contains(t.names, name) })
}

// guessSeparator returns the separator that the file seems to use if, with the separator of the schema,
// its first line is a single cell. It returns 0 if there is none.
func (t *csvFrames) guessSeparator() byte {
	if len(t.names) == 1 {
		for _, c := range []byte(separators) {
			if strings.IndexByte(t.names[0], c) >= 0 {
				return c
			}
		}
	}
	return 0
}

// read reads the next frame into table. It returns io.EOF at the end of the file.
func (t *csvFrames) read(table []int32, _ int) error {
	s := t.layout.Schema
	for row := range s.Rows {
		if err := t.readRow(row); err != nil {
			return err
		}
		if err := t.parseRow(table[row*len(s.Fields):]); err != nil {
			return err
		}
	}
	return t.checkFrameEnd()
}

// readRow reads the next row, which must be row number row of its frame, into t.cells.
func (t *csvFrames) readRow(row int) error {
	if !t.hasNextRow {
		if err := t.next(); err == io.EOF && row > 0 {
			return t.fail(-1, ErrTruncated, fmt.Sprintf("the records end after %d rows of a frame", row),
				fmt.Sprintf("%d rows in each frame", t.layout.Schema.Rows))
		} else if err != nil {
			return err
		}
	}
	t.hasNextRow = false
	if n := len(t.cells); n != len(t.names) {
		expected := fmt.Sprintf("%d columns", len(t.names))
		if n < len(t.names) {
			expected += fmt.Sprintf(": column %d (%s) is missing", n+1, t.names[n])
		}
		return t.fail(-1, ErrRecords, fmt.Sprintf("a row of %d columns", n), expected)
	}
	if t.frameColumn < 0 {
		return nil
	}
	label := t.cells[t.frameColumn]
	if row == 0 {
		return t.startFrame(label)
	}
	if !bytes.Equal(label, t.label) {
		return t.fail(t.frameColumn, ErrRecords, fmt.Sprintf("frame %s ends after %d rows", quotedLabel(t.label), row),
			fmt.Sprintf("%d rows in each frame", t.layout.Schema.Rows))
	}
	return nil
}

// startFrame stores the label of a new frame. Labels that are numbers must not decrease.
func (t *csvFrames) startFrame(label []byte) error {
	number, err := parseDecimal(label)
	if err != nil {
		number = math.Inf(-1) // the label is a name, after which any label may follow
	} else if number < t.number {
		return t.fail(t.frameColumn, ErrRecords, fmt.Sprintf("frame %s comes after frame %s", quotedLabel(label), quotedLabel(t.label)),
			`frames in order; without the key "frame" in the schema, rows are counted instead`)
	}
	t.label, t.number = append(t.label[:0], label...), number
	return nil
}

// checkFrameEnd reads the next row and returns an error if that belongs to the frame that is
// complete. If not, the row stays in t.cells for the next frame.
func (t *csvFrames) checkFrameEnd() error {
	if t.frameColumn < 0 {
		return nil
	}
	switch err := t.next(); {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	}
	t.hasNextRow = true
	if t.frameColumn < len(t.cells) && bytes.Equal(t.cells[t.frameColumn], t.label) {
		return t.fail(t.frameColumn, ErrRecords, fmt.Sprintf("frame %s has more rows", quotedLabel(t.label)),
			fmt.Sprintf("%d rows in each frame", t.layout.Schema.Rows))
	}
	return nil
}

// quotedLabel quotes a label for an error and shortens it.
func quotedLabel(label []byte) string { return quoted(string(label)) }

// parseRow parses the fields of the current row into row, in steps.
func (t *csvFrames) parseRow(row []int32) error {
	for i := range t.layout.Schema.Fields {
		column := t.columnOf[i]
		v, err := parseCell(t.cells[column], &t.layout.Schema.Fields[i], &t.rounding[i])
		if err != nil {
			var cellErr *cellError
			errors.As(err, &cellErr)
			return t.fail(column, cellErr.kind, cellErr.problem, cellErr.expected)
		}
		row[i] = v
	}
	return nil
}
