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
			data := must(os.ReadFile(path))
			if golden.IsUpdating() {
				data = runAgain(t, data)
				noError(t, os.WriteFile(path, data, 0o600))
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
	noError(t, json.Unmarshal(data, &saved))
	c := must(saved.Replayable())
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
	noError(t, json.Unmarshal(data, &saved))
	if err := json.Unmarshal(saved.Changes, &changes); err != nil || len(changes) == 0 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	again := must(json.Marshal(changes))
	var want bytes.Buffer
	noError(t, json.Compact(&want, saved.Changes))
	if !bytes.Equal(again, want.Bytes()) {
		t.Errorf("the changes are written as\n%s\nthey were\n%s", again, want.Bytes())
	}
}
