package config

import (
	"errors"
	"fmt"
	"strings"

	"wirelab/dataset/suggest"
	"wirelab/encoders"
	"wirelab/lossmodel"
)

// ConfigError says which setting is wrong, where it stands, and what was
// expected there. Commands answer it with exit code 2.
type Error struct {
	File     string // "" when it came from no file
	Line     int    // 0 when unknown
	Key      string // dotted, as in the file
	Problem  string
	Expected string
	Near     string // a known name close to what was written, "" if none
	Cause    error  // what the system said, nil if nothing
}

// Unwrap returns what the system said.
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
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Problem)
	switch {
	case e.Near != "":
		b.WriteString("; did you mean " + e.Near + "?")
	case e.Expected != "":
		b.WriteString("; expected " + e.Expected)
	}
	return b.String()
}

// configError turns any error into a ConfigError about key. An error that names
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
	out := &Error{Key: key, Problem: err.Error()}
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
			if len(known) <= maxListed {
				out.Expected = "one of " + strings.Join(known, ", ")
			}
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

// within puts an error about key `inner` of a part under the part's own key.
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

// unknown returns the error for a name that is not among known.
func Unknown(key, what, name string, known []string) *Error {
	e := &Error{Key: key, Problem: "unknown " + what + " " + quoted(name), Near: Near(name, known)}
	if len(known) <= maxListed {
		e.Expected = "one of " + strings.Join(known, ", ")
	}
	return e
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// Near returns the known name that was most likely meant by name, "" if none is near.
func Near(name string, known []string) string { return suggest.Closest(name, known) }
