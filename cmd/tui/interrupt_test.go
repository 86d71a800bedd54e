package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"wirelab/experiment/engine"
)

// cancelled returns a context that is already cancelled by a signal.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestInterrupted checks that interrupted commands exit with 130, print one line and leave no
// incomplete file.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"run":     {"run", "--set", "duration=10s"},
		"walkoff": {"walkoff", "--data", "demo", "--audit"},
		"tune":    {"tune", "--data", "demo", "--field", "position"},
		"record":  {"record", "--out", filepath.Join(dir, "a.bin")},
	} {
		o := tuiIn(cancelled(), metronome(), args...)
		if o.code != exitInterrupted || o.stderr != "tui: interrupted\n" {
			t.Errorf("%s: exit %d, stderr %q", name, o.code, o.stderr)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestInterruptedRunIsSaved checks that an interrupted run can be replayed from its report and
// from its configuration.
func TestInterruptedRunIsSaved(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick, reads := metronome(), 0
	clock := func() time.Duration {
		if reads++; reads == 500 { // the clock is read during the run, because encoders are timed
			cancel()
		}
		return tick()
	}
	dir := filepath.Join(t.TempDir(), "report")
	o := tuiIn(ctx, clock, "run", "--set", "duration=60s", "--out", dir, "--json", "--quiet")
	if o.code != exitInterrupted {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	var report engine.Result
	document(t, o.stdout, &report)
	if !report.Interrupted || report.Frames == 0 || report.DurationS >= 60 {
		t.Errorf("interrupted %v after %d frames, %v s", report.Interrupted, report.Frames, report.DurationS)
	}
	done(t, "replay", filepath.Join(dir, "report.json"))
	again := tui("run", filepath.Join(dir, "experiment.toml"), "--json")
	var repeated engine.Result
	if document(t, again.stdout, &repeated); repeated.Digest != report.Digest {
		t.Errorf("experiment.toml gives digest %s, the report has %s", repeated.Digest, report.Digest)
	}
}

// TestRecord checks the contents of a recording, and that the same seed gives the same bytes.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	var sums []string
	for _, name := range []string{"a.bin", "b.bin.zst", "c.bin.gz"} {
		path := filepath.Join(dir, name)
		if o := tui("record --out", path, "--seconds", "0.5", "--seed", "5"); o.code != exitDone || o.stdout != "" {
			t.Fatalf("exit %d, stdout %q, stderr %q", o.code, o.stdout, o.stderr)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		records, err := decompress(f)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(records)
		if err != nil || len(raw) != (6+30)*901*8*4 {
			t.Errorf("%s: %d bytes, %v, want 36 frames of 901 cubes", name, len(raw), err)
		}
		sums = append(sums, string(raw))
	}
	if sums[0] != sums[1] || sums[0] != sums[2] {
		t.Errorf("one seed, different recordings")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("%d files in the folder, want 3: %v", len(left), err)
	}
}
