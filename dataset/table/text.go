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

// text reads frames from rows of CSV.
type text struct {
	lines
	layout  *Layout
	columns []int   // of each field
	frame   int     // the column that tells frames apart, -1 if they are counted
	label   []byte  // what stood there in the frame read last
	number  float64 // the same as a number, -Inf if it is none
	ahead   bool    // cells hold a row that nobody has taken
}

// start reads the names of the columns, if the file has them.
func (t *text) start(in *unpack.Reader) error {
	if t.in == nil {
		t.in = bufio.NewReaderSize(in, maxLine)
	}
	t.in.Reset(in)
	t.line, t.ahead, t.label, t.names = 0, false, t.label[:0], nil
	t.columns, t.frame, t.number = t.columns[:0], -1, math.Inf(-1)
	l := t.layout
	if !l.Header {
		if l.Frame != "" {
			t.frame, t.names = 0, append(t.names, l.Frame)
		}
		for _, name := range l.columns {
			t.columns, t.names = append(t.columns, len(t.names)), append(t.names, name)
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
		i, err := t.column(name)
		if err != nil {
			return err
		}
		t.columns = append(t.columns, i)
	}
	if l.Frame == "" {
		return nil
	}
	var err error
	t.frame, err = t.column(l.Frame)
	return err
}

// column finds a column by its name.
func (t *text) column(name string) (int, error) {
	i := slices.Index(t.names, name)
	switch {
	case i >= 0 && slices.Contains(t.names[i+1:], name):
		return 0, t.fail(i, ErrRecords, "there are two columns of this name", "one that is called "+quoted(name))
	case i >= 0:
		return i, nil
	case t.valuesFirst():
		return 0, t.fail(-1, ErrRecords, "these are values, not the names of columns",
			`names in the first line, or header = false in the schema`)
	}
	if comma := t.otherComma(); comma != 0 {
		return 0, t.fail(-1, ErrRecords, fmt.Sprintf("one cell with %q in it, not columns between %q", comma, t.comma),
			fmt.Sprintf("separator = %q in the schema", string(comma)))
	}
	expected := `it in the first line, or column = "..." in the schema`
	if close := suggest.Closest(name, t.names); close != "" {
		expected = fmt.Sprintf("it in the first line; there is %s: column = %q in the schema would read that", close, close)
	}
	return 0, t.fail(-1, ErrRecords, "no column is called "+quoted(name), expected)
}

// valuesFirst reports whether the first line holds values where names should be: a
// number, and not one of the names.
func (t *text) valuesFirst() bool {
	return slices.ContainsFunc(t.cells, func(c []byte) bool { _, err := decimal(c); return err == nil }) &&
		!slices.ContainsFunc(t.layout.columns, func(name string) bool { return slices.Contains(t.names, name) })
}

// otherComma returns what seems to separate the columns of a first line that is a
// single cell as the schema has it; 0 if nothing does.
func (t *text) otherComma() byte {
	if len(t.names) == 1 {
		for _, c := range []byte(separators) {
			if strings.IndexByte(t.names[0], c) >= 0 {
				return c
			}
		}
	}
	return 0
}

// read fills table with the next frame; io.EOF if there is none.
func (t *text) read(table []int32, _ int) error {
	s := t.layout.Schema
	for row := range s.Rows {
		if err := t.row(row); err != nil {
			return err
		}
		if err := t.values(table[row*len(s.Fields):]); err != nil {
			return err
		}
	}
	return t.frameEnds()
}

// row makes cells hold the next row, which is so many-th of its frame.
func (t *text) row(row int) error {
	if !t.ahead {
		if err := t.next(); err == io.EOF && row > 0 {
			return t.fail(-1, ErrTruncated, fmt.Sprintf("the records end after %d rows of a frame", row),
				fmt.Sprintf("%d", t.layout.Schema.Rows))
		} else if err != nil {
			return err
		}
	}
	t.ahead = false
	if n := len(t.cells); n != len(t.names) {
		what := fmt.Sprintf("%d columns", len(t.names))
		if n < len(t.names) {
			what += fmt.Sprintf(": column %d (%s) is missing", n+1, t.names[n])
		}
		return t.fail(-1, ErrRecords, fmt.Sprintf("a row of %d columns", n), what)
	}
	if t.frame < 0 {
		return nil
	}
	label := t.cells[t.frame]
	if row == 0 {
		return t.begins(label)
	}
	if !bytes.Equal(label, t.label) {
		return t.fail(t.frame, ErrRecords, fmt.Sprintf("frame %s ends after %d rows", clipped(t.label), row),
			fmt.Sprintf("%d rows in each frame", t.layout.Schema.Rows))
	}
	return nil
}

// begins notes the label of a frame, and refuses one that comes after a later frame.
// Labels that are no numbers have no order.
func (t *text) begins(label []byte) error {
	number, err := decimal(label)
	if err != nil {
		number = math.Inf(-1)
	} else if number < t.number {
		return t.fail(t.frame, ErrRecords, fmt.Sprintf("frame %s comes after frame %s", clipped(label), clipped(t.label)),
			"frames in order, or no frame in the schema, so that rows are counted")
	}
	t.label, t.number = append(t.label[:0], label...), number
	return nil
}

// frameEnds makes sure that the next row is not of the frame that is full.
func (t *text) frameEnds() error {
	if t.frame < 0 {
		return nil
	}
	switch err := t.next(); {
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	}
	t.ahead = true
	if t.frame < len(t.cells) && bytes.Equal(t.cells[t.frame], t.label) {
		return t.fail(t.frame, ErrRecords, fmt.Sprintf("frame %s has more rows", clipped(t.label)),
			fmt.Sprintf("%d rows in each frame", t.layout.Schema.Rows))
	}
	return nil
}

func clipped(label []byte) string { return quoted(string(label)) }

// values reads the fields of the present row.
func (t *text) values(row []int32) error {
	for i := range t.layout.Schema.Fields {
		at := t.columns[i]
		v, err := parse(t.cells[at], &t.layout.Schema.Fields[i], t.layout.values[i])
		if err != nil {
			var f *fault
			errors.As(err, &f)
			return t.fail(at, f.kind, f.problem, f.expected)
		}
		row[i] = v
	}
	return nil
}
