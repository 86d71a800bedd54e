package config

import (
	"fmt"
	"strconv"
	"strings"

	"wirelab/experiment/figures"
)

// An Assertion is a bound on a measured figure. If a run violates it, the exit code is 1.
type Assertion struct {
	Name  string // a key of the totals, dotted if nested: "failures.corrupt", "playout.late"
	Op    string // <=, <, >=, >, == or !=
	Value float64
}

// Text returns operator and value as in a file: "<= 256".
func (a Assertion) Text() string {
	return a.Op + " " + strconv.FormatFloat(a.Value, 'g', -1, 64)
}

// operators returns the operators, the longest first so that "<=" is not parsed as "<".
func operators() []string { return []string{"<=", ">=", "==", "!=", "<", ">"} }

// parseAssertion parses the bound on figure name: text with an operator and a number or a percentage, or a TOML
// number, which stands for "==".
func parseAssertion(name string, value any) (Assertion, error) {
	text := fmt.Sprint(value)
	fail := func() (Assertion, error) {
		return Assertion{}, &Error{Problem: quoteValue(value) + " is not a bound",
			Expected: `an operator and a number such as "<= 256", "== 0" or "<= 1%"`}
	}
	known := figures.Names()
	if !known[name] {
		return Assertion{}, unknownFigureError(name, sortedKeys(known))
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
		number := strings.TrimSpace(rest)
		if percent, ok := strings.CutSuffix(number, "%"); ok {
			if _, _, factor := figures.InWords(name); factor == 1 {
				return Assertion{}, &Error{Problem: quoteValue(value) + " is a percentage, but " + name + " is not a share",
					Expected: `an operator and a number such as "<= 256"`}
			}
			number = strings.TrimSpace(percent) + "e-2" // without the rounding error of a division by 100
		}
		f, err := strconv.ParseFloat(number, 64)
		if err != nil || f != f { // f != f means that f is NaN
			return fail()
		}
		return Assertion{Name: name, Op: op, Value: f}, nil
	}
	return fail()
}

// unknownFigureError returns the error for an unknown figure. If no full name is similar, it suggests a
// figure whose last part is similar, because the parts before it may be missing or wrong.
func unknownFigureError(name string, known []string) *Error {
	e := Unknown("", "figure", name, known)
	last := func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
	lastParts, fullNames := []string{}, map[string]string{}
	for _, k := range known {
		other, taken := fullNames[last(k)]
		if !taken {
			lastParts = append(lastParts, last(k))
		}
		if !taken || strings.Count(k, ".") < strings.Count(other, ".") { // crowd.p5.payload_kbps has more parts than payload_kbps
			fullNames[last(k)] = k
		}
	}
	if near := Near(last(name), lastParts); near != "" && e.Near == "" {
		e.Near, e.Expected = fullNames[near], ""
	}
	return e
}

// Holds reports whether the measured value got meets the assertion.
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
	return got != a.Value // the remaining operator is "!="
}
