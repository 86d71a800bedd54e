package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
)

// Result is one run as the JSON of `run` has it. Everything except Timing is reproducible to
// the bit.
type Result struct {
	Version       int               `json:"version"`        // of the format; 0 means 1
	DigestVersion int               `json:"digest_version"` // of what the digest covers; 0 means 1
	Set           map[string]string `json:"set,omitempty"`  // the settings of this run in a sweep
	Config        config.Values     `json:"config"`
	extent
	Totals      figures.Totals         `json:"totals"`
	Timing      figures.Timing         `json:"timing"`
	Budget      []figures.BudgetShare  `json:"budget"`
	Shadows     []shadowResult         `json:"shadows"`
	Comparison  *Comparison            `json:"comparison,omitempty"` // of all encoders, where there are shadows
	Changes     []config.StampedChange `json:"changes"`
	Assertions  []AssertionResult      `json:"assertions,omitempty"`
	Interrupted bool                   `json:"interrupted,omitempty"`
	Partial     bool                   `json:"partial,omitempty"`     // written during the run
	Refused     []Refusal              `json:"refused,omitempty"`     // scripted changes that could not be applied
	Warnings    []string               `json:"warnings,omitempty"`    // of links that may surprise, and of data
	CodecError  string                 `json:"codec_error,omitempty"` // newest error of the codec
	Digest      string                 `json:"digest"`
	Label       string                 `json:"label,omitempty"` // the first encoder at the end, named as the shadows are
	completion
	SamplesByLane []LaneSamples `json:"-"`                // of all encoders, where there are shadows
	Files         []DataFile    `json:"files,omitempty"`  // that the data and the links were read from
	Remote        *Remote       `json:"remote,omitempty"` // what came in, if the receiver was elsewhere
}

// extent is how much a run covers.
type extent struct {
	Seed          uint64        `json:"seed"`
	DurationS     float64       `json:"duration_s"`
	DurationNS    time.Duration `json:"duration_ns"` // DurationS, exactly
	Frames        uint64        `json:"frames"`
	Item          string        `json:"item"`
	ItemsPerFrame int           `json:"items_per_frame"`
}

// completion is how a run ended, compared with what was planned.
type completion struct {
	Planned  int     `json:"planned,omitempty"`   // runs: one
	PlannedS float64 `json:"planned_s,omitempty"` // planned duration; 0: as long as the data
	Reason   Ending  `json:"reason,omitempty"`    // why it ended
	Error    string  `json:"error,omitempty"`     // what went wrong, if the reason is data or machine
}

