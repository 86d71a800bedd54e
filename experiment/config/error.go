package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirelab/encoders"
	"wirelab/internal/suggest"
	"wirelab/lossmodel"
)

// Error says which setting is wrong, where it stands, and what was
// expected there. Commands answer it with exit code 2.
type Error struct {
	File     string // "" when it came from no file
	Line     int    // 0 when unknown
	Key      string // dotted, as in the file
	Problem  string
	Expected string
	Near     string // a known name close to what was written, "" if none
	Cause    error  // what the machine said, if it did
}

// Unwrap returns what the machine said.
func (e *Error) Unwrap() error { return e.Cause }

// Error puts it in one sentence: file:line: key: problem (expected ...; did you mean ...?).
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Key != "" {
		b.WriteString(brief(e.Key) + ": ")
	}
	b.WriteString(e.Problem)
	if e.Expected != "" {
		b.WriteString("; expected " + e.Expected)
	}
	if e.Near != "" {
		b.WriteString("; did you mean " + e.Near + "?")
	}
	return Printable(b.String())
}

// Printable replaces what a terminal would not show, or would obey, by its number.
func Printable(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) || r == utf8.RuneError {
			quoted := strconv.QuoteToASCII(string(r))
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hidden(r rune) bool { return r != '\n' && !strconv.IsPrint(r) }

// longestShown is how much of somebody's text an error repeats, in bytes.
const longestShown = 80

// brief cuts a text that is too long to be repeated.
func brief(text string) string {
	if len(text) <= longestShown {
		return text
	}
	return strings.ToValidUTF8(text[:longestShown], "") + "..."
}

// ErrorAt turns any error into an Error about key. An error that names
// a more precise key of its own keeps that.
func ErrorAt(key string, err error) error {
	if err == nil {
		return nil
	}
	var ce *Error
	if errors.As(err, &ce) {
		out := *ce
		if out.Key == "" {
			out.Key = key
		}
		return &out
	}
	out := &Error{Key: key, Problem: err.Error(), Cause: err}
	if pe, ok := err.(*fs.PathError); ok {
		out.Problem = pe.Path + ": " + pe.Err.Error() // without the system call
	}
	var pe *encoders.ParamError
	if errors.As(err, &pe) && pe.Name != "" && pe.Expected != "" {
		out.Problem, out.Expected = "got "+pe.Got, pe.Expected
	}
	var u interface {
		Unknown() (name string, known []string)
	}
	if errors.As(err, &u) {
		if name, known := u.Unknown(); len(known) > 0 {
			out.Problem, out.Near = "unknown name "+quoted(name), Near(name, known)
			out.Expected = oneOf(known, out.Near)
		}
	}
	var ke *lossmodel.KeyError
	if errors.As(err, &ke) {
		linkProblem(out, ke)
	}
	return out
}

// linkProblem words what a link refused: a value with what was expected in its
// place, or a name with what it should have been the name of.
func linkProblem(out *Error, ke *lossmodel.KeyError) {
	switch {
	case ke.Value != "":
		out.Problem, out.Expected = "got "+ke.Value, ke.Expected
	case ke.Expected != "":
		out.Problem = "unknown " + ke.Expected + " " + quoted(ke.Key)
	default:
		out.Problem = "unknown key " + quoted(ke.Key)
	}
}

// underKey returns err as an Error about key, whatever key it names.
func underKey(key string, err error) error {
	if err == nil {
		return nil
	}
	out := ErrorAt("", err).(*Error)
	out.Key = key
	return out
}

// Within puts an error about key `inner` of a part under the part's own key.
func Within(key string, err error) error {
	var ce *Error
	if err == nil || !errors.As(err, &ce) {
		return ErrorAt(key, err)
	}
	out := *ce
	out.Key = strings.TrimSuffix(key+"."+ce.Key, ".")
	return &out
}

// maxListed is how many names an error lists before it leaves them to a command.
const maxListed = 16

// Unknown returns the error for a name that is not among known.
func Unknown(key, what, name string, known []string) *Error {
	e := &Error{Key: key, Problem: "unknown " + what + " " + quoted(name), Near: Near(name, known)}
	e.Expected = oneOf(known, e.Near)
	return e
}

// oneOf lists names, more of them if none is near what was written.
func oneOf(known []string, near string) string {
	if len(known) <= maxListed || near == "" && len(known) <= 3*maxListed {
		return "one of " + strings.Join(known, ", ")
	}
	return ""
}

func quoted(s string) string { return fmt.Sprintf("%q", brief(s)) }

// Near returns the known name that was most likely meant by name, "" if none is near.
func Near(name string, known []string) string { return suggest.Closest(name, known) }
