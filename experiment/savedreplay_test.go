package experiment

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/golden"
)

// Saved reports with every kind of change replay to the same digest, and their changes are written as they were read.
// With -update the reports are written again.
func TestSavedReportsReplay(t *testing.T) {
	paths, err := filepath.Glob("testdata/reports/*.json")
	if err != nil || len(paths) != 4 {
		t.Fatalf("%d reports, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if golden.IsUpdating() {
				data = runAgain(t, data)
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			checkReplay(t, path)
			checkChangesKept(t, data)
		})
	}
}

// runAgain returns the report of a repetition of the run whose report is data, which may be of another version.
func runAgain(t *testing.T, data []byte) []byte {
	t.Helper()
	var saved engine.Result
	if err := json.Unmarshal(data, &saved); err != nil {
		t.Fatal(err)
	}
	c, err := saved.Replayable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mustRun(t, c, RunOptions{Dir: dir})
	return []byte(readFile(t, dir, "report.json"))
}

// checkChangesKept checks that the changes of the report in data are written as they are read.
func checkChangesKept(t *testing.T, data []byte) {
	t.Helper()
	var saved struct {
		Changes json.RawMessage `json:"changes"`
	}
	var changes []config.StampedChange
	if err := json.Unmarshal(data, &saved); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(saved.Changes, &changes); err != nil || len(changes) == 0 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	again, err := json.Marshal(changes)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := json.Compact(&want, saved.Changes); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, want.Bytes()) {
		t.Errorf("the changes are written as\n%s\nthey were\n%s", again, want.Bytes())
	}
}
