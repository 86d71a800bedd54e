package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
)

// Summary is the result of a sweep whose runs were distributed to workers by a queue: the JSON of its
// report.json, which contains the points of the grid but not the runs.
type Summary struct {
	Plan        string        `json:"plan"` // ID of the plan
	Version     string        `json:"version"`
	Planned     int           `json:"planned"` // runs
	Done        int           `json:"done"`    // completed runs
	Repeat      int           `json:"repeat"`  // seeds per point
	Reason      engine.Ending `json:"reason"`
	Interrupted bool          `json:"interrupted"`
	Error       string        `json:"error,omitempty"`
	Keys        []string      `json:"keys"` // keys that differ between points, outermost first
	// Units contains the units, by key, of the figures whose unit depends on the data.
	Units    map[string]string `json:"units,omitempty"`
	Points   []Point           `json:"points"`
	Failed   []string          `json:"failed,omitempty"` // a sentence for each failed assertion
	Verified *SummaryChecked   `json:"verified,omitempty"`
	Digest   string            `json:"digest,omitempty"` // of the digests of all runs, in order
}

// SummaryChecked counts the runs that were repeated on this machine.
type SummaryChecked struct {
	Runs    int            `json:"runs"`
	Workers map[string]int `json:"workers"` // runs of each worker that were repeated
}

// errNoSummary means that a file is not the summary of a sweep.
var errNoSummary = errors.New("not the summary of a sweep")

// loadSummary reads the summary at path. It returns errNoSummary if the file is a report of another kind.
func loadSummary(path string) (*Summary, error) {
	data, err := config.ReadFile(path, maxSummaryBytes, "a report.json")
	if err != nil {
		return nil, err
	}
	var s Summary
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoSummary, err)
	}
	if s.Planned <= 0 || len(s.Points) == 0 {
		return nil, errNoSummary
	}
	return &s, nil
}

// maxSummaryBytes bounds what is read as a summary.
const maxSummaryBytes = 256 << 20

// summaryOf returns the summary of a sweep whose report contains the runs.
func summaryOf(r *report.Report) *Summary {
	g := newGrid(r.Runs)
	s := &Summary{Planned: max(r.Planned, len(r.Runs)), Repeat: g.maxSeeds(),
		Units: g.units, Failed: r.Failed()}
	s.Reason = r.Reason
	s.Interrupted = r.Interrupted
	s.Error = r.Error
	for _, run := range r.Runs {
		if !run.Interrupted {
			s.Done++
		}
	}
	for _, p := range g.points {
		s.Points = append(s.Points, *p)
	}
	return s
}

// sweepDocument returns the report of a sweep whose report contains the runs.
func sweepDocument(r *report.Report) *Document {
	d := summaryOf(r).begin()
	if len(r.Runs) > 0 {
		d.addConfiguration(r.Runs[0],
			paragraph("This is the configuration of the first run. The other runs differ in the swept keys."))
	}
	d.add("again", "How to reproduce", replayCommands)
	return d
}

// Document returns the report of the sweep.
func (s *Summary) Document() *Document {
	d := s.begin()
	digest := ""
	if s.Digest != "" {
		digest = "Digest of the digests of all runs: " + s.Digest
	}
	d.add("again", "How to reproduce", paragraph(digest),
		code{Text: "tui sweep experiment.toml --out again    # on this machine, or on many with --queue\n" +
			remakeCommand})
	return d
}

// maxAlarms is the maximum number of sentences about failed assertions at the top of a report. The
// section of failures has more.
const maxAlarms = 3

// begin returns the report of the sweep but for its last sections: what is recommended, the failures, the
// charts and the tables. Points without complete runs are left out.
func (s *Summary) begin() *Document {
	g := &grid{units: s.Units}
	wrong := 0.0 // packets in all runs, a whole number but for rounding; a figure is the mean over the seeds
	for i := range s.Points {
		if p := &s.Points[i]; p.Seeds > 0 {
			g.points = append(g.points, p)
			wrong += p.Figures["wrong"].Mean * float64(p.Seeds)
		}
	}
	extent := formatCount(int64(len(g.points)), "point") + "; nothing decoded wrong"
	if wrong > 0.5 {
		extent = formatCount(int64(len(g.points)), "point") + "; " +
			formatCount(int64(wrong+0.5), "packet") + " decoded WRONG"
	}
	d := &Document{Title: "Sweep", Headline: extent + ".", Alarms: s.Failed, Meta: []string{extent}}
	for _, a := range g.axes() {
		d.Meta = append(d.Meta, a.key+": "+strings.Join(abbreviate(a.values), ", "))
	}
	d.Meta = append(d.Meta, fmt.Sprintf("%d of %s", s.Done, formatCount(int64(s.Planned), "run")),
		formatCount(int64(max(s.Repeat, 1)), "seed")+" each")
	if n := len(s.Failed); n > maxAlarms {
		d.Alarms = append(s.Failed[:maxAlarms:maxAlarms],
			fmt.Sprintf("and %d more, listed under Failures", n-maxAlarms))
	}
	d.Alarms = append(d.Alarms, nonEmpty(describeEnding(s.Reason, s.Error, s.Interrupted))...)
	if len(g.points) == 0 {
		d.Headline = "A sweep without complete runs."
		return d
	}
	d.addChoices(g, len(s.Failed))
	d.addGrid(g)
	if n := len(s.Failed); n > maxAlarms {
		t := newTable("All "+formatCount(int64(n), "failure"), "failure")
		for _, text := range s.Failed[:min(n, maxListed)] {
			t.add(text)
		}
		d.add("failures", "Failures", t)
	}
	return d
}

// abbreviate returns at most eight values: the first ones, and the last one after "…" if others are
// omitted.
func abbreviate(values []string) []string {
	const maxShown = 8
	if len(values) <= maxShown {
		return values
	}
	return append(slices.Clone(values[:maxShown-1]), "… "+values[len(values)-1])
}
