package config

import (
	"fmt"
	"math"
	"slices"
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

// parseAssertion parses the bound on figure name, one of the known ones: text with an operator and a number or a percentage, or
// a TOML number, which stands for "==".
func parseAssertion(name string, value any, known []string) (Assertion, error) {
	if err := checkFigure(name, known); err != nil {
		return Assertion{}, err
	}
	text := strings.TrimSpace(fmt.Sprint(value))
	if _, isNumber := toFloat(value); isNumber {
		text = "== " + text
	}
	bad := invalid("", value, `an operator and a number such as "<= 256", "== 0" or "<= 1%"`)
	i := slices.IndexFunc(operators(), func(op string) bool { return strings.HasPrefix(text, op) })
	if i < 0 {
		return Assertion{}, bad
	}
	op := operators()[i]
	number, isPercentage := strings.CutSuffix(strings.TrimPrefix(text, op), "%")
	number = strings.TrimSpace(number)
	if isPercentage && figures.Find(name).Unit != "%" {
		return Assertion{}, refuse("", quoteValue(value)+" is a percentage, but "+name+" is not a share",
			`an operator and a number such as "<= 256"`)
	}
	if isPercentage {
		number += "e-2" // without the rounding error of a division by 100
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(f) {
		return Assertion{}, bad
	}
	return Assertion{Name: name, Op: op, Value: f}, nil
}

// checkFigure returns an error if name is not a figure that can be bounded or minimised. known are the
// figures.
func checkFigure(name string, known []string) error {
	switch {
	case name == "playout.clock_lag_ms":
		return refuse("", "playout.clock_lag_ms is the lag of the playout clock, which is small even if the displayed state is old",
			"the age of the displayed state: age_ms.p50 or age_ms.p99")
	case !slices.Contains(known, name):
		return Unknown("", "figure", name, known)
	}
	return nil
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
