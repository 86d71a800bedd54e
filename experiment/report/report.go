package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"wirelab/experiment/engine"
)

// Report is what `run` prints and saves: one result, or one for each point of a
// sweep.
type Report struct {
	Runs        []*engine.Result
	Sweep       bool
	Interrupted bool
}

// MarshalJSON gives the one result, or {"runs": [...]} for a sweep.
func (r *Report) MarshalJSON() ([]byte, error) {
	if r.Sweep {
		return json.Marshal(map[string]any{"runs": r.Runs})
	}
	if len(r.Runs) == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(r.Runs[0])
}

// Failed returns a sentence for each assertion that did not hold, and for each
// run in which a decoder went wrong: a lab that cannot be trusted has failed
// whatever was asserted.
func (r *Report) Failed() []string {
	var out []string
	for _, run := range r.Runs {
		where := ""
		for _, k := range slices.Sorted(maps.Keys(run.Set)) {
			where += k + " = " + run.Set[k] + ": "
		}
		for _, a := range run.Assertions {
			switch {
			case a.Absent:
				out = append(out, fmt.Sprintf("%sassertion %s %s: the run has no such figure: there are no data for it", where, a.Name, a.Bound))
			case !a.Holds:
				out = append(out, fmt.Sprintf("%sassertion %s %s does not hold: measured %g", where, a.Name, a.Bound, a.Got))
			}
		}
		if run.Totals.Wrong > 0 {
			out = append(out, fmt.Sprintf("%s%d packets decoded to something else than was sent", where, run.Totals.Wrong))
		}
		if run.Totals.EncodeFailed > 0 {
			out = append(out, fmt.Sprintf("%sthe encoder refused %d frames: %s", where, run.Totals.EncodeFailed, run.CodecError))
		}
		if run.Totals.DecodeRefused > 0 {
			out = append(out, fmt.Sprintf("%sthe decoder refused %d undamaged packets: %s", where, run.Totals.DecodeRefused, run.CodecError))
		}
		for _, x := range run.Refused {
			out = append(out, fmt.Sprintf("%sthe change at %v (%s) did not fit: %s", where, x.T, x.Change.Label(), x.Why))
		}
	}
	return out
}
