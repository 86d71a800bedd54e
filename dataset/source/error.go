package source

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Error reports what is wrong in a file, where, and what was expected there.
type Error struct {
	File     string
	Line     int    // 0 if unknown
	Place    string // "field[2].range", "column 4 (x)", "chunk 3 at byte 100"; "" for the whole file
	Problem  string
	Expected string // "" if there is nothing to add
	Near     string // a known name close to what was written; "" if there is none
	Kind     error  // what it wraps
}

// Error returns one sentence that can be shown to users: file:line: place: problem; expected that.
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
	return printable(text)
}

// printable escapes what a terminal would act upon: names come from files.
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

// Notes collects what users should know of a source: what was guessed, or left out. Embedded, it
// implements Remarked.
type Notes struct{ list []string }

// Remark adds a remark.
func (n *Notes) Remark(format string, args ...any) {
	n.list = append(n.list, fmt.Sprintf(format, args...))
}

// Remarks returns the remarks.
func (n *Notes) Remarks() []string { return n.list }
