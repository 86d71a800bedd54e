package page

import (
	"encoding/json"
	"errors"
	"fmt"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
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
	data, err := config.ReadFile(path, maxSummaryBytes, "a report.json of at most 256 MB")
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

// Document returns the report of the sweep. Points without complete runs are left out.
func (s *Summary) Document() *Document {
	g := &grid{units: s.Units}
	wrong := 0.0 // packets in all runs, a whole number but for rounding; a figure is the mean over the seeds
	for i := range s.Points {
		if p := &s.Points[i]; p.Seeds > 0 {
			g.points = append(g.points, p)
			wrong += p.Figures["wrong"].Mean * float64(p.Seeds)
		}
	}
	runs := fmt.Sprintf("%s of %s, %s each", formatNumber(float64(s.Done)), formatCount(int64(s.Planned), "run"), formatCount(int64(max(s.Repeat, 1)), "seed"))
	d := gridDocument(g, gridHeadline(g, s.Done, int64(wrong+0.5)), runs, s.Failed, describeEnding(s.Reason, s.Error, s.Interrupted))
	if len(g.points) == 0 {
		d.Notes = []string{"No run is complete yet."}
	}
	digest := ""
	if s.Digest != "" {
		digest = "Digest of the digests of all runs: " + s.Digest
	}
	d.add("again", "How to reproduce", paragraph(digest),
		code{Text: "tui sweep experiment.toml --out again    # on this machine, or on many with --queue\n" + remakeCommand})
	return d
}
