package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"wirelab/encoders/table"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// Report contains the results that `tui run` prints and saves: one, or one for each run of a sweep.
type Report struct {
	Runs        []*engine.Result // runs with a result, in the order of the grid
	Sweep       bool             // the report is one of a sweep, even if it has a single run
	Interrupted bool             // the user ended the run or the sweep
	Planned     int              // number of planned runs; 0 if unknown
	Reason      engine.Ending    // why the run or the sweep ended
	Error       string           // the error, if Reason is engine.BadData, BadMachine or BadNetwork
	File        string           // path or preset of the configuration, for the names in JUnit; "" if unknown
}

// sweepDoc is the JSON of a sweep, or of a run that did not begin.
type sweepDoc struct {
	Runs        []*engine.Result `json:"runs"`
	Planned     int              `json:"planned"`
	Reason      engine.Ending    `json:"reason"`
	Interrupted bool             `json:"interrupted"`
	Error       string           `json:"error,omitempty"`
	Version     int              `json:"version,omitempty"` // engine.ReportVersion, when a single run is read
}

// MarshalJSON implements json.Marshaler: it returns the JSON of the only result, or {"runs": [...]} for
// a sweep.
func (r *Report) MarshalJSON() ([]byte, error) {
	if r.Sweep || len(r.Runs) == 0 {
		return json.Marshal(sweepDoc{append([]*engine.Result{}, r.Runs...), r.Planned, r.Reason, r.Interrupted, r.Error, 0})
	}
	return json.Marshal(r.Runs[0])
}

// SetReason sets r.Reason and r.Error. err is the error that ended the run or the sweep; nil if there
// was none.
func (r *Report) SetReason(err error) {
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

// SetReason sets x.Reason and x.Error. err is the error that ended the run; nil if there was none.
func SetReason(x *engine.Result, err error) {
	r := Report{Runs: []*engine.Result{x}, Interrupted: x.Interrupted}
	r.SetReason(err)
	x.Reason, x.Error = r.Reason, r.Error
}

// SettingOf returns the value of a setting in the configuration of a result; empty if it is missing.
// For example, table "encoder" and key "name" give the name of the encoder.
func SettingOf(r *engine.Result, table, key string) string {
	return r.Config.Text(table + "." + key)
}

// CostsPerChange reports whether bits per changed item mean something for the result: whether the encoders of its first
// lane send only what changed. An unknown encoder, such as a plugin, counts as one that does.
func CostsPerChange(r *engine.Result) bool {
	names := []string{SettingOf(r, "encoder", "name")}
	for i := range r.Stretches {
		names = append(names, r.Stretches[i].Encoder)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		name, _, _ = strings.Cut(name, " ") // parameters follow
		codec, err := table.ByName(name)
		return err != nil || !codec.Standalone
	})
}

// RoundingRows returns a row for each field of the data that rounds, with the columns dataset.PrecisionTitles.
func RoundingRows(r *engine.Result) (rows [][]string) {
	for i := range r.Precision {
		if p := &r.Precision[i]; p.Rounds() {
			rows = append(rows, p.Cells())
		}
	}
	return rows
}

// HasPlayout reports whether totals have figures of the receiver's display: always for cubes, and for other data if
// anything was displayed.
func HasPlayout(t *figures.Totals) bool {
	_, known := t.Playout.StarvedRatio.Value()
	return known || t.BitsPerCube != nil
}

// Lanes iterates over the lanes of a result, with the name of the lane and the totals: first the
// active encoder, then the shadows. After swaps, the first name contains all encoders. The name of a shadow
// that left contains the time.
func Lanes(r *engine.Result) iter.Seq2[string, *figures.Totals] {
	return func(yield func(string, *figures.Totals) bool) {
		if !yield(r.Encoders(), &r.Totals) {
			return
		}
		for i := range r.Shadows {
			name := r.Shadows[i].Label
			if left := r.Shadows[i].ToS; left > 0 {
				name += fmt.Sprintf(" (left at %.1f s)", left)
			}
			if !yield(name, &r.Shadows[i].Totals) {
				return
			}
		}
	}
}

// Failed returns the Failures of all runs.
func (r *Report) Failed() (all []string) {
	for _, run := range r.Runs {
		all = append(all, Failures(run)...)
	}
	return all
}

// Failures returns a sentence for each assertion that does not hold, and for wrong frames, frames or packets that the
// codec rejected, and refused changes: such a run has failed even without assertions.
func Failures(run *engine.Result) (list []string) {
	where := SetText(run.Set, " = ", ": ") // names the run in a sweep
	if where != "" {
		where += ": "
	}
	add := func(format string, values ...any) { list = append(list, where+fmt.Sprintf(format, values...)) }
	for _, a := range run.Assertions {
		switch {
		case a.Absent:
			add("assertion %s %s: the run has no data for this figure", a.Name, a.Bound)
		case !a.Holds:
			add("assertion %s %s does not hold: measured %g", a.Name, a.Bound, a.Got)
		}
	}
	t := &run.Totals
	if t.Wrong > 0 {
		add("%d packets decoded to a frame that differs from the sender's", t.Wrong)
	}
	if t.EncodeFailed > 0 {
		add("the encoder rejected %d frames: %s", t.EncodeFailed, run.CodecError)
	}
	if t.DecodeRefused > 0 {
		add("the decoder rejected %d undamaged packets: %s", t.DecodeRefused, run.CodecError)
	}
	for _, x := range run.Refused {
		add("the change at %v (%s) was refused: %s", x.T, x.Change.Label(), x.Why)
	}
	return list
}
