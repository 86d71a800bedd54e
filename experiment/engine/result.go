package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
)

// Result is the result of one run, as `tui run --json` and report.json write it. Everything except
// Timing is reproducible bit for bit.
type Result struct {
	versions
	Set    map[string]string `json:"set,omitempty"` // settings of this run in a sweep
	Config config.Values     `json:"config"`
	extent
	Totals      figures.Totals         `json:"totals"`
	Timing      figures.Timing         `json:"timing"`
	Budget      []figures.BudgetShare  `json:"budget"`
	Shadows     []shadowResult         `json:"shadows"`              // the running ones, then those that left, both in the order of joining
	Comparison  *Comparison            `json:"comparison,omitempty"` // of all encoders; nil without shadows
	Traffic     []figures.Flow         `json:"traffic,omitempty"`    // other traffic on the downlink, by flow
	Changes     []config.StampedChange `json:"changes"`
	Assertions  []AssertionResult      `json:"assertions,omitempty"`
	Interrupted bool                   `json:"interrupted,omitempty"`
	Partial     bool                   `json:"partial,omitempty"`     // written while the run continued
	Refused     []refusal              `json:"refused,omitempty"`     // scripted changes that could not be applied
	Warnings    []string               `json:"warnings,omitempty"`    // about unusual link settings and about the data
	CodecError  string                 `json:"codec_error,omitempty"` // newest error of the codec
	Codecs      map[string]int         `json:"codecs,omitempty"`      // encoders.Codec.Version of each built-in codec that sent packets
	Digest      string                 `json:"digest"`
	Precision   []dataset.Precision    `json:"precision,omitempty"` // rounding errors of the data read so far; nil unless they are a table
	completion
	firstLane
	FileData
	Files  []DataFile `json:"files,omitempty"`  // files that the data and the links were read from
	Remote *Remote    `json:"remote,omitempty"` // the receiver behind a real network; nil if the links were modelled
}

// versions are those with which a report was made.
type versions struct {
	Version       int `json:"version"`        // ReportVersion
	DigestVersion int `json:"digest_version"` // DigestVersion
}

// FileData contains what a report has in files of its own, not in report.json.
type FileData struct {
	SamplesByLane []LaneSamples         `json:"-"` // of all encoders; nil without shadows
	Priorities    []Priority            `json:"-"` // of the rows that should be sent at the end, the most urgent first; nil without a budget
	Clients       []figures.CrowdClient `json:"-"` // of a crowd, in the order of their numbers; nil without a crowd
}

// extent describes how much a run covers.
type extent struct {
	Seed          uint64        `json:"seed"`
	DurationS     float64       `json:"duration_s"`
	DurationNS    time.Duration `json:"duration_ns"` // DurationS, exactly
	Frames        uint64        `json:"frames"`
	Item          string        `json:"item"`
	ItemsPerFrame int           `json:"items_per_frame"`
}

// firstLane describes the lane of the active encoder.
type firstLane struct {
	Lane      string                  `json:"lane,omitempty"`      // its letter: A
	Label     string                  `json:"label,omitempty"`     // Lane.Name at the end
	Stretches []meters.StretchFigures `json:"stretches,omitempty"` // between changes of its encoder and its links; nil without them
}

// completion describes how a run ended, compared with what was planned.
type completion struct {
	Planned  int     `json:"planned,omitempty"`   // number of runs: 1
	PlannedS float64 `json:"planned_s,omitempty"` // planned duration in seconds; 0 means as long as the data
	Reason   Ending  `json:"reason,omitempty"`    // why the run ended
	Error    string  `json:"error,omitempty"`     // the error, if Reason is BadData, BadMachine or BadNetwork
}

// Remote describes the receiver of a run over a real network. Such a run cannot be replayed.
type Remote struct {
	To string `json:"to"` // address of the receiver
}

// Ending is why a run ended, or why a report was written before its end.
type Ending string

