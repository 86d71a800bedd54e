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
	"strings"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/atomicfile"
)

// SavedReport is a report in a folder of reports.
type SavedReport struct {
	Name  string // of its folder
	Path  string // of its report.json
	Saved time.Time
	Bytes int64
}

// maxReports is how many reports SavedReports lists.
const maxReports = 1000

// SavedReports lists the reports below dir, the newest first, at most MaxReports.
// A folder that does not exist holds none.
func SavedReports(dir string) ([]SavedReport, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("reports in %s: %s", dir, config.WithoutPath(err))
	}
	var list []SavedReport
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), deleted) {
			continue
		}
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

// Automatic stands in the name of a report that nobody asked for, behind the date: one
// that was saved because the program was ended.
const Automatic = "autosave-"

// automatic is how such a report is called, unless somebody gave it another name.
var automatic = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{6}-` + Automatic)

// Automatic reports whether nobody asked for the report.
func (s *SavedReport) Automatic() bool { return automatic.MatchString(s.Name) }

// keptAutomatic is how many reports are kept that nobody asked for.
const keptAutomatic = 10

// Prune removes the reports below dir that nobody asked for, but for the newest.
func Prune(disk *atomicfile.Disk, dir string) {
	list, _ := SavedReports(dir)
	list = slices.DeleteFunc(list, func(s SavedReport) bool { return !s.Automatic() })
	for _, s := range list[min(len(list), keptAutomatic):] {
		_ = disk.RemoveAll(filepath.Dir(s.Path)) // a report that stays does no harm
	}
}

// deleted stands before the name of a report that was deleted and can still be had back.
const deleted = ".deleted-"

// keptDeleted is how many reports can be had back.
const keptDeleted = 10

// Rename gives the folder of a report another name beside the old one.
func (s *SavedReport) Rename(name string) error {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return fmt.Errorf("%q is no name for a folder of a report", name)
	}
	return move(filepath.Dir(s.Path), filepath.Join(filepath.Dir(filepath.Dir(s.Path)), name))
}

// Delete takes a report out of the list. Until ten others were deleted Restore brings it back.
func (s *SavedReport) Delete(disk *atomicfile.Disk) error {
	dir := filepath.Dir(filepath.Dir(s.Path))
	if err := move(filepath.Dir(s.Path), filepath.Join(dir, deleted+s.Name)); err != nil {
		return err
	}
	entries, _ := os.ReadDir(dir)
	var gone []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), deleted) && e.Name() != deleted+s.Name {
			gone = append(gone, e.Name())
		}
	}
	for _, name := range gone[:max(len(gone)-keptDeleted+1, 0)] {
		_ = disk.RemoveAll(filepath.Join(dir, name)) // what stays is in nobody's way
	}
	return nil
}

// Restore brings a deleted report back.
func (s *SavedReport) Restore() error {
	dir := filepath.Dir(filepath.Dir(s.Path))
	return move(filepath.Join(dir, deleted+s.Name), filepath.Dir(s.Path))
}

// move renames a folder, unless the name is taken.
func move(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("there is a %s already", filepath.Base(to))
	}
	if err := os.Rename(from, to); err != nil {
		return errors.New(config.WithoutPath(err))
	}
	return nil
}

// laterVersion returns the version of a report that is newer than what can be read
// here; 0 if it is not. Whatever else has changed in it, its version is where it was.
func laterVersion(data []byte) int {
	var head struct {
		Version int `json:"version"`
		Runs    []struct {
			Version int `json:"version"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		head.Version = 0 // it is not whole, or the runs are something else now
		var alone struct {
			Version int `json:"version"`
		}
		if json.Unmarshal(data, &alone) == nil {
			head.Version = alone.Version
		}
	}
	for _, r := range head.Runs {
		head.Version = max(head.Version, r.Version)
	}
	if head.Version > engine.ReportVersion {
		return head.Version
	}
	return 0
}

// unreadable says in words why bytes are no report.
func unreadable(data []byte, err error) string {
	if v := laterVersion(data); v > 0 {
		return fmt.Sprintf("was saved by a later version of Wirelab, in format %d; this one reads up to %d", v, engine.ReportVersion)
	}
	var sweep struct{ Plan string }
	if json.Unmarshal(data, &sweep) == nil && sweep.Plan != "" {
		return "is of tui sweep, and has the points of its grid and not the runs"
	}
	switch trimmed := bytes.TrimSpace(data); {
	case len(trimmed) == 0:
		return "is empty"
	case trimmed[0] != '{':
		return "is no report: it does not begin as one"
	case trimmed[len(trimmed)-1] != '}':
		return "is not whole: it ends in the middle"
	}
	return "is not whole: " + err.Error()
}

