package report

import (
	"strings"
	"testing"

	"wirelab/experiment/engine"
)

// The runs of a sweep without settings are numbered, and an interrupted run is marked.
func TestSweepTableWithoutSettings(t *testing.T) {
	interrupted := &engine.Result{Interrupted: true}
	interrupted.DurationS = 1.5
	got := sweepTable(&Report{Sweep: true, Runs: []*engine.Result{{}, interrupted}})
	for _, want := range []string{"| run ", "| 1 ", "| 2 (interrupted after 1.5 s) "} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
}
