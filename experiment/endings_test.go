package experiment

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile/faultfs"
	"wirelab/internal/panics"
	"wirelab/internal/testkit"
	"wirelab/internal/wallclock"
)

// seedSweep returns a short sweep over seeds.
func seedSweep(t *testing.T, seeds ...any) *config.Config {
	t.Helper()
	c := config.Default()
	c.Data.Source, c.Data.Cubes, c.Encoder.Name, c.Duration = labtest.WriteRecording(t, 20, 60), 20, "quantized", 300*time.Millisecond
	c.Sweep = []config.Axis{{Key: "seed", Values: seeds}}
	return c
}

// The replay of an interrupted sweep, whose report says so, repeats the finished runs and is not the same.
func TestInterruptedSweep(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Run(ctx, seedSweep(t, int64(1), int64(2), int64(3), int64(4)), RunOptions{Dir: dir, Workers: 1, Clock: labtest.WallClock(),
		Progress: func(done, _ float64) {
			if done > 0.35 { // the first run is complete, the second has begun
				cancel()
			}
		}})
	if err != nil || !r.Interrupted || r.Reason != engine.Interrupted || r.Planned != 4 || len(r.Runs) >= 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	if page := readFile(t, dir, "report.md"); !strings.Contains(page, "1 of 4 runs") {
		t.Errorf("report.md does not mention it:\n%s", page)
	}
	again, err := Replay(t.Context(), dir, RunOptions{})
	if err != nil || again.Same || again.Planned != 4 || len(again.Runs) == 0 || !again.Runs[0].Same ||
		!strings.Contains(again.Missing, "1 of 4 runs are complete: the sweep was interrupted") {
		t.Errorf("%+v, %v", again, err)
	}
}

// truncatedRecording truncates a recording in the middle of a frame.
func truncatedRecording(t *testing.T) string {
	t.Helper()
	data := must(os.ReadFile(labtest.WriteRecording(t, 20, 60)))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	noError(t, w.Flush())
	return writeFile(t, "crowd.bin.gz", packed.String()[:packed.Len()*2/3])
}

// A report contains the reason of the end, the error and the results so far, also if reading the
// data fails.
func TestReasonOfEnding(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	recording := labtest.WriteRecording(t, 20, 60)
	for why, c := range map[engine.Ending]struct {
		ctx    context.Context
		data   string
		assert string
		fails  string
	}{
		engine.Finished:    {t.Context(), recording, "> 0", ""},
		engine.Unmet:       {t.Context(), recording, "< 0", ""},
		engine.Interrupted: {done, recording, "> 0", ""},
		engine.BadData:     {t.Context(), truncatedRecording(t), "> 0", "truncated"},
	} {
		for planned := range 2 {
			x := config.Default()
			testkit.Set(t, x, []any{"data.source", c.data, "data.cubes", 20, "encoder.name", "quantized", "assert.payload_kbps", c.assert}...)
			if planned > 0 {
				x.Sweep = []config.Axis{{Key: "seed", Values: []any{int64(1), int64(2)}}}
			}
			dir := t.TempDir()
			r, err := Run(c.ctx, x, RunOptions{Dir: dir, Workers: 1})
			var doc report.Report
			noError(t, json.Unmarshal([]byte(readFile(t, dir, "report.json")), &doc))
			for _, r := range []*report.Report{r, &doc} {
				if r.Reason != why || r.Planned != 1+planned || r.Interrupted != (why == engine.Interrupted) ||
					(r.Error == "") != (c.fails == "") || !strings.Contains(r.Error, c.fails) || (r.Error == "") != (err == nil) {
					t.Errorf("%s, sweep %d: %+v, %v", why, planned, r, err)
				}
			}
		}
	}
}

// A panic in a run of a sweep cancels the runs that have not ended, and is the error of the sweep.
func TestPanicCancelsSweep(t *testing.T) {
	begun := 0 // with one worker, runs are executed one after the other
	progress := func(done, _ float64) {
		if done > 0 {
			begun++
			panic("boom")
		}
	}
	r, err := Run(t.Context(), seedSweep(t, int64(1), int64(2), int64(3), int64(4)), RunOptions{Workers: 1, Clock: labtest.WallClock(), Progress: progress})
	var bug *panics.Error
	if !errors.As(err, &bug) || bug.Value != "boom" || !strings.Contains(err.Error(), "TestPanicCancelsSweep") {
		t.Fatalf("%v, want the panic with its stack", err)
	}
	if begun != 1 || len(r.Runs) != 0 || r.Planned != 4 {
		t.Errorf("%d runs began after the panic, %d of %d are in the report", begun-1, len(r.Runs), r.Planned)
	}
}

// A folder with results is replaced completely by the report of another run, if Force is set.
func TestFolderWithOtherFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	c := seedSweep(t, int64(1), int64(2))
	mustRun(t, c, RunOptions{Dir: dir})
	before, _ := faultfs.Tree(t, dir)
	if len(before) != 5+2*6 {
		t.Fatalf("%d files", len(before))
	}
	single := c.Clone()
	single.Sweep = nil
	_, err := Run(t.Context(), single, RunOptions{Dir: dir})
	var bad *config.Error
	if !errors.As(err, &bad) || bad.Key != "out" || !strings.Contains(err.Error(), "holds the results of another run; expected") {
		t.Errorf("into a used folder: %v", err)
	}
	if after, _ := faultfs.Tree(t, dir); !maps.Equal(before, after) {
		t.Error("what was there has changed")
	}
	mustRun(t, single, RunOptions{Dir: dir, Force: true})
	if after, left := faultfs.Tree(t, dir); len(after) != 6 || len(left) > 0 {
		t.Errorf("%d files are there, %v left", len(after), left)
	}
}

