package experiment

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
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
		return Assertion{}, &ConfigError{Problem: show(value) + " is no bound", Expected: `an operator and a number such as "<= 256" or "== 0"`}
	}
	known := figures(Totals{LostBy: causeCounts(nil), BitsPerCube: new(float64), BitsPerChangedCube: new(float64),
		Transfer: &Transfer{TimeS: new(float64)},
		Playout:  Playout{PositionErrorMM: &Quantiles{}, OrientationErrorDeg: &Quantiles{}}})
	if _, ok := known[name]; !ok {
		return Assertion{}, unknown("", "figure", name, sortedKeys(known))
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

// holds evaluates the assertion.
func (a Assertion) holds(got float64) bool {
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

// figures flattens totals to the dotted keys of their JSON.
func figures(t Totals) map[string]float64 {
	data, err := json.Marshal(t)
	if err != nil {
		panic("experiment: totals do not marshal: " + err.Error())
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		panic("experiment: totals do not unmarshal: " + err.Error())
	}
	flat := map[string]any{}
	flatten("", tree, flat)
	out := map[string]float64{}
	for k, v := range flat {
		if f, ok := v.(float64); ok {
			out[k] = f
			leaf := k[strings.LastIndex(k, ".")+1:]
			if _, taken := flat[leaf]; !taken && strings.HasPrefix(k, "failures.") {
				out[leaf] = f // "no_baseline" for "failures.no_baseline"
			}
		}
	}
	return out
}

// AssertionResult is one assertion with what was measured.
type AssertionResult struct {
	Name   string  `json:"name"`
	Bound  string  `json:"bound"`
	Got    float64 `json:"got"`
	Holds  bool    `json:"holds"`
	Absent bool    `json:"absent,omitempty"` // the run has no such figure
}

// check evaluates all assertions against totals.
func check(asserts []Assertion, t Totals) []AssertionResult {
	have := figures(t)
	var out []AssertionResult
	for _, a := range asserts {
		got, ok := have[a.Name]
		out = append(out, AssertionResult{Name: a.Name, Bound: a.Text(), Got: got, Holds: ok && a.holds(got), Absent: !ok})
	}
	return out
}