// The endings.
const (
	Finished    Ending = "finished"    // the run is complete
	Unmet       Ending = "assertion"   // the run is complete, and an assertion was not met
	Interrupted Ending = "interrupted" // by the user or a signal
	BadData     Ending = "data"        // the data could not be read, or not to their end
	BadMachine  Ending = "machine"     // the report could not be written
	BadNetwork  Ending = "network"     // the connection to the remote receiver failed
	Unfinished  Ending = "running"     // the run continued after this report was written
	Saved       Ending = "saved"       // the user saved a live session while it continued
)

// DataFile is a file that a run read.
type DataFile struct {
	Name   string `json:"name"` // as written in the configuration
	Path   string `json:"path"` // relative to the folder of the report
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// shadowResult is the result of a shadow, another encoder on the same frames and losses.
type shadowResult struct {
	Lane    string                `json:"lane,omitempty"` // letter, which no other lane of the run has
	Encoder string                `json:"encoder"`
	Label   string                `json:"label,omitempty"`  // Lane.Name
	FromS   float64               `json:"from_s,omitempty"` // when the shadow joined, in seconds; its figures count from then
	ToS     float64               `json:"to_s,omitempty"`   // when the shadow left; 0 if it ran until the end
	Totals  figures.Totals        `json:"totals"`
	Timing  figures.Timing        `json:"timing"`
	Budget  []figures.BudgetShare `json:"budget"`
	Traffic []figures.Flow        `json:"traffic,omitempty"` // as in Result, with the queue of this lane
	Digest  string                `json:"digest"`
}

// Result returns the results of the session so far, as if it ended right after the current time.
func (s *Session) Result() *Result {
	until := s.now
	if !s.ended {
		until++ // the end is exclusive
	}
	first := s.lanes[0]
	r := NewResult(s.start, s.schema, until, s.frames(), first.totals(until))
	r.ItemsPerFrame = s.itemsPerFrame()
	r.Timing, r.Budget, r.Digest = first.timing(), first.meter.Shares(s.schema), first.digest.sum()
	r.Traffic, r.Codecs, r.Precision = first.trafficFigures(until), s.codecVersions(), s.precision()
	r.Changes = append(r.Changes, s.log...)
	r.Interrupted, r.Refused, r.Warnings = s.interrupted, s.refused, s.config.Warnings()
	r.FileData.Priorities = s.urgentRows()
	for _, remark := range s.dataRemarks() {
		r.Warnings = append(r.Warnings, "data: "+remark)
	}
	if text := s.expansionRemark(); text != "" {
		r.Warnings = append(r.Warnings, "encoder: "+text)
	}
	if first.lastErr != nil {
		r.CodecError = first.lastErr.Error()
	}
	r.Lane, r.Label, r.Stretches = first.letter, first.name(), first.meter.Swaps.Figures(until)
	for _, l := range s.lanes[1:] {
		r.Shadows = append(r.Shadows, s.shadowResult(l, until))
	}
	for i := range s.departed {
		r.Shadows = append(r.Shadows, s.departed[i].result)
	}
	return r
}

// NewResult returns the result of a run that began with the configuration start. end is its duration and s
// the schema of its data. The caller adds the changes that took effect, and what was measured besides
// totals.
func NewResult(start *config.Config, s *frame.Schema, end time.Duration, frames uint64, totals figures.Totals) *Result {
	start = start.Clone()
	start.At, start.Sweep, start.Search = nil, nil, config.Search{} // Result.Changes has the changes that took effect
	return &Result{versions: versions{ReportVersion, DigestVersion}, Config: start.Values(),
		extent: extent{Seed: start.Seed, DurationS: end.Seconds(), DurationNS: end, Frames: frames, Item: s.Item, ItemsPerFrame: s.Rows},
		Totals: totals, Shadows: []shadowResult{}, Changes: []config.StampedChange{}, Budget: []figures.BudgetShare{},
		Assertions: checkAssertions(start.Assert, totals), Warnings: start.Warnings()}
}

// codecVersions returns the version of each built-in codec that sent packets.
func (s *Session) codecVersions() map[string]int {
	versions := map[string]int{}
	add := func(encoder string) {
		name, _, _ := strings.Cut(encoder, " ") // parameters follow
		e := config.Encoder{Name: name}
		if codec, _, err := e.Resolve("encoder", s.config.Codecs); err == nil && codec.Plugin == nil {
			versions[name] = codec.PacketVersion()
		}
	}
	for _, l := range s.lanes {
		for _, encoder := range l.meter.Swaps.Encoders() {
			add(encoder)
		}
	}
	for i := range s.departed {
		add(s.departed[i].result.Encoder)
	}
	return versions
}

// ChangedCodecs compares the codecs of a saved run with those of its repetition. It returns a sentence
// for each that has another version now, by name.
func (r *Result) ChangedCodecs(repeated *Result) (changed []string) {
	for _, name := range slices.Sorted(maps.Keys(repeated.Codecs)) {
		if saved, ok := r.Codecs[name]; ok && saved != repeated.Codecs[name] {
			changed = append(changed, fmt.Sprintf("the report is of version %d of %s, but this program has version %d, whose packets differ", saved, name, repeated.Codecs[name]))
		}
	}
	return changed
}

// Running returns the number of shadows that ran until the end. They are the first ones in r.Shadows.
func (r *Result) Running() int {
	n := 0
	for n < len(r.Shadows) && r.Shadows[n].ToS == 0 {
		n++
	}
	return n
}

// Encoders returns the names of the encoders of the first lane in their order, such as "raw, rotor".
func (r *Result) Encoders() string {
	if len(r.Stretches) == 0 {
		return cmp.Or(r.Label, r.Config.Text("encoder.name"))
	}
	var names []string
	for i := range r.Stretches {
		if name := r.Stretches[i].Encoder; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if n := len(names); n > 4 {
		names = append(names[:3:3], fmt.Sprintf("%d others", n-3))
	}
	return strings.Join(names, ", ")
}

// frames returns how many frames were encoded, or how many deliveries of the file were begun.
func (s *Session) frames() uint64 {
	if s.isFile {
		return s.rounds
	}
	return s.framesDue - s.framesSkipped - uint64(s.lanes[0].control.held)
}

// itemsPerFrame returns the number of items of a frame: bytes for files and messages, rows for
// tables. If frames have different numbers of items, it returns the rounded mean.
func (s *Session) itemsPerFrame() int {
	switch {
	case s.isFile:
		return len(s.feed.current.Body)
	case s.schema.Timed: // frames have different numbers of items
		n := int64(s.frames())
		if n == 0 {
			return 0
		}
		return int((s.lanes[0].meter.Total().Items + n/2) / n)
	case s.schema.Rows == 0:
		return s.config.Data.Message
	}
	return s.schema.Rows
}

// ReportVersion is the version of the report format. It is increased only when older programs could
// misread a report, not when keys are added.
const ReportVersion = 2

// DigestVersion is the version of the behaviour that determines a digest. It is increased when the
// endpoints respond differently to the same datagrams, and when the digest covers other parts of a run.
// Reports of other versions are not read.
const DigestVersion = 7

// Settings returns the configuration at the end of the run, with all changes applied: the value of
// each key as text.
func (r *Result) Settings() (map[string]string, error) {
	c, err := r.Config.Config("report")
	if err != nil {
		return nil, r.withPluginHint(err)
	}
	for _, made := range r.Changes {
		if made.Change.OnlyInput() { // input to the cube world sets nothing
			continue
		}
		if err := c.Apply(made.Change); err != nil {
			return nil, fmt.Errorf("the change at %v: %w", made.T, err)
		}
	}
	return c.Settings(), nil
}

// withPluginHint changes an error about an unknown encoder so that it recommends the plugin with which
// the run was made, if any: the encoder is unknown because Settings loads no plugins. It returns other
// errors unchanged.
func (r *Result) withPluginHint(err error) error {
	var ce *config.Error
	if !errors.As(err, &ce) || !strings.HasPrefix(ce.Problem, "unknown encoder") {
		return err
	}
	path := r.Config.Text("plugin[0].path")
	if path == "" {
		return err
	}
	hinted := *ce
	hinted.Expected, hinted.Near = "--plugin "+path, "" // without suggestions of similar encoders
	return &hinted
}

// Replayable returns the configuration that repeats the run: that of its start, with the applied changes
// as its script and the actual duration. It loads the run's plugins. Its errors contain the key, but not
// the name of the report's file.
func (r *Result) Replayable() (*config.Config, error) {
	if r.DurationNS > config.MaxDuration {
		return nil, &config.Error{Key: "duration_ns", Problem: fmt.Sprintf("%d exceeds the maximum duration of a run", int64(r.DurationNS)),
			Expected: fmt.Sprintf("at most %d, which is %v h", int64(config.MaxDuration), config.MaxDuration.Hours())}
	}
	values := r.Config
	if err := values.LoadPlugins(); err != nil {
		return nil, config.Within("config", err)
	}
	c, err := values.Config("")
	if err != nil {
		return nil, config.Within("config", err)
	}
	c.At, c.Duration = r.Changes, r.DurationNS
	return c, c.Validate()
}

// Digests returns the digests of all lanes, separated by spaces, the first lane's first.
func (r *Result) Digests() string {
	all := r.Digest
	for _, s := range r.Shadows {
		all += " " + s.Digest
	}
	return all
}

// Deterministic returns a copy of r without the parts in which two runs of one configuration may differ:
// times of encoders and decoders, and texts that can contain paths of this machine.
func (r *Result) Deterministic() *Result {
	d := *r
	d.Timing, d.Files, d.Warnings, d.CodecError = figures.Timing{}, nil, nil, ""
	d.Shadows = slices.Clone(r.Shadows)
	for i := range d.Shadows {
		d.Shadows[i].Timing = figures.Timing{}
	}
	return &d
}

// AssertionResult is an assertion with the measured figure.
type AssertionResult struct {
	Name   string         `json:"name"`  // of the figure
	Bound  string         `json:"bound"` // for example "<= 256"
	Got    figures.Figure `json:"got"`   // unknown if Absent
	Holds  bool           `json:"holds"`
	Absent bool           `json:"absent,omitempty"` // the run has no data for the figure; the assertion does not hold
}

// checkAssertions evaluates all assertions with the figures of t.
func checkAssertions(asserts []config.Assertion, t figures.Totals) []AssertionResult {
	have := figures.Flatten(t)
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

// Comparison compares encoders that ran in parallel, over the interval in which all of them ran. The
// totals of a shadow count from when it joined, so the totals of two lanes may cover different
// frames. The figures of a Comparison cover the same frames for all lanes.
type Comparison struct {
	FromS float64        `json:"from_s"` // start in seconds: WarmUp after the last encoder joined or was swapped
	ToS   float64        `json:"to_s"`
	SeamS float64        `json:"seam_s"` // seconds left out because packets had references across a loop point
	Lanes []ComparedLane `json:"lanes"`  // the first lane, then the shadows
	// Budgets compares the lanes that have a budget; nil if there are fewer than two.
	Budgets *BudgetComparison `json:"budgets,omitempty"`
}

// ComparedLane is one encoder of a Comparison.
type ComparedLane struct {
	Lane           string         `json:"lane,omitempty"` // letter
	Label          string         `json:"label"`
	PayloadKbps    figures.Figure `json:"payload_kbps" figure:"payload,kbps,1"`
	BitsPerChanged figures.Figure `json:"bits_per_changed" figure:"per changed item,bits,2"`
	// Times is the ratio of the payload to that of the first encoder. TimesLo and TimesHi are the
	// bounds of its 95 % confidence interval; unknown if there are too few data.
	Times   figures.Figure `json:"times" figure:"payload vs first,,3"`
	TimesLo figures.Figure `json:"times_lo" figure:"95 % from,,3"`
	TimesHi figures.Figure `json:"times_hi" figure:"95 % to,,3"`
}
