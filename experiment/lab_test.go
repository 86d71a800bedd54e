package experiment

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/report"
	"wirelab/internal/testkit"
)

func mustRun(t *testing.T, c *config.Config, opt RunOptions) *report.Report {
	t.Helper()
	r := must(Run(context.Background(), c, opt))
	return r
}

// A saved report and its experiment.toml repeat the run; a modified or truncated report does not.
func TestReplayOfSavedRun(t *testing.T) {
	dir := t.TempDir()
	c := labtest.QuickConfig(t)
	c.Shadows = []config.Encoder{{Name: "raw"}}
	saved := mustRun(t, c, RunOptions{Dir: dir}).Runs[0]
	again := must(config.LoadFile(filepath.Join(dir, "experiment.toml")))
	replayed, repeated := checkReplay(t, dir)[0], mustRun(t, again, RunOptions{}).Runs[0].Digests()
	if replayed != saved.Digests() || repeated != replayed {
		t.Errorf("experiment.toml runs something else than the report:\n%+v\n%+v", again.Values(), c.Values())
	}
	text := readFile(t, dir, "report.json")
	forged := strings.Replace(text, `"value": "20%"`, `"value": "21%"`, 1)
	if forged == text {
		t.Fatal("the change is not in the report")
	}
	if got, err := Replay(t.Context(), writeFile(t, "report.json", forged), RunOptions{}); err != nil || got.Same {
		t.Errorf("a forged report passes: %+v, %v", got, err)
	}
	_, err := Replay(t.Context(), writeFile(t, "report.json", text[:len(text)/2]), RunOptions{})
	if err == nil || !strings.Contains(err.Error(), "is incomplete") {
		t.Errorf("half a report: %v", err)
	}
}

// The runs of a sweep are those of its points by themselves.
func TestSweepEqualsSeparateRuns(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.Duration = 3 * time.Second
	c.Sweep = []config.Axis{{Key: "encoder.name", Values: []any{"raw", "quantized"}}, {Key: "down.loss", Values: []any{"0%", "30%"}}}
	dir := t.TempDir()
	var last float64
	runs := mustRun(t, c, RunOptions{Dir: dir, Progress: func(done, total float64) { last = done / total }}).Runs
	if len(runs) != 4 || last != 1 {
		t.Fatalf("%d runs, progress %g", len(runs), last)
	}
	replayed := checkReplay(t, dir)
	for i, got := range runs {
		alone := c.Clone()
		alone.Sweep = nil
		encoder, loss := c.Sweep[0].Values[i/2], c.Sweep[1].Values[i%2]
		testkit.Set(t, alone, "encoder.name", encoder, "down.loss", loss)
		want := mustRun(t, alone, RunOptions{}).Runs[0].Digest
		if got.Digest != want || replayed[i] != want || got.Set["down.loss"] != loss || got.Set["encoder.name"] != encoder {
			t.Errorf("run %d (%v) differs from running it alone", i, got.Set)
		}
	}
}

func TestInterruptedRunIsSaved(t *testing.T) {
	c := labtest.QuickConfig(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Run(ctx, c, RunOptions{Dir: dir, Progress: func(done, _ float64) {
		if done > 1 {
			cancel()
		}
	}})
	if err != nil || !r.Interrupted || r.Runs[0].Totals.Sent == 0 || r.Runs[0].DurationS >= 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	checkReplay(t, filepath.Join(dir, "report.json"))
}

// A clock that goes back during a run delays neither the run nor its saves, and timings are never
// negative.
func TestRunWithJumpingClock(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.Duration = 3 * time.Second
	at, looks := time.Duration(0), 0
	clock := func() time.Duration {
		looks++
		switch at += 20 * time.Millisecond; {
		case looks%97 == 0:
			at -= time.Hour
		case looks%89 == 0:
			at += 2 * time.Hour
		}
		return at
	}
	r := mustRun(t, c, RunOptions{Clock: clock, Dir: filepath.Join(t.TempDir(), "out")}).Runs[0]
	want := mustRun(t, c, RunOptions{}).Runs[0]
	if r.Digest != want.Digest || r.Timing.EncodeUS.P50 < 0 || r.Timing.DecodeUS.P50 < 0 {
		t.Errorf("digests %s and %s, timing %+v", r.Digest, want.Digest, r.Timing)
	}
}

// A script cannot change the seed.
func TestScriptedSeed(t *testing.T) {
	scripted := labtest.QuickConfig(t)
	scripted.At = []config.StampedChange{config.Stamp(time.Second, config.NewChange("seed", 5))}
	if _, err := Run(t.Context(), scripted, RunOptions{}); err == nil {
		t.Error("a script set the seed on the way")
	}
}
