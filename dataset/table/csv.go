package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"wirelab/dataset/source"
)

// maxLine bounds a line of CSV, in bytes, and with it what reading takes.
const maxLine = 1 << 16

// byteOrderMark is what some editors write before a text in UTF-8.
const byteOrderMark = "\ufeff"

// lines reads rows of CSV (RFC 4180, but a cell ends with its line): cells between
// separators, quoted or not, spaces around them left out. Empty lines are skipped.
type lines struct {
	path  string
	comma byte
	in    *bufio.Reader
	line  int      // of the row in cells, from 1
	cells [][]byte // valid until the next row is read
	names []string // of the columns, for errors; nil while not known
}

// fail says what is wrong with column i of the present row, of the row if i < 0.
func (c *lines) fail(i int, kind error, problem, expected string) error {
	e := &source.Error{File: c.path, Line: c.line, Problem: problem, Expected: expected, Kind: kind}
	if i >= 0 {
		e.Place = fmt.Sprintf("column %d", i+1)
		if i < len(c.names) {
			e.Place += " (" + c.names[i] + ")"
		}
	}
	return e
}

// next reads a row; io.EOF if there is none.
func (c *lines) next() error {
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
				return c.fail(-1, ErrRecords, "this is UTF-16", "text in UTF-8")
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

// split cuts a line in cells.
func (c *lines) split(text []byte) error {
	c.cells = c.cells[:0]
	for {
		text = c.trim(text)
		var cell []byte
		if len(text) > 0 && text[0] == '"' {
			var err error
			if cell, text, err = c.quoted(text); err != nil {
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
		text = text[1:]
	}
}

// trim leaves out the spaces before a cell.
func (c *lines) trim(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') && text[0] != c.comma {
		text = text[1:]
	}
	return text
}

// quoted reads a quoted cell in place and returns what follows it.
func (c *lines) quoted(text []byte) (cell, rest []byte, err error) {
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
		rest = c.trim(text[i+1:])
		if len(rest) > 0 && rest[0] != c.comma {
			return nil, nil, c.fail(len(c.cells), ErrRecords, "something follows the closing quote", "a separator or the end of the line")
		}
		return cell, rest, nil
	}
	return nil, nil, c.fail(len(c.cells), ErrRecords, "the quote is not closed on its line", `a closing quote; numbers need none`)
}
