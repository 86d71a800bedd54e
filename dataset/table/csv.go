package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"wirelab/dataset/source"
)

// maxLine is the maximum length of a line of CSV in bytes. It bounds the memory for reading.
const maxLine = 1 << 16

// byteOrderMark is what some editors write at the start of a text in UTF-8.
const byteOrderMark = "\ufeff"

// csvReader reads rows of CSV as in RFC 4180, except that a quoted cell cannot contain line breaks. It
// removes blanks around cells and skips empty lines. encoding/csv would allocate for each row.
type csvReader struct {
	path  string
	comma byte // separator of cells
	in    *bufio.Reader
	line  int      // number of the line in cells, from 1
	cells [][]byte // cells of the current row; valid until the next row is read
	names []string // names of the columns, for errors; nil if not known yet
}

// fail returns an error about column i of the current row, or about the row if i < 0. kind is the error that it
// wraps, such as ErrRecords.
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

// next reads the next row into c.cells. It returns io.EOF at the end of the file.
func (c *csvReader) next() error {
	for {
		text, err := c.in.ReadSlice('\n')
		c.line++
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return c.fail(-1, ErrRecords, fmt.Sprintf("a line of more than %d bytes", maxLine), "one row of CSV")
		case err != nil && err != io.EOF:
			return fmt.Errorf("%s: line %d: %w", c.path, c.line, err)
		case err == io.EOF && len(text) == 0:
			return io.EOF
		}
		if c.line == 1 {
			if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
				return c.fail(-1, ErrRecords, "the file is in UTF-16", "text in UTF-8")
			}
			text = bytes.TrimPrefix(text, []byte(byteOrderMark))
		}
		text = bytes.TrimRight(text, "\r\n")
		if bytes.IndexByte(text, '\r') >= 0 {
			return c.fail(-1, ErrRecords, "a carriage return in the middle of a line", "lines that end with LF or CRLF")
		}
		if len(bytes.TrimSpace(text)) > 0 {
			return c.split(text)
		}
	}
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
			cell, text = bytes.TrimSpace(text[:end]), text[end:]
			if bytes.IndexByte(cell, '"') >= 0 {
				return c.fail(len(c.cells), ErrRecords, "a quote in the middle of "+quoted(string(cell)),
					`the whole cell in quotes, and "" for a quote`)
			}
		}
		c.cells = append(c.cells, cell)
		if len(text) == 0 {
			return nil
		}
		text = text[1:] // the separator
	}
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
	return nil, nil, c.fail(len(c.cells), ErrRecords, "no closing quote on the line", `a closing quote; numbers need none`)
}
