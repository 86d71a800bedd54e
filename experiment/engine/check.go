package engine

import (
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
)

// AssertionResult is one assertion with what was measured.
type AssertionResult struct {
	Name   string  `json:"name"`
	Bound  string  `json:"bound"`
	Got    float64 `json:"got"`
	Holds  bool    `json:"holds"`
	Absent bool    `json:"absent,omitempty"` // the run has no such figure
}

// check evaluates all assertions against totals.
func check(asserts []config.Assertion, t figures.Totals) []AssertionResult {
	have := figures.Of(t)
	var out []AssertionResult
	for _, a := range asserts {
		got, ok := have[a.Name]
		out = append(out, AssertionResult{Name: a.Name, Bound: a.Text(), Got: got, Holds: ok && a.Holds(got), Absent: !ok})
	}
	return out
}
