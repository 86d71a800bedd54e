package config

import (
	"fmt"
	"strconv"
	"strings"

	"wirelab/experiment/figures"
)

// Assertion is a bound on a measured figure; a run that breaks one exits with 1.
type Assertion struct {
	Name  string // a key of the totals, dotted where nested: "failures.corrupt", "playout.late"
	Op    string // <= < >= > == !=
	Value float64
}

// Text returns the assertion's right side as it stands in a file.
func (a Assertion) Text() string {
	return a.Op + " " + strconv.FormatFloat(a.Value, 'g', -1, 64)
}

// operators, longest first so that "<=" is not read as "<".
func operators() []string { return []string{"<=", ">=", "==", "!=", "<", ">"} }

func parseAssertion(name string, value any) (Assertion, error) {
	text := fmt.Sprint(value)
	fail := func() (Assertion, error) {
		return Assertion{}, &Error{Problem: show(value) + " is no bound", Expected: `an operator and a number such as "<= 256" or "== 0"`}
	}
	known := figures.Names()
	if !known[name] {
		return Assertion{}, unknownFigure(name, sortedKeys(known))
	}
	switch n := value.(type) {
	case int64:
		return Assertion{Name: name, Op: "==", Value: float64(n)}, nil
	case float64:
		return Assertion{Name: name, Op: "==", Value: n}, nil
	}
	for _, op := range operators() {
		rest, found := strings.CutPrefix(strings.TrimSpace(text), op)
		if !found {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
		if err != nil || f != f {
			return fail()
		}
		return Assertion{Name: name, Op: op, Value: f}, nil
	}
	return fail()
}

// unknownFigure is the error about a figure that there is not. Whoever left out, or
// mistook, what comes before its last dot is told of the one that ends like that.
func unknownFigure(name string, known []string) *Error {
	e := Unknown("", "figure", name, known)
	last := func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
	ends, full := []string{}, map[string]string{}
	for _, k := range known {
		if full[last(k)] == "" {
			ends = append(ends, last(k))
			full[last(k)] = k
		}
	}
	if near := Near(last(name), ends); near != "" && e.Near == "" {
		e.Near, e.Expected = full[near], ""
	}
	return e
}

// Holds evaluates the assertion.
func (a Assertion) Holds(got float64) bool {
	switch a.Op {
	case "<=":
		return got <= a.Value
	case ">=":
		return got >= a.Value
	case "<":
		return got < a.Value
	case ">":
		return got > a.Value
	case "==":
		return got == a.Value
	}
	return got != a.Value
}
