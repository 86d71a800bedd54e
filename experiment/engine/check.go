package engine

import (
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
)

// AssertionResult is one assertion with what was measured.
type AssertionResult struct {
	Name   string         `json:"name"`
	Bound  string         `json:"bound"`
	Got    figures.Figure `json:"got"` // none: the run has no data for it
	Holds  bool           `json:"holds"`
	Absent bool           `json:"absent,omitempty"` // the run has no data for it
}

// check evaluates all assertions against totals.
func check(asserts []config.Assertion, t figures.Totals) []AssertionResult {
	have := figures.Of(t)
	var out []AssertionResult
	for _, a := range asserts {
		r := AssertionResult{Name: a.Name, Bound: a.Text()}
		if got, ok := have[a.Name]; ok {
			r.Got, r.Holds = figures.Known(got), a.Holds(got)
		} else {
			r.Absent = true
		}
		out = append(out, r)
	}
	return out
}
