package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/atomicfile"
)

// SavedReport is a report in a folder of reports.
type SavedReport struct {
	Name  string    // name of its folder
	Path  string    // path of its report.json
	Saved time.Time // when report.json was written
	Bytes int64     // size of report.json
}

// maxReports is the maximum number of reports that SavedReports returns.
const maxReports = 1000

// SavedReports returns the reports below dir, the newest first, at most maxReports. It returns none if
// dir does not exist.
func SavedReports(dir string) ([]SavedReport, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("reports in %s: %s", dir, config.WithoutPath(err))
	}
	var list []SavedReport
	for _, e := range entries {
		path := filepath.Join(dir, e.Name(), "report.json")
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			list = append(list, SavedReport{e.Name(), path, info.ModTime(), info.Size()})
		}
	}
	slices.SortFunc(list, func(a, b SavedReport) int {
		return cmp.Or(b.Saved.Compare(a.Saved), cmp.Compare(b.Name, a.Name))
	})
	return list[:min(len(list), maxReports)], nil
}

// Automatic follows the date in the folder name of an automatic report: one that was saved because the
// user quit without saving.
const Automatic = "autosave-"

// automaticName matches the folder name of an automatic report that was not renamed.
var automaticName = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{6}-` + Automatic)

// maxAutomatic is the number of newest automatic reports that Prune keeps.
const maxAutomatic = 10

// Prune removes the automatic reports below dir, except for newest, the folder of the report that was just saved,
// and the maxAutomatic-1 before it. Reports with a later time than newest stay and do not count: they were saved
// before the clock of the system was set back. Prune ignores errors.
func Prune(disk *atomicfile.Disk, dir, newest string) {
	list, _ := SavedReports(dir)
	list = slices.DeleteFunc(list, func(s SavedReport) bool { return !automaticName.MatchString(s.Name) })
	first := slices.IndexFunc(list, func(s SavedReport) bool { return s.Name == filepath.Base(newest) })
	for _, s := range list[min(len(list), max(first, 0)+maxAutomatic):] {
		_ = disk.RemoveAll(filepath.Dir(s.Path))
	}
}

// ErrOtherVersion is wrapped by errors about reports that another version of the program saved.
var ErrOtherVersion = errors.New("report of another version")

// versions contains the versions of a report. Their keys are the same in all versions.
type versions struct {
	Format int `json:"version"`
	Digest int `json:"digest_version"`
}

// currentVersions are the versions of the reports that this program writes and reads.
var currentVersions = versions{engine.ReportVersion, engine.DigestVersion}

// String describes v in errors.
func (v versions) String() string {
	return fmt.Sprintf("format %d and digest version %d", v.Format, v.Digest)
}

// versionsIn returns the versions of the report in data that are not currentVersions; false if there are none.
func versionsIn(data []byte) (other versions, ok bool) {
	var doc struct {
		versions
		Runs []versions `json:"runs"`
	}
	// If "runs" has another type in another format, Unmarshal returns an error, but sets doc.versions.
	_ = json.Unmarshal(data, &doc)
	for _, v := range append(doc.Runs, doc.versions) {
		if v != (versions{}) && v != currentVersions {
			return v, true
		}
	}
	return versions{}, false
}

// otherVersionError returns the error of a report at path whose versions are v.
func otherVersionError(path string, v versions) error {
	return &config.Error{File: path, Problem: "was saved by another version of Wirelab, with " + v.String(),
		Expected: currentVersions.String(), Cause: ErrOtherVersion}
}

// describeUnreadable describes why data is not a report that can be read. err is the error of parsing it. The result
// continues a sentence that begins with the file's name.
func describeUnreadable(data []byte, err error) string {
	var sweep struct{ Plan string }
	if json.Unmarshal(data, &sweep) == nil && sweep.Plan != "" {
		return "was written by tui sweep, and contains the points of the grid but not the runs"
	}
	switch trimmed := bytes.TrimSpace(data); {
	case len(trimmed) == 0:
		return "is empty"
	case trimmed[0] != '{':
		return "is not a report: it is not a JSON object"
	case trimmed[len(trimmed)-1] != '}':
		return "is incomplete: the end of the JSON is missing"
	}
	return "is damaged: " + err.Error()
}

// maxReportBytes is the maximum size of a report.
const maxReportBytes = 256 << 20

// ReadRuns reads the results in a saved report: one, or those of a sweep. See Read.
func ReadRuns(path string) ([]*engine.Result, error) {
	r, err := Read(path)
	if err != nil {
		return nil, err
	}
	return r.Runs, nil
}

// Read reads a saved report. path is the path of report.json, or of the folder that contains it. The
// error describes the problem for the user, also if the file is truncated. It wraps ErrOtherVersion if the report is of
// another version.
func Read(path string) (*Report, error) {
	bad := func(problem string) error {
		return &config.Error{File: path, Problem: problem, Expected: "a report.json that `tui run --out` or the dashboard saved"}
	}
	unreadable := func(data []byte, err error) error {
		if v, ok := versionsIn(data); ok {
			return otherVersionError(path, v)
		}
		return bad(describeUnreadable(data, err))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "report.json")
	}
	data, err := config.ReadFile(path, maxReportBytes, "a report.json")
	if err != nil {
		return nil, err
	}
	var file sweepDoc
	var single engine.Result
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, unreadable(data, err)
	}
	if file.Runs == nil { // the document is a single result, not a sweep
		file = sweepDoc{Version: file.Version}
		if err := json.Unmarshal(data, &single); err != nil {
			return nil, unreadable(data, err)
		}
		file.Runs = []*engine.Result{&single}
	}
	sweep := file.Planned > 0 || len(file.Runs) != 1 // a sweep may have finished only one run
	if len(file.Runs) == 0 {
		return nil, noRunsError(path, &file)
	}
	for _, r := range file.Runs {
		if r == nil {
			return nil, bad("lacks config, duration_ns or digest")
		}
		v := versions{r.Version, r.DigestVersion}
		if v != currentVersions && (v != versions{} || r.Config != nil) {
			return nil, otherVersionError(path, v)
		}
		// A run that was interrupted before its first packet has a configuration and a digest, but no duration.
		if r.Config != nil && r.Digest != "" && r.DurationNS == 0 && r.Frames == 0 {
			return nil, &config.Error{File: path, Problem: "is the report of a run that ended before it sent a packet",
				Expected: "the report of a run with packets"}
		}
		if r.Config == nil || r.Digest == "" || r.DurationNS <= 0 {
			return nil, bad("lacks config, duration_ns or digest")
		}
		if !slices.IsSortedFunc(r.Changes, func(a, b config.StampedChange) int { return cmp.Compare(a.T, b.T) }) {
			return nil, bad(fmt.Sprintf("has %d changes that are not in the order of their times", len(r.Changes)))
		}
	}
	return &Report{Runs: file.Runs, Sweep: sweep, Planned: file.Planned, Reason: file.Reason, Interrupted: file.Interrupted,
		Error: file.Error}, nil
}

// noRunsError returns the error of the report at path, which contains no runs. It says why, if known.
func noRunsError(path string, doc *sweepDoc) error {
	problem := "contains no runs"
	if doc.Planned > 0 {
		problem = fmt.Sprintf("contains none of the %d planned runs", doc.Planned)
	}
	if why := describeEnding(doc.Reason, doc.Error); why != "" {
		problem += ": it " + why
	}
	return &config.Error{File: path, Problem: problem, Expected: "a report with at least one run"}
}

// describeEnding describes why a report does not contain everything that was planned; empty if it does, and
// for a report that the user saved during a live session. problem is the error that ended the run, if why
// is one of the errors. The result continues a sentence that begins with a noun such as "the sweep".
func describeEnding(why engine.Ending, problem string) string {
	switch why {
	case engine.Interrupted:
		return "was interrupted"
	case engine.BadData, engine.BadMachine, engine.BadNetwork:
		return "was stopped by an error: " + problem
	case engine.Unfinished:
		return "is still running, or was killed"
	}
	return ""
}

// Missing describes how many runs of a sweep are missing and why. The result is empty if the sweep is
// complete, if the report is not one of a sweep, or if it does not contain the planned number of runs.
func (r *Report) Missing() string {
	if !r.Sweep || r.Planned == 0 {
		return ""
	}
	complete := 0
	for _, run := range r.Runs {
		if !run.Interrupted && !run.Partial && describeEnding(run.Reason, "") == "" {
			complete++
		}
	}
	if complete >= r.Planned {
		return ""
	}
	text := fmt.Sprintf("%d of %d runs are complete", complete, r.Planned)
	if why := describeEnding(r.Reason, r.Error); why != "" {
		text += ": the sweep " + why
	}
	return text
}