// steppingClock is a clock that advances at each reading, so that reports are saved often.
func steppingClock(step time.Duration) wallclock.Clock {
	now := time.Duration(0)
	return wallclock.Clock(func() time.Duration { now += step; return now }).Steady()
}

// checkConsistent returns an error if the files of a folder are not all of the same moment of the same
// run.
func checkConsistent(files map[string]string, at string) string {
	var run engine.Result
	if err := json.Unmarshal([]byte(files[at+"report.json"]), &run); err != nil {
		return at + "report.json: " + err.Error()
	}
	for _, name := range []string{"report.md", "samples.csv", "packets.csv", "experiment.toml"} {
		if files[at+name] == "" {
			return at + name + " is not there"
		}
	}
	for _, name := range []string{"report.md", "report.html"} {
		if !strings.Contains(files[at+name], run.Digest) {
			return at + name + " is of another moment than report.json"
		}
	}
	if rows := strings.Count(files[at+"packets.csv"], "\n") - 1; int64(rows) < run.Totals.Sent {
		return at + "packets.csv is of another moment than report.json"
	}
	return ""
}

// Whatever operation on the disk fails, the folder of a run contains either the results of the run
// before or a complete report of this run.
func TestRunFaults(t *testing.T) {
	t.Parallel()
	old, c := config.Default(), config.Default()
	c.Data.Source, c.Data.Cubes = labtest.WriteRecording(t, 4, 60), 4
	c.Encoder.Name, c.Duration = "quantized", 400*time.Millisecond
	old.Data, old.Encoder.Name, old.Duration, old.Seed = c.Data, "raw", 200*time.Millisecond, 5
	opt := func() RunOptions { return RunOptions{Clock: steppingClock(40 * time.Millisecond)} }
	n := runWithFaults(t, old, c, opt, func(t *testing.T, files map[string]string, _ bool) {
		if bad := checkConsistent(files, "out/"); bad != "" || len(files) != 6 ||
			strings.Contains(files["out/experiment.toml"], `name = 'raw'`) {
			t.Errorf("%s; %d files", bad, len(files))
		}
	})
	if n < 30 {
		t.Errorf("only %d operations", n)
	}
}

// runWithFaults runs c over the results of old, once for each operation that can fail, and returns the
// number of operations. It checks the files that are left, and calls changed to check files that
// are not those of old; complete reports whether the run ended without an error or a crash.
func runWithFaults(t *testing.T, old, c *config.Config, options func() RunOptions,
	changed func(t *testing.T, files map[string]string, complete bool)) int {
	t.Helper()
	template := t.TempDir()
	mustRun(t, old, RunOptions{Dir: filepath.Join(template, "out")})
	return faultfs.Each(t, func(t *testing.T, d *faultfs.Failing, crash bool) {
		root, opt := t.TempDir(), options()
		opt.Dir, opt.Force, opt.Disk = filepath.Join(root, "out"), true, &d.Disk
		noError(t, os.CopyFS(root, os.DirFS(template)))
		before, _ := faultfs.Tree(t, root)
		_, err := Run(t.Context(), c, opt)
		files, left := faultfs.Tree(t, root)
		check(t, err, opt.Dir, left, crash)
		if !maps.Equal(files, before) {
			changed(t, files, err == nil && !crash)
		}
	})
}

// check checks the error of a failed operation, and the files that are left.
func check(t *testing.T, err error, dir string, left []string, crash bool) {
	t.Helper()
	if err != nil && (!strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), faultfs.Cause.Error())) {
		t.Errorf("%v does not name %s and the cause", err, dir)
	}
	if !crash && len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Whatever operation fails, all runs that the report of a sweep lists are complete.
func TestSweepFaults(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Data.Source, c.Data.Cubes, c.Encoder.Name, c.Duration = labtest.WriteRecording(t, 4, 30), 4, "quantized", 100*time.Millisecond
	old := c.Clone()
	c.Sweep = []config.Axis{{Key: "seed", Values: []any{int64(1), int64(2)}}}
	old.Sweep = []config.Axis{{Key: "down.loss", Values: []any{"50%", "60%", "70%"}}}
	opt := func() RunOptions { return RunOptions{Workers: 1} }
	n := runWithFaults(t, old, c, opt, func(t *testing.T, files map[string]string, complete bool) {
		var doc struct{ Runs []engine.Result }
		noError(t, json.Unmarshal([]byte(files["out/report.json"]), &doc))
		for name, text := range files {
			if strings.Contains(text, "down.loss") && name != "out/report.md" {
				t.Errorf("%s is of the run before", name)
			}
			if at, found := strings.CutSuffix(name, "report.json"); found && at != "out/" {
				if bad := checkConsistent(files, at); bad != "" {
					t.Error(bad)
				}
			}
		}
		for i := range doc.Runs {
			if files["out/run-00"+string(rune('1'+i))+"/report.json"] == "" && complete {
				t.Errorf("run %d is listed and not there", i+1)
			}
		}
	})
	if n < 40 {
		t.Errorf("only %d operations", n)
	}
}
