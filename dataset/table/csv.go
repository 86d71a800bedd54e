package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"wirelab/dataset/source"
	"wirelab/internal/suggest"
)

// maxLine is the maximum length of a line of CSV in bytes. It bounds the memory for reading.
const maxLine = 1 << 16

// byteOrderMark is what some editors write at the start of a text in UTF-8.
const byteOrderMark = "\ufeff"

// csvReader reads rows of CSV as in RFC 4180. It removes blanks around cells, skips empty lines, and skips comments before
// the first row. encoding/csv would allocate for each row.
type csvReader struct {
	path         string
	comma        byte // separator of cells
	header       bool // the first line has the names of the columns
	decimalComma bool // numbers such as 12,5 are read as 12.5
	where        condition
	in           *bufio.Reader
	line         int          // number of the first line in cells, from 1
	lines        int          // number of lines read
	bytes        int64        // number of bytes read
	joined       []byte       // the lines of a row with line breaks in quotes
	titles       []byte       // a line with the names of the columns that was read too early; nil if none
	cells        [][]byte     // cells of the current row; valid until the next row is read
	names        []string     // names of the columns, for errors; nil if not known yet
	selector     int          // the column of where
	converted    map[int]bool // columns in which a number had a decimal comma; nil if nobody asks
}

// start implements rowReader. In a file without names the columns are those of columns, in that order.
func (c *csvReader) start(in io.Reader, columns []string) (at []int, err error) {
	if c.in == nil {
		c.in = bufio.NewReaderSize(in, maxLine)
	}
	c.in.Reset(in)
	c.lines, c.bytes, c.names, c.titles = 0, 0, nil, nil
	if err := c.skipComments(columns); err != nil {
		return nil, err
	}
	if c.header {
		if err := c.readRow(); err != nil {
			return nil, err
		}
		for _, cell := range c.cells {
			c.names = append(c.names, string(cell))
		}
	} else {
		c.names = columns
	}
	if c.where.column != "" {
		if c.selector, err = c.findColumn(c.where.column, columns); err != nil {
			return nil, err
		}
	}
	for _, name := range columns {
		i, err := c.findColumn(name, columns)
		if err != nil {
			return nil, err
		}
		at = append(at, i)
	}
	return at, nil
}

// findColumn returns the index of the column called name. The error for a missing column suggests
// what is wrong with the file or the schema. columns are all names to find.
func (c *csvReader) findColumn(name string, columns []string) (int, error) {
	i := slices.Index(c.names, name)
	switch {
	case i >= 0 && slices.Contains(c.names[i+1:], name):
		return 0, c.fail(i, ErrRecords, "two columns have this name", "one column called "+quoted(name))
	case i >= 0:
		return i, nil
	case c.lacksHeader(columns):
		return 0, c.fail(-1, ErrRecords, "the first line has values, not the names of columns",
			`names in the first line, or header = false in the schema`)
	}
	if comma := c.guessSeparator(); comma != 0 {
		return 0, c.fail(-1, ErrRecords, fmt.Sprintf("a single cell with %q in it, no columns separated by %q", comma, c.comma),
			fmt.Sprintf("separator = %q in the schema", string(comma)))
	}
	expected := `this name in the first line, or column = "..." in the schema`
	if close := suggest.Closest(name, c.names); close != "" {
		expected = fmt.Sprintf("this name in the first line, or column = %q in the schema", close)
	}
	return 0, c.fail(-1, ErrRecords, "no column is called "+quoted(name), expected)
}

// lacksHeader reports whether the first line seems to have values instead of names: at least one cell
// is a number, and no cell is one of the expected names.
func (c *csvReader) lacksHeader(expected []string) bool {
	return slices.ContainsFunc(c.cells, func(cell []byte) bool { _, err := parseDecimal(cell); return err == nil }) &&
		!slices.ContainsFunc(expected, func(name string) bool { return slices.Contains(c.names, name) })
}

