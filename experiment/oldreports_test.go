package experiment_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"wirelab/experiment"
	"wirelab/experiment/config"
)

// A report of digest_version 3, whose packets were damaged without a checksum, one of version 4, in which a change
// made two lanes equal, and one of version 5, in which the rate of a link changed while packets were in its queue, replay
// with the behaviour of their version only. TestOldReportsReplay replays them with that.
func TestDigestVersionSelectsBehaviour(t *testing.T) {
	for name, version := range map[string]int{"damaged.json": 3, "equal.json": 4, "slow.json": 5} {
		data, err := os.ReadFile("testdata/reports/" + name)
		if err != nil {
			t.Fatal(err)
		}
		changed := filepath.Join(t.TempDir(), "report.json")
		later := bytes.Replace(data, fmt.Appendf(nil, `"digest_version": %d`, version), fmt.Appendf(nil, `"digest_version": %d`, version+1), 1)
		if err := os.WriteFile(changed, later, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := experiment.Replay(t.Context(), changed, experiment.RunOptions{})
		if err != nil || got.Same || bytes.Equal(data, later) {
			t.Errorf("%s: with the behaviour of the next version the digest is the same: %+v, %v", name, got, err)
		}
	}
}

// A report of version 1 of delta-adaptive, for a table with hints, does not replay: its packets differ. The reason
// is the version of the encoder.
func TestOldCodecIsNamed(t *testing.T) {
	got, err := experiment.Replay(t.Context(), "testdata/reports/version1/report.json", experiment.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"the report is of version 1 of delta-adaptive, but this program has version 2, whose packets differ"}
	if got.Same || !slices.Equal(got.Runs[0].Changed, want) {
		t.Errorf("%+v, want %q", got, want)
	}
}

// Reports saved by the first edition, with every kind of change, and those of digest_version 3 to 6 replay to the same
// digest. Those of version 6 have redundancy, messages, a stream and queue disciplines. Their changes are written as they were read.
func TestOldReportsReplay(t *testing.T) {
	paths, err := filepath.Glob("testdata/reports/*.json")
	if err != nil || len(paths) != 7 {
		t.Fatalf("%d reports, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			got, err := experiment.Replay(t.Context(), path, experiment.RunOptions{})
			if err != nil || !got.Same {
				t.Errorf("%+v, %v", got, err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
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
		})
	}
}
