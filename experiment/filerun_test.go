package experiment_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// A patch is delivered over a very bad link, with the same result in a second run and in a replay.
func TestPatchOverBadLink(t *testing.T) {
	dir, p := t.TempDir(), labtest.NewFileSource(60_000, 3)
	c := config.Default()
	c.Data.Source = labtest.WriteFiles(t, p)
	testkit.Set(t, c, []any{"link.loss", "30%",
		"link.latency", "40ms", "link.jitter", "20ms", "down.reorder", "10%", "down.duplicate", "10%", "down.corrupt", "5%",
		"sender.block", 100, "encoder.name", "whole-raw", "shadow[0].name", "whole-zstd"}...)
	if err := c.Set("at[0].t", "2s"); err != nil {
		t.Fatal(err)
	}
	if err := c.Set("at[0].encoder", "patch"); err != nil {
		t.Fatal(err)
	}
	var digests []string
	var packed [2]int
	for range 2 {
		report, err := experiment.Run(context.Background(), c, experiment.RunOptions{Dir: filepath.Join(dir, "report"), Force: true})
		if err != nil {
			t.Fatal(err)
		}
		r := report.Runs[0]
		x, y := r.Totals.Transfer, r.Shadows[0].Totals.Transfer
		if !x.Done || !y.Done || len(x.Rounds) != 1 || x.Encoder != "patch" || x.Rounds[0].Encoder != "whole-raw" || y.Resent == 0 ||
			len(report.Failed()) > 0 {
			t.Fatalf("%+v\n%+v\n%v", x, y, report.Failed())
		}
		if x.PackedBytes >= y.PackedBytes || *x.TimeS >= *y.TimeS {
			t.Errorf("a patch of %d bytes took %g s, the whole file in %d took %g s", x.PackedBytes, *x.TimeS, y.PackedBytes, *y.TimeS)
		}
		digests, packed = append(digests, r.Digests()), [2]int{x.PackedBytes, y.PackedBytes}
	}
	again, err := experiment.Replay(context.Background(), filepath.Join(dir, "report"), experiment.RunOptions{})
	if err != nil || !again.Same || digests[0] != digests[1] {
		t.Errorf("replayed the same: %+v, %v; runs %v", again, err, digests)
	}
	old, _, _ := strings.Cut(strings.TrimPrefix(c.Data.Source, "files:"), ",")
	if err := os.WriteFile(old, p.New, 0o644); err != nil {
		t.Fatal(err)
	}
	var changed *config.Error
	if _, err := experiment.Replay(context.Background(), filepath.Join(dir, "report"), experiment.RunOptions{}); !errors.As(err, &changed) ||
		!strings.Contains(changed.Problem, "has changed") {
		t.Errorf("with another old file: %v", err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report", "report.md"))
	if err != nil || !strings.Contains(string(page), "## File transfer") ||
		!strings.Contains(string(page), "| A patch | B whole-zstd | vs first |") ||
		!strings.Contains(string(page), fmt.Sprintf("| packed file, bytes | %d | %d | ", packed[0], packed[1])) {
		t.Errorf("report.md does not mention the file: %v", err)
	}
}

// The file is packed with the encodings of scripted changes before the session begins. This reports
// progress and can be cancelled.
func TestScriptIsPackedBeforeTheRun(t *testing.T) {
	c := config.Default()
	c.Data.Source = labtest.WriteFiles(t, labtest.NewFileSource(20_000, 4))
	testkit.Set(t, c, "encoder.name", "whole-raw", "at[0].t", "0.1s", "at[0].encoder", "patch")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	told := 0
	opt := experiment.RunOptions{Progress: func(float64, float64) {
		if told == 0 {
			t.Error("the session ran before the patch was made")
		}
	}, Packing: func(encoder string, _, _ float64) {
		if told++; encoder == "patch" {
			cancel()
		}
	}}
	report, err := experiment.Run(ctx, c, opt)
	if told != 1 || report == nil || !report.Runs[0].Interrupted || report.Runs[0].Totals.Sent > 0 {
		t.Errorf("%d calls of Progress, %v, %+v", told, err, report)
	}
}
