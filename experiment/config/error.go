package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"wirelab/encoders"
	"wirelab/internal/escape"
	"wirelab/internal/suggest"
	"wirelab/lossmodel"
)

// An Error describes a wrong setting, its position and what was expected. Commands exit with
// code 2 after it.
type Error struct {
	File     string // "" if the setting is not from a file
	Line     int    // 0 if unknown
	Key      string // dotted, as in the file
	Problem  string
	Expected string // may be ""
	Near     string // a known name similar to what was written, "" if none
	List     string // the command that lists all names; "" if there is none, or Expected contains them
	Cause    error  // the underlying error, nil if none
}

// refuse returns the error for a wrong setting. key is "" if the caller adds it.
func refuse(key, problem, expected string) error {
	return &Error{Key: key, Problem: problem, Expected: expected}
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Cause }

// Error returns one line: file:line: key: problem; expected ...; did you mean ...? COMMAND lists all
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
		b.WriteString(truncate(e.Key) + ": ")
	}
	return escape.Line(b.String() + e.Problem + e.Hint())
}

// Hint returns the end of the error: what was expected, a similar name, and where all names are listed. It is "" if none is
// known.
func (e *Error) Hint() (hint string) {
	if e.Expected != "" {
		hint = "; expected " + e.Expected
	}
	if e.Near != "" {
		hint += "; did you mean " + e.Near + "?"
	}
	switch {
	case e.List != "" && e.Near != "":
		hint += " " + e.List + " lists all"
	case e.List != "":
		hint += "; " + e.List + " lists all"
	}
	return hint
}

// maxQuoted is the maximum number of bytes of a value in an error.
const maxQuoted = 80

// truncate returns text, cut to maxQuoted bytes and "..." if it is longer.
func truncate(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuoted], "") + "..."
}

// ErrorAt converts err into an *Error about key; nil remains nil. An *Error that has a key keeps it. The
// problem and the expectation are taken from errors about parameters, unknown names and keys of links.
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
	if pathErr, ok := err.(*fs.PathError); ok {
		out.Problem = pathErr.Path + ": " + pathErr.Err.Error() // without the system call
	}
	var paramErr *encoders.ParamError
	if errors.As(err, &paramErr) && paramErr.Name != "" && paramErr.Expected != "" {
		out.Problem, out.Expected = "got "+paramErr.Got, paramErr.Expected
	}
	// Errors of other packages about a name that is not in a list of known names.
	var unknownErr interface {
		Unknown() (name string, known []string)
	}
	if errors.As(err, &unknownErr) {
		if name, known := unknownErr.Unknown(); len(known) > 0 {
			out.Problem = "unknown name " + quote(name)
			out.expectOneOf(key, Near(name, known), known)
		}
	}
	var linkErr *lossmodel.KeyError
	if errors.As(err, &linkErr) {
		linkProblem(out, linkErr)
	}
	return out
}

// linkProblem sets Problem and Expected of out from an error about a key of a link.
func linkProblem(out *Error, ke *lossmodel.KeyError) {
	switch {
	case ke.Value != "": // a wrong value
		out.Problem, out.Expected = "got "+ke.Value, ke.Expected
		const discipline = "queue_discipline"
		isDiscipline := new(lossmodel.Spec).Set(discipline, strings.Trim(ke.Value, `"`)) == nil
		if ke.Key == "queue" && isDiscipline {
			out.Near = discipline
		}
	case ke.Expected != "": // Key is an unknown name, and Expected the kind of name
		out.Problem, out.List = "unknown "+ke.Expected+" "+quote(ke.Key), listCommands[ke.Expected]
	default:
		out.Problem = "unknown key " + quote(ke.Key)
	}
}

// withKey converts err into an *Error about key, which replaces the key of err.
func withKey(key string, err error) error {
	if err == nil {
		return nil
	}
	out := ErrorAt("", err).(*Error)
	out.Key = key
	return out
}

// Within converts err into an *Error whose key is that of err, prefixed with key; nil remains nil.
func Within(key string, err error) error {
	var ce *Error
	if err == nil || !errors.As(err, &ce) {
		return ErrorAt(key, err)
	}
	out := *ce
	out.Key = strings.TrimSuffix(key+"."+ce.Key, ".") // ce.Key may be ""
	return &out
}

// maxListed is the maximum number of names that an error lists.
const maxListed = 8

// listCommands are the commands that list more than maxListed names, by the kind of name or by its key.
var listCommands = map[string]string{"encoder": "tui encoders", "link profile": "tui links", "preset": "tui presets", "data.source": "tui datasets"}

// Unknown returns the error for a name that is not in known. what is the kind of name, such as "key".
func Unknown(key, what, name string, known []string) *Error {
	e := &Error{Key: key, Problem: "unknown " + what + " " + quote(name)}
	e.expectOneOf(what, Near(name, known), known)
	return e
}

// expectOneOf sets what is expected instead of an unknown name: the known names or, if they are many and one is similar,
// only that one. what is the kind of name, or its key.
func (e *Error) expectOneOf(what, near string, known []string) {
	isLong := len(known) > maxListed
	e.Near = near
	if near == "" || !isLong {
		e.Expected = OneOf(known)
	}
	if isLong {
		e.List = listCommands[what]
	}
}

// OneOf returns the expectation "one of ..." with all names, or a few if there are many.
func OneOf(known []string) string {
	if len(known) > maxListed {
		return fmt.Sprintf("one of %d names: %s, ...", len(known), strings.Join(known[:maxListed-2], ", "))
	}
	return "one of " + strings.Join(known, ", ")
}

// quote returns s in double quotes, truncated if it is long.
func quote(s string) string { return fmt.Sprintf("%q", truncate(s)) }

// Near returns the known name that is most similar to name, "" if none is similar.
//
// If none is similar, it returns one whose last part after a dot is similar, with the fewest parts,
// because the parts before may be missing or wrong.
func Near(name string, known []string) string {
	near := suggest.Closest(name, known)
	if near != "" {
		return near
	}
	var lastParts []string
	for _, k := range known {
		lastParts = append(lastParts, k[strings.LastIndexByte(k, '.')+1:])
	}
	last := suggest.Closest(name[strings.LastIndexByte(name, '.')+1:], lastParts)
	for i, k := range known {
		isShorter := near == "" || strings.Count(k, ".") < strings.Count(near, ".") // crowd.p5.payload_kbps has more parts than payload_kbps
		if last != "" && lastParts[i] == last && isShorter {
			near = k
		}
	}
	return near
}
