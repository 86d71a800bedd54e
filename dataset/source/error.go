package source

import (
	"fmt"
	"strconv"

	"wirelab/internal/escape"
)

// Error is an error in a file, with its place and with what was expected there.
type Error struct {
	File     string
	Line     int    // 0 if unknown
	Place    string // "field[2].range", "column 4 (x)", "chunk 3 at byte 100"; "" for the whole file
	Problem  string // what is wrong, as the predicate of a sentence about Place
	Expected string // "" if unknown
	Near     string // the known name closest to a mistyped one; "" if none
	Kind     error  // the error that Unwrap returns
}

// Error returns one line for users: "file:line: place: problem; expected ...", or with "did you mean"
// if Near is set.
func (e *Error) Error() string {
	text := e.File
	if e.Line > 0 {
		text += ":" + strconv.Itoa(e.Line)
	}
	if e.Place != "" {
		text += ": " + e.Place
	}
	text += ": " + e.Problem
	switch {
	case e.Near != "":
		text += "; did you mean " + e.Near + "?"
	case e.Expected != "":
		text += "; expected " + e.Expected
	}
	return escape.Line(text)
}

// Unwrap returns Kind.
func (e *Error) Unwrap() error { return e.Kind }

// Notes collects remarks for the user of a source, such as what was guessed or left out. A type that
// embeds it implements Remarked.
type Notes struct{ list []string }

// Remark formats a remark and adds it.
func (n *Notes) Remark(format string, args ...any) {
	n.list = append(n.list, fmt.Sprintf(format, args...))
}

func (n *Notes) Remarks() []string { return n.list }
