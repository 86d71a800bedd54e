package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// Report is what `run` prints and saves: one result, or one for each point of a
// sweep.
type Report struct {
	Runs        []*engine.Result // those that there are
	Sweep       bool
	Interrupted bool
	Planned     int           // how many runs there were to be
	Reason      engine.Ending // why it ended
	Error       string        // what went wrong, if the reason is data or machine
}

// sweepDoc is the JSON of a sweep, and of a run that never began.
type sweepDoc struct {
	Runs        []*engine.Result `json:"runs"`
	Planned     int              `json:"planned"`
	Reason      engine.Ending    `json:"reason"`
	Interrupted bool             `json:"interrupted"`
	Error       string           `json:"error,omitempty"`
	Version     int              `json:"version,omitempty"` // of the format, of a single run
}

// MarshalJSON gives the one result, or {"runs": [...]} for a sweep.
func (r *Report) MarshalJSON() ([]byte, error) {
	if r.Sweep || len(r.Runs) == 0 {
		return json.Marshal(sweepDoc{append([]*engine.Result{}, r.Runs...), r.Planned, r.Reason, r.Interrupted, r.Error, 0})
	}
	return json.Marshal(r.Runs[0])
}

// End notes why all of it ended; err is what went wrong, nil if nothing did.
func (r *Report) End(err error) {
	switch {
	case errors.Is(err, ErrWrite):
		r.Reason = engine.BadMachine
	case errors.As(err, new(*engine.NetworkError)):
		r.Reason = engine.BadNetwork
	case err != nil:
		r.Reason = engine.BadData
	case r.Interrupted:
		r.Reason = engine.Interrupted
	case len(r.Failed()) > 0:
		r.Reason = engine.Unmet
	default:
		r.Reason = engine.Finished
	}
	if err != nil {
		r.Error = err.Error()
	}
}

// End notes in the result of one run why it ended.
func End(x *engine.Result, err error) {
	r := Report{Runs: []*engine.Result{x}, Interrupted: x.Interrupted}
	r.End(err)
	x.Reason, x.Error = r.Reason, r.Error
}

// SettingOf returns a setting from the configuration of a result, such as the name of its
// encoder; "" if it is missing.
func SettingOf(r *engine.Result, table, key string) string {
	return r.Config.Text(table + "." + key)
}

// Lanes returns the names and totals of the encoder and of its shadows.
func Lanes(r *engine.Result) iter.Seq2[string, *figures.Totals] {
	return func(yield func(string, *figures.Totals) bool) {
		if !yield(SettingOf(r, "encoder", "name"), &r.Totals) {
			return
		}
		for i := range r.Shadows {
			if !yield(r.Shadows[i].Encoder, &r.Shadows[i].Totals) {
				return
			}
		}
	}
}

// Failed returns a sentence for each assertion that did not hold, and for each
// run in which a decoder went wrong: a lab that cannot be trusted has failed
// whatever was asserted.
func (r *Report) Failed() []string {
	var out []string
	for _, run := range r.Runs {
		where := SetText(run.Set, " = ", ": ")
		if where != "" {
			where += ": "
		}
		for _, a := range run.Assertions {
			switch {
			case a.Absent:
				out = append(out, fmt.Sprintf("%sassertion %s %s: the run has no such figure: there are no data for it", where,
					a.Name, a.Bound))
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
			out = append(out, fmt.Sprintf("%sthe decoder refused %d undamaged packets: %s", where, run.Totals.DecodeRefused,
				run.CodecError))
		}
		for _, x := range run.Refused {
			out = append(out, fmt.Sprintf("%sthe change at %v (%s) did not fit: %s", where, x.T, x.Change.Label(), x.Why))
		}
	}
	return out
}