// guessSeparator returns the separator that the file seems to use if, with the separator of the schema,
// its first line is a single cell. It returns 0 if the line contains no separator.
func (c *csvReader) guessSeparator() byte {
	if len(c.names) == 1 {
		for _, b := range []byte(separators) {
			if strings.IndexByte(c.names[0], b) >= 0 {
				return b
			}
		}
	}
	return 0
}

func (c *csvReader) next() ([][]byte, error) {
	if err := c.readRow(); err != nil {
		return nil, err
	}
	if n := len(c.cells); n != len(c.names) {
		expected := fmt.Sprintf("%d columns, as in the line with their names", len(c.names))
		if n < len(c.names) {
			expected = fmt.Sprintf("%d columns: column %d (%s) is missing", len(c.names), n+1, c.names[n])
		}
		return nil, c.fail(-1, ErrRecords, fmt.Sprintf("a row of %d columns", n), expected)
	}
	if c.where.column != "" && !c.where.accepts(c.cells[c.selector]) {
		return c.next()
	}
	return c.cells, nil
}

func (c *csvReader) position() (line int, bytes int64) { return c.line, c.bytes }

func (c *csvReader) fail(i int, kind error, problem, expected string) error {
	e := &source.Error{File: c.path, Line: c.line, Problem: problem, Expected: expected, Kind: kind}
	if i >= 0 {
		e.Place = fmt.Sprintf("column %d", i+1)
		if i < len(c.names) {
			e.Place += " (" + c.names[i] + ")"
		}
	}
	return e
}

// skipComments skips lines at the start of the file that begin with # or sep=. A line with # is kept if it has the names of
// the columns: all of columns, or those of the numbers in the line below.
func (c *csvReader) skipComments(columns []string) error {
	for {
		start, _ := c.in.Peek(len(byteOrderMark) + len("sep=")) // readRow reports an error
		start = bytes.TrimPrefix(start, []byte(byteOrderMark))
		isComment := bytes.HasPrefix(start, []byte("#"))
		if !isComment && !bytes.HasPrefix(start, []byte("sep=")) {
			return nil
		}
		line, err := c.readLine()
		if err != nil {
			return err
		}
		line = bytes.Clone(line)
		next, _ := c.in.Peek(1)
		if isComment && c.header && (startsNumber(next) || c.hasAll(line, columns)) {
			c.titles = line
			return nil
		}
	}
}

// startsNumber reports whether the first character of a line is one of those that numbers begin with.
func startsNumber(line []byte) bool {
	return len(line) > 0 && strings.IndexByte("+-.0123456789", line[0]) >= 0
}

// hasAll reports whether columns, at least one, are all among the cells of a line.
func (c *csvReader) hasAll(line []byte, columns []string) bool {
	if len(columns) == 0 || c.split(bytes.Clone(line)) != nil {
		return false
	}
	for _, name := range columns {
		if !slices.ContainsFunc(c.cells, func(cell []byte) bool { return string(cell) == name }) {
			return false
		}
	}
	return true
}

// readRow reads the next row that is not empty into c.cells. It returns io.EOF at the end of the file.
func (c *csvReader) readRow() error {
	for {
		text, err := c.readLine()
		if err != nil {
			return err
		}
		if bytes.Count(text, []byte(`"`))%2 != 0 {
			if text, err = c.join(text); err != nil {
				return err
			}
		}
		if len(bytes.TrimSpace(text)) > 0 {
			return c.split(text)
		}
	}
}

// join returns the line text, which ends within a quoted cell, with the lines up to the end of that cell or of the file.
func (c *csvReader) join(text []byte) ([]byte, error) {
	c.joined = append(c.joined[:0], text...)
	first := c.line
	for quotes := 1; quotes%2 != 0 && len(c.joined) < maxLine; {
		more, err := c.readLine()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		quotes += bytes.Count(more, []byte(`"`))
		c.joined = append(append(c.joined, '\n'), more...)
	}
	c.line = first
	return c.joined, nil
}

