package experiment

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ReportVersion is the format of the reports that this version writes. It grows
// when a report can no longer be read as before; what is merely added does not
// count.
const ReportVersion = 1

// SavedReport is a report in a folder of reports.
type SavedReport struct {
	Name  string // of its folder
	Path  string // of its report.json
	Saved time.Time
	Bytes int64
}

// MaxReports is how many reports SavedReports lists.
const MaxReports = 1000

// SavedReports lists the reports below dir, the newest first, at most MaxReports.
// A folder that does not exist holds none.
func SavedReports(dir string) ([]SavedReport, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("reports in %s: %s", dir, reason(err))
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
	return list[:min(len(list), MaxReports)], nil
}

// ReadReport reads what Run or a live session saved: one result, or those of a
// sweep. path names a report.json, or the folder that holds it. The error is fit
// for a person, also about a file that is cut off or from a later version.
func ReadReport(path string) ([]*Result, error) { return readReport(path) }

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
	if head.Version > ReportVersion {
		return head.Version
	}
	return 0
}

// unreadable says in words why bytes are no report.
func unreadable(data []byte, err error) string {
	if v := laterVersion(data); v > 0 {
		return fmt.Sprintf("was saved by a later version of Wirelab, in format %d; this one reads up to %d", v, ReportVersion)
	}
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[len(trimmed)-1] != '}' {
		return "is not whole: it ends in the middle"
	}
	return "is not whole: " + err.Error()
}

// Settings returns the configuration of the run as it was at its end, every key
// with its value as text.
func (r *Result) Settings() (map[string]string, error) {
	c, err := FromValues("report", r.Config)
	if err != nil {
		return nil, err
	}
	for _, x := range r.Changes {
		if x.Change.onlyInput() {
			continue
		}
		if err := c.Apply(x.Change); err != nil {
			return nil, fmt.Errorf("the change at %v: %w", x.T, err)
		}
	}
	return c.Settings(), nil
}

// Settings returns the configuration as flat keys with their values as text, but for
// the script, the sweep and the assertions.
func (c *Config) Settings() map[string]string {
	d := c.Clone()
	d.At, d.Sweep, d.Assert, d.Duration = nil, nil, nil, 0
	flat := map[string]any{}
	flatten("", d.Values(), flat)
	out := make(map[string]string, len(flat))
	for k, v := range flat {
		out[k] = fmt.Sprint(v)
	}
	return out
}
