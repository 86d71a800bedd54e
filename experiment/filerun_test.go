package experiment

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// A patch is delivered over a very bad link, with the same result in a replay.
func TestPatchOverBadLink(t *testing.T) {
	dir := t.TempDir()
	c := config.Default()
	c.Data.Source = labtest.WriteFiles(t, labtest.NewFileSource(60_000, 3))
	testkit.Set(t, c, []any{"link.loss", "30%",
		"link.latency", "40ms", "link.jitter", "20ms", "down.reorder", "10%", "down.duplicate", "10%", "down.corrupt", "5%",
		"sender.block", 100, "encoder.name", "whole-raw", "shadow[0].name", "whole-zstd", "at[0].t", "2s", "at[0].encoder", "patch"}...)
	report := mustRun(t, c, RunOptions{Dir: dir})
	r := report.Runs[0]
	x, y := r.Totals.Transfer, r.Shadows[0].Totals.Transfer
	if !x.Done || !y.Done || len(x.Rounds) != 1 || x.Encoder != "patch" || x.Rounds[0].Encoder != "whole-raw" || y.Resent == 0 ||
		len(report.Failed()) > 0 {
		t.Fatalf("%+v\n%+v\n%v", x, y, report.Failed())
	}
	if x.PackedBytes >= y.PackedBytes || *x.TimeS >= *y.TimeS {
		t.Errorf("a patch of %d bytes took %g s, the whole file in %d took %g s", x.PackedBytes, *x.TimeS, y.PackedBytes, *y.TimeS)
	}
	if digests := checkReplay(t, dir); digests[0] != r.Digests() {
		t.Errorf("replayed: %q, want %s", digests, r.Digests())
	}
	page := readFile(t, dir, "report.md")
	for _, want := range []string{"## File transfer", "| B whole-zstd | vs first |",
		fmt.Sprintf("| packed file, bytes | %d | %d | ", x.PackedBytes, y.PackedBytes)} {
		if !strings.Contains(page, want) {
			t.Errorf("report.md lacks %q\n%s", want, page)
		}
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
	opt := RunOptions{Progress: func(float64, float64) {
		if told == 0 {
			t.Error("the session ran before the patch was made")
		}
	}, Packing: func(encoder string, _, _ float64) {
		if told++; encoder == "patch" {
			cancel()
		}
	}}
	report, err := Run(ctx, c, opt)
	if told != 1 || report == nil || !report.Runs[0].Interrupted || report.Runs[0].Totals.Sent > 0 {
		t.Errorf("%d calls of Progress, %v, %+v", told, err, report)
	}
}
