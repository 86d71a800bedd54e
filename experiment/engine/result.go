package engine

import (
	"fmt"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
)

// Result is one run as the JSON of `run` holds it. Everything but Timing is
// reproducible to the bit.
type Result struct {
	Version       int                    `json:"version"`       // of the format; 0 is 1
	Set           map[string]string      `json:"set,omitempty"` // this run's place in a sweep
	Config        map[string]any         `json:"config"`
	Seed          uint64                 `json:"seed"`
	DurationS     float64                `json:"duration_s"`
	DurationNS    time.Duration          `json:"duration_ns"` // the same, exactly
	Frames        uint64                 `json:"frames"`
	Item          string                 `json:"item"`
	ItemsPerFrame int                    `json:"items_per_frame"`
	Totals        figures.Totals         `json:"totals"`
	Timing        figures.Timing         `json:"timing"`
	Budget        []figures.BudgetShare  `json:"budget"`
	Shadows       []ShadowResult         `json:"shadows"`
	Changes       []config.StampedChange `json:"changes"`
	Assertions    []AssertionResult      `json:"assertions,omitempty"`
	Interrupted   bool                   `json:"interrupted,omitempty"`
	Partial       bool                   `json:"partial,omitempty"`     // written while the run goes on
	Refused       []Refusal              `json:"refused,omitempty"`     // scripted changes that did not fit
	Warnings      []string               `json:"warnings,omitempty"`    // what the links do that their keys do not say
	CodecError    string                 `json:"codec_error,omitempty"` // the codec's newest complaint
	Digest        string                 `json:"digest"`
	Planned       int                    `json:"planned,omitempty"`   // runs: one
	PlannedS      float64                `json:"planned_s,omitempty"` // how long it was to be; 0: as long as the data
	Reason        Ending                 `json:"reason,omitempty"`    // why it ended
	Error         string                 `json:"error,omitempty"`     // what went wrong, if the reason is data or machine
	Files         []DataFile             `json:"files,omitempty"`     // that the data and the links were read from
}

// Ending is why a run ended, or why a report was written before its end.
type Ending string

// The endings.
const (
	Finished    Ending = "finished"    // it ran to its end
	Unmet       Ending = "assertion"   // it ran to its end, and did not hold
	Interrupted Ending = "interrupted" // by a person or a signal
	BadData     Ending = "data"        // the data could not be read, or not to its end
	BadMachine  Ending = "machine"     // the report could not be written
	Unfinished  Ending = "running"     // it goes on: this is what there was then
	Saved       Ending = "saved"       // a live session, saved by a person while it went on
)

// DataFile is a file that a run read.
type DataFile struct {
	Name   string `json:"name"` // as the configuration has it
	Path   string `json:"path"` // as seen from the folder of the report
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// ShadowResult is what a further encoder made of the same frames and fates.
type ShadowResult struct {
	Encoder string                `json:"encoder"`
	FromS   float64               `json:"from_s,omitempty"` // when it joined; what is counted began then
	Totals  figures.Totals        `json:"totals"`
	Timing  figures.Timing        `json:"timing"`
	Budget  []figures.BudgetShare `json:"budget"`
	Digest  string                `json:"digest"`
}

// Result sums up the session as it stands: as if it had been set to end right
// after the present instant.
func (s *Session) Result() *Result {
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
		Interrupted: s.interrupted, Shadows: []ShadowResult{}, Changes: append([]config.StampedChange{}, s.log...),
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

// ReportVersion is the format of the reports that this version writes. It grows
// when a report can no longer be read as before; what is merely added does not
// count.
const ReportVersion = 1

// Settings returns the configuration of the run as it was at its end, every key
// with its value as text.
func (r *Result) Settings() (map[string]string, error) {
	c, err := config.FromValues("report", r.Config)
	if err != nil {
		return nil, err
	}
	for _, x := range r.Changes {
		if x.Change.OnlyInput() {
			continue
		}
		if err := c.Apply(x.Change); err != nil {
			return nil, fmt.Errorf("the change at %v: %w", x.T, err)
		}
	}
	return c.Settings(), nil
}

// Replayable returns the configuration that repeats the run.
func (r *Result) Replayable() (*config.Config, error) {
	c, err := config.FromValues("report", r.Config)
	if err != nil {
		return nil, err
	}
	c.At, c.Duration = r.Changes, r.DurationNS
	return c, c.Validate()
}

// Digests joins the digest of the first encoder with those of the shadows.
func (r *Result) Digests() string {
	all := r.Digest
	for _, s := range r.Shadows {
		all += " " + s.Digest
	}
	return all
}