// maxReportBytes bounds what is read as a report.
const maxReportBytes = 256 << 20

// ReadReport reads what Run or a live session saved: one result, or those of a
// sweep. path names a report.json, or the folder that holds it. The error is fit
// for a person, also about a file that is cut off or from a later version.
func ReadReport(path string) ([]*engine.Result, error) {
	r, err := Read(path)
	if err != nil {
		return nil, err
	}
	return r.Runs, nil
}

// Read is ReadReport, with what is said of all runs together.
func Read(path string) (*Report, error) {
	bad := func(problem string) error {
		return &config.Error{File: path, Problem: problem, Expected: "a report.json that `tui run --out` or the dashboard saved"}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "report.json") // the folder will do
	}
	data, err := config.ReadFile(path, maxReportBytes, "a report.json of at most 256 MB")
	if err != nil {
		return nil, err
	}
	var file sweepDoc
	var single engine.Result
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, bad(unreadable(data, err))
	}
	if file.Runs == nil {
		file = sweepDoc{Version: file.Version}
		if err := json.Unmarshal(data, &single); err != nil {
			return nil, bad(unreadable(data, err))
		}
		file.Runs = []*engine.Result{&single}
	}
	if file.Version > engine.ReportVersion || slices.ContainsFunc(file.Runs, func(r *engine.Result) bool {
		return r != nil && r.Version > engine.ReportVersion
	}) {
		return nil, bad(unreadable(data, nil))
	}
	sweep := file.Planned > 0 || len(file.Runs) != 1
	if len(file.Runs) == 0 {
		return nil, noRuns(path, &file)
	}
	for _, r := range file.Runs {
		if r != nil && r.Config != nil && r.Digest != "" && r.DurationNS == 0 && r.Frames == 0 {
			return nil, &config.Error{File: path, Problem: "is of a run that was broken off before anything was sent",
				Expected: "one that there is something to repeat of"}
		}
		if r == nil || r.Config == nil || r.Digest == "" || r.DurationNS <= 0 {
			return nil, bad("lacks config, duration_ns or digest")
		}
		if !slices.IsSortedFunc(r.Changes, func(a, b config.StampedChange) int { return cmp.Compare(a.T, b.T) }) {
			return nil, bad(fmt.Sprintf("has its %d changes out of order", len(r.Changes)))
		}
	}
	return &Report{Runs: file.Runs, Sweep: sweep, Planned: file.Planned, Reason: file.Reason, Interrupted: file.Interrupted,
		Error: file.Error}, nil
}

// noRuns says why there is nothing in a report.
func noRuns(path string, doc *sweepDoc) error {
	problem := "holds no runs"
	if doc.Planned > 0 {
		problem = fmt.Sprintf("holds none of the %d runs that were planned", doc.Planned)
	}
	if why := broken(doc.Reason, doc.Error); why != "" {
		problem += ": it " + why
	}
	return &config.Error{File: path, Problem: problem, Expected: "a report that there is something to repeat of"}
}

// broken says in words why a report is not of all that was planned; "" if it is.
func broken(why engine.Ending, what string) string {
	switch why {
	case engine.Interrupted:
		return "was interrupted"
	case engine.BadData, engine.BadMachine, engine.BadNetwork:
		return "was broken off: " + what
	case engine.Unfinished:
		return "is still running, or was killed"
	}
	return ""
}

// Missing says of a sweep what is not there of all that was planned; "" if nothing. Of a
// report that does not say what was planned nobody knows.
func (r *Report) Missing() string {
	if !r.Sweep || r.Planned == 0 {
		return ""
	}
	whole := 0
	for _, run := range r.Runs {
		if !run.Interrupted && !run.Partial && broken(run.Reason, "") == "" {
			whole++
		}
	}
	if whole >= r.Planned {
		return ""
	}
	text := fmt.Sprintf("%d of %d runs are there to their ends", whole, r.Planned)
	if why := broken(r.Reason, r.Error); why != "" {
		text += ": the sweep " + why
	}
	return text
}
