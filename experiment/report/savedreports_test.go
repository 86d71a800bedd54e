package report

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// savedNames returns the names that SavedReports lists.
func savedNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := SavedReports(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		names = append(names, s.Name)
	}
	return names
}

// The newest report is the first; of equal ones the last by name. Folders without a report are left out.
func TestSavedReportsOrder(t *testing.T) {
	dir := t.TempDir()
	for name, at := range map[string]int64{"old": 1, "b": 2, "a": 2, "new": 3} {
		writeFile(t, filepath.Join(dir, name, "report.json"), "{}", at)
	}
	writeFile(t, filepath.Join(dir, "empty", "other"), "", 9)
	if err := os.MkdirAll(filepath.Join(dir, "folder", "report.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, want := savedNames(t, dir), []string{"new", "b", "a", "old"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := savedNames(t, filepath.Join(dir, "missing")); got != nil {
		t.Errorf("of a missing folder: %q", got)
	}
	if _, err := SavedReports(filepath.Join(dir, "empty", "other")); err == nil {
		t.Error("a file is listed as a folder")
	}
}

// Prune keeps the newest ten automatic reports, those that a clock which was set back wrote later, and all others.
func TestPrune(t *testing.T) {
	for _, n := range []int{3, 10, 12} {
		dir := t.TempDir()
		for i := range n {
			writeFile(t, filepath.Join(dir, fmt.Sprintf("2026-01-01-1000%02d-autosave-raw", i), "report.json"), "{}", int64(i))
		}
		for i, name := range []string{"2026-01-01-100000-raw", "my autosave-raw"} {
			writeFile(t, filepath.Join(dir, name, "report.json"), "{}", int64(-i))
		}
		for i := range 3 { // written by a clock that was ahead
			writeFile(t, filepath.Join(dir, fmt.Sprintf("2026-01-01-11000%d-autosave-raw", i), "report.json"), "{}", 1000)
		}
		Prune(nil, dir, filepath.Join(dir, fmt.Sprintf("2026-01-01-1000%02d-autosave-raw", n-1)))
		got := savedNames(t, dir)
		if len(got) != min(n, 10)+5 || got[3] != fmt.Sprintf("2026-01-01-1000%02d-autosave-raw", n-1) {
			t.Errorf("of %d: %q", n, got)
		}
	}
}

// A report that cannot be read has an error that says why.
func TestReadErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	const v = `"version":2,"digest_version":7`
	const run = `{` + v + `,"config":{"a":1},"digest":"d","duration_ns":5`
	for text, want := range map[string]string{
		"":              "is empty",
		" \n":           "is empty",
		"[1]":           "is not a report",
		`{"runs":[`:     "is incomplete",
		`{"runs": }`:    "is damaged",
		`{"version":1}`: "with format 1 and digest version 0; expected format 2 and digest version 7",
		`{` + v + `}`:   "lacks config",
		`{"runs":[{"version":9}, {"version":3}]}`:                              "with format 9",
		`{"version":3,"runs":"elsewhere"}`:                                     "with format 3",
		`{"plan":"p","runs":7}`:                                                "was written by tui sweep",
		`{"runs":[]}`:                                                          "contains no runs",
		`{"runs":[],"planned":4,"reason":"interrupted"}`:                       "contains none of the 4 planned runs: it was interrupted",
		`{"runs":[],"reason":"network","error":"cut"}`:                         "contains no runs: it was stopped by an error: cut",
		`{"runs":[null]}`:                                                      "lacks config",
		`{` + v + `,"config":{"a":1},"duration_ns":5}`:                         "lacks config",
		`{"digest":"d","duration_ns":5}`:                                       "lacks config",
		`{` + v + `,"config":{"a":1},"digest":"d","duration_ns":-1}`:           "lacks config",
		`{` + v + `,"config":{"a":1},"digest":"d","duration_ns":0,"frames":3}`: "lacks config",
		`{` + v + `,"config":{"a":1},"digest":"d"}`:                            "ended before it sent a packet",
		`{` + v + `,"config":{"a":1}}`:                                         "lacks config",
		`{"config":{"a":1}}`:                                                   "another version",
		run + `,"changes":[{"t_ns":3},{"t_ns":2}]}`:                            "has 2 changes that are not in the order",
		run + `,"changes":[{"t_ns":2},{"t_ns":2}]}`:                            "",
		run + `}`:                 "",
		`{"runs":[` + run + `}]}`: "",
		`{"runs":[` + run + `},{` + v + `,"config":{"a":1},"duration_ns":5}]}`: "lacks config",
	} {
		writeFile(t, path, text, 1)
		for _, path := range []string{path, filepath.Dir(path)} {
			_, err := ReadRuns(path)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", text, err, want)
			}
		}
	}
	for text, sweep := range map[string]bool{run + `}`: false, `{"runs":[` + run + `}]}`: false, `{"planned":2,"runs":[` + run + `}]}`: true,
		`{"runs":[` + run + `},` + run + `}]}`: true} {
		writeFile(t, path, text, 1)
		if r, err := Read(path); err != nil || r.Sweep != sweep {
			t.Errorf("%s: %+v, %v, want a sweep: %v", text, r, err, sweep)
		}
	}
}
