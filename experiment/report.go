package experiment

import (
	"encoding/json"
	"fmt"
	"time"
)

// Result is one run as the JSON of `run` holds it. Everything but Timing is
// reproducible to the bit.
type Result struct {
	Version       int               `json:"version"`       // of the format; 0 is 1
	Set           map[string]string `json:"set,omitempty"` // this run's place in a sweep
	Config        map[string]any    `json:"config"`
	Seed          uint64            `json:"seed"`
	DurationS     float64           `json:"duration_s"`
	DurationNS    time.Duration     `json:"duration_ns"` // the same, exactly
	Frames        uint64            `json:"frames"`
	Item          string            `json:"item"`
	ItemsPerFrame int               `json:"items_per_frame"`
	Totals        Totals            `json:"totals"`
	Timing        Timing            `json:"timing"`
	Budget        []BudgetShare     `json:"budget"`
	Shadows       []ShadowResult    `json:"shadows"`
	Changes       []StampedChange   `json:"changes"`
	Assertions    []AssertionResult `json:"assertions,omitempty"`
	Interrupted   bool              `json:"interrupted,omitempty"`
	Partial       bool              `json:"partial,omitempty"`     // written while the run goes on
	Refused       []Refusal         `json:"refused,omitempty"`     // scripted changes that did not fit
	Warnings      []string          `json:"warnings,omitempty"`    // what the links do that their keys do not say
	CodecError    string            `json:"codec_error,omitempty"` // the codec's newest complaint
	Digest        string            `json:"digest"`
}

// ShadowResult is what a further encoder made of the same frames and fates.
type ShadowResult struct {
	Encoder string        `json:"encoder"`
	FromS   float64       `json:"from_s,omitempty"` // when it joined; what is counted began then
	Totals  Totals        `json:"totals"`
	Timing  Timing        `json:"timing"`
	Budget  []BudgetShare `json:"budget"`
	Digest  string        `json:"digest"`
}

// result sums up the session as it stands: as if it had been set to end right
// after the present instant.
func (s *Session) result() *Result {
	until := s.now
	if !s.ended {
		until++ // the end is exclusive
	}
	start := s.start.Clone()
	start.At, start.Sweep = nil, nil // what took effect of the script is among the changes
	first := s.lanes[0].result(until)
	r := &Result{
		Version: ReportVersion,
		Config:  start.Values(), Seed: start.Seed, DurationS: until.Seconds(), DurationNS: until,
		Frames: s.frames(), Item: s.schema.Item, ItemsPerFrame: s.itemsPerFrame(),
		Totals: first.totals, Timing: first.timing, Budget: first.budget, Digest: first.digest,
		Shadows: []ShadowResult{}, Changes: append([]StampedChange{}, s.log...),
		Assertions: check(s.start.Assert, first.totals), Refused: s.refused, Warnings: s.config.Warnings(),
	}
	if err := s.lanes[0].lastErr; err != nil {
		r.CodecError = err.Error()
	}
	for _, l := range s.lanes[1:] {
		x := l.result(until)
		r.Shadows = append(r.Shadows, ShadowResult{Encoder: x.encoder, FromS: x.began.Seconds(), Totals: x.totals, Timing: x.timing, Budget: x.budget, Digest: x.digest})
	}
	return r
}

// Report is what `run` prints and saves: one result, or one for each point of a
// sweep.
type Report struct {
	Runs        []*Result
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
		for _, k := range sortedKeys(run.Set) {
			where += k + " = " + run.Set[k] + ": "
		}
		for _, a := range run.Assertions {
			switch {
			case a.Absent:
				out = append(out, fmt.Sprintf("%sassertion %s %s: the run has no such figure", where, a.Name, a.Bound))
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

// frames is how many frames were due to be sent.
func (s *Session) frames() uint64 {
	if s.delivers {
		return s.rounds
	}
	return s.sent - s.skipped
}

// itemsPerFrame is how many items a frame usually holds.
func (s *Session) itemsPerFrame() int {
	switch {
	case s.delivers:
		return len(s.cur.Body)
	case s.schema.Rows == 0:
		return s.config.Data.Message
	}
	return s.schema.Rows
}