// readLine returns the next line without its end. It returns io.EOF at the end of the file.
func (c *csvReader) readLine() ([]byte, error) {
	if titles := c.titles; titles != nil {
		c.titles = nil
		return titles, nil
	}
	text, err := c.in.ReadSlice('\n')
	c.lines++
	c.line = c.lines
	c.bytes += int64(len(text))
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, c.fail(-1, ErrRecords, fmt.Sprintf("a line of more than %d bytes", maxLine), "one row of CSV")
	case err != nil && err != io.EOF:
		return nil, fmt.Errorf("%s: line %d: %w", c.path, c.line, err)
	case err == io.EOF && len(text) == 0:
		return nil, io.EOF
	}
	if c.line == 1 {
		if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
			return nil, c.fail(-1, ErrRecords, "the file is in UTF-16", "text in UTF-8; iconv -f UTF-16 -t UTF-8 FILE converts it")
		}
		text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	}
	text = bytes.TrimRight(text, "\r\n")
	if bytes.IndexByte(text, '\r') >= 0 {
		return nil, c.fail(-1, ErrRecords, "a carriage return in the middle of a line", "lines that end with LF or CRLF")
	}
	return text, nil
}

// split splits a line into c.cells, which refer to text. Quoted cells are unquoted in place.
func (c *csvReader) split(text []byte) error {
	c.cells = c.cells[:0]
	for {
		text = c.skipBlanks(text)
		var cell []byte
		if len(text) > 0 && text[0] == '"' {
			var err error
			if cell, text, err = c.unquote(text); err != nil {
				return err
			}
		} else {
			end := bytes.IndexByte(text, c.comma)
			if end < 0 {
				end = len(text)
			}
			cell = bytes.TrimSpace(text[:end])
			if cell == nil {
				cell = text[:0] // nil would mean that the row has no such cell
			}
			text = text[end:]
			if bytes.IndexByte(cell, '"') >= 0 {
				return c.fail(len(c.cells), ErrRecords, "a quote in the middle of "+quoted(string(cell)),
					`the whole cell in quotes, and "" for a quote`)
			}
		}
		if c.decimalComma && decimalPoint(cell) && c.converted != nil {
			c.converted[len(c.cells)] = true
		}
		c.cells = append(c.cells, cell)
		if len(text) == 0 {
			return nil
		}
		text = text[1:] // the separator
	}
}

// decimalPoint replaces the comma in a number such as -12,5 by a point. It reports whether cell is such a number.
func decimalPoint(cell []byte) bool {
	i := bytes.IndexByte(cell, ',')
	if i < 0 {
		return false
	}
	cell[i] = '.'
	_, err := parseDecimal(cell)
	if err != nil {
		cell[i] = ','
	}
	return err == nil
}

// skipBlanks removes blanks before a cell. A tab that separates cells is not a blank.
func (c *csvReader) skipBlanks(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') && text[0] != c.comma {
		text = text[1:]
	}
	return text
}

// unquote unquotes the cell at the start of text, in place, and returns the rest of the line.
func (c *csvReader) unquote(text []byte) (cell, rest []byte, err error) {
	cell = text[:0]
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			cell = append(cell, text[i])
			continue
		}
		if i+1 < len(text) && text[i+1] == '"' {
			cell = append(cell, '"')
			i++
			continue
		}
		rest = c.skipBlanks(text[i+1:])
		if len(rest) > 0 && rest[0] != c.comma {
			return nil, nil, c.fail(len(c.cells), ErrRecords, "text after the closing quote", "a separator or the end of the line")
		}
		return cell, rest, nil
	}
	return nil, nil, c.fail(len(c.cells), ErrRecords, "no closing quote", `a closing quote; numbers need none`)
}