// Remote is what came in over a real network, for a replay, in the format of package remote.
type Remote struct {
	To      string `json:"to"`      // where the receiver was
	Version int    `json:"version"` // of the events
	Events  []byte `json:"events"`  // none: there were too many
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
	BadNetwork  Ending = "network"     // the far end was gone
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

// shadowResult is the result of a shadow: a further encoder on the same frames and fates.
type shadowResult struct {
	Encoder string                `json:"encoder"`
	Label   string                `json:"label,omitempty"`  // Encoder, and the params that distinguish it from the others
	FromS   float64               `json:"from_s,omitempty"` // when it joined, in seconds; its figures count from then
	Totals  figures.Totals        `json:"totals"`
	Timing  figures.Timing        `json:"timing"`
	Budget  []figures.BudgetShare `json:"budget"`
	Digest  string                `json:"digest"`
}

// Result sums up the session so far, as if it ended right after the present instant.
func (s *Session) Result() *Result {
	until := s.now
	if !s.ended {
		until++ // the end is exclusive
	}
	start := s.start.Clone()
	start.At, start.Sweep, start.Search = nil, nil, config.Search{} // the changes that took effect are in the log
	first := s.lanes[0]
	totals := first.totals(until)
	r := &Result{
		Version: ReportVersion, DigestVersion: digestVersion(start), Config: start.Values(),
		extent: extent{Seed: start.Seed, DurationS: until.Seconds(), DurationNS: until,
			Frames: s.frames(), Item: s.schema.Item, ItemsPerFrame: s.itemsPerFrame()},
		Totals: totals, Timing: first.timing(), Budget: first.meter.Shares(s.schema), Digest: first.digest.sum(),
		Interrupted: s.interrupted, Shadows: []shadowResult{}, Changes: append([]config.StampedChange{}, s.log...),
		Assertions: check(s.start.Assert, totals), Refused: s.refused, Warnings: s.config.Warnings(),
	}
	for _, remark := range s.remarks() {
		r.Warnings = append(r.Warnings, "data: "+remark)
	}
	if first.lastErr != nil {
		r.CodecError = first.lastErr.Error()
	}
	differs := s.differences()
	r.Label = joinName(first.codec(), differs[0])
	for i, l := range s.lanes[1:] {
		r.Shadows = append(r.Shadows, shadowResult{Encoder: l.codec(), Label: joinName(l.codec(), differs[1+i]),
			FromS: l.began.Seconds(), Totals: l.totals(until), Timing: l.timing(), Budget: l.meter.Shares(s.schema),
			Digest: l.digest.sum()})
	}
	return r
}

// frames returns how many frames were given to the encoder; for files, how many
// rounds were begun.
func (s *Session) frames() uint64 {
	if s.delivers {
		return s.rounds
	}
	return s.sent - s.skipped
}

// itemsPerFrame returns how many items a frame usually holds.
func (s *Session) itemsPerFrame() int {
	switch {
	case s.delivers:
		return len(s.feed.cur.Body)
	case s.schema.Timed:
		n := int64(s.frames())
		if n == 0 {
			return 0
		}
		return int((s.lanes[0].meter.Items() + n/2) / n)
	case s.schema.Rows == 0:
		return s.config.Data.Message
	}
	return s.schema.Rows
}

// ReportVersion is the version of the report format. It grows only when older
// programs could misread a report, not when keys are added.
const ReportVersion = 1

// currentDigestVersion is the version of what digests cover. It grows when the endpoints answer the same
// datagrams differently, and when a digest covers other parts of a run; replays of older reports
// still get the behaviour of their version. Version 2 doubts sequence numbers that damage may have
// moved. Version 3 covers a frame that equals the source's by its number.
const currentDigestVersion = 3

func digestVersion(c *config.Config) int {
	switch {
	case c.Trusting:
		return 1
	case c.WholeFrames:
		return 2
	}
	return currentDigestVersion
}

// Settings returns the configuration at the end of the run: every key with its value as text.
func (r *Result) Settings() (map[string]string, error) {
	c, err := r.Config.Config("report")
	if err != nil {
		return nil, r.lacksPlugin(err)
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

// lacksPlugin returns the error of an unknown encoder as one that names the plugin of the run, if
// it had one: listing a report loads no plugins.
func (r *Result) lacksPlugin(err error) error {
	var ce *config.Error
	if !errors.As(err, &ce) || !strings.HasPrefix(ce.Problem, "unknown encoder") {
		return err
	}
	path, ok := r.Config.Plugin()
	if !ok {
		return err
	}
	out := *ce
	out.Expected, out.Near = "--plugin "+path, ""
	return &out
}

// Replayable returns the configuration that repeats the run. Its errors name the key, and not the
// file that the report was read from.
func (r *Result) Replayable() (*config.Config, error) {
	if r.DurationNS > config.MaxDuration {
		return nil, &config.Error{Key: "duration_ns", Problem: fmt.Sprintf("%d is longer than a run can be", int64(r.DurationNS)),
			Expected: fmt.Sprintf("at most %d, which is %v h", int64(config.MaxDuration), config.MaxDuration.Hours())}
	}
	if r.DigestVersion > currentDigestVersion {
		return nil, &config.Error{Key: "digest_version", Problem: fmt.Sprintf("%d is of a later version of Wirelab", r.DigestVersion),
			Expected: fmt.Sprintf("at most %d", currentDigestVersion)}
	}
	values := r.Config.WithPluginSizes()
	if err := values.LoadPlugins(); err != nil {
		return nil, config.Within("config", err)
	}
	c, err := values.Config("")
	if err != nil {
		return nil, config.Within("config", err)
	}
	c.At, c.Duration = r.Changes, r.DurationNS
	c.Trusting, c.WholeFrames = r.DigestVersion < 2, r.DigestVersion < 3
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

// Comparison is what encoders that ran side by side sent over the stretch of time that
// they have in common. The totals of a shadow count from when it joined, so the totals of
// two lanes may be of different frames; these figures are of the same.
type Comparison struct {
	FromS float64        `json:"from_s"` // a second after the last of them joined or was swapped
	ToS   float64        `json:"to_s"`
	SeamS float64        `json:"seam_s"` // left out of it, where packets build across a seam of the data
	Lanes []ComparedLane `json:"lanes"`  // the first encoder, then the shadows
}

// ComparedLane is one encoder of a Comparison.
type ComparedLane struct {
	Label          string         `json:"label"`
	PayloadKbps    figures.Figure `json:"payload_kbps"`
	BitsPerChanged figures.Figure `json:"bits_per_changed"`
	// Times is the payload over that of the first encoder; Lo and Hi bound it with 95 %
	// confidence. They are unknown if there are too few data.
	Times   figures.Figure `json:"times"`
	TimesLo figures.Figure `json:"times_lo"`
	TimesHi figures.Figure `json:"times_hi"`
}
