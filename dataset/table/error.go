package table

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// What an Error wraps. A value outside its range wraps frame.ErrRange.
var (
	// ErrSchema: the schema says something that makes no sense.
	ErrSchema = errors.New("bad schema")
	// ErrRecords: the records are not what the schema says.
	ErrRecords = errors.New("records do not fit the schema")
	// ErrTruncated: the records break off.
	ErrTruncated = errors.New("records truncated")
	// errClosed: the source was closed before.
	errClosed = errors.New("already closed")
)

// Error says what is wrong in a schema or in records, where, and what was expected
// there.
type Error struct {
	File     string
	Line     int    // 0 if it is not about one
	Place    string // "field[2].range", "column 4 (x)", "frame 12, player 3, field x"
	Problem  string
	Expected string
	Near     string // a known name close to what was written, "" if none
	Kind     error  // of the errors above
}

// Error puts it in one sentence that can be shown as it is: file:line: place: problem;
// expected that.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Place != "" {
		b.WriteString(": " + e.Place)
	}
	b.WriteString(": " + e.Problem)
	switch {
	case e.Near != "":
		b.WriteString("; did you mean " + e.Near + "?")
	case e.Expected != "":
		b.WriteString("; expected " + e.Expected)
	}
	return printable(b.String())
}

// printable spells out what a terminal would act upon: names come from files.
func printable(s string) string {
	var b strings.Builder
	for _, c := range s {
		if unicode.IsPrint(c) {
			b.WriteRune(c)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		}
	}
	return b.String()
}

// Unwrap returns the kind of error.
func (e *Error) Unwrap() error { return e.Kind }
