package main

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wirelab/encoders/train"
	"wirelab/internal/atomicfile/faultfs"
)

// tuiOn runs the program on a disk that fails.
func tuiOn(d *faultfs.Failing, args ...string) outcome {
	var stdout, stderr bytes.Buffer
	a := testApp()
	a.stdout, a.stderr, a.disk = newOutput(&stdout), &stderr, &d.Disk
	a.trainers = []train.Trainer{pupil("one", nil)}
	code := a.run(context.Background(), args)
	return outcome{code, stdout.String(), stderr.String()}
}

// TestWritersOnAFailingDisk makes each file operation fail in turn. A command that writes must
// leave either the old or the new file and no other file, name the file and the reason, and not
// exit with 0.
func TestWritersOnAFailingDisk(t *testing.T) {
	old, new := twoFiles(t)
	delta := filepath.Join(t.TempDir(), "patch")
	done(t, "patch make", old, new, delta)
	recording := short(t, 1, 901)
	for name, c := range map[string]struct {
		args  []string
		file  string // relative path that the command writes
		fresh bool   // whether the file is new
	}{
		"record":      {[]string{"record", "--out", "a.bin.zst", "--seconds", "0.1"}, "a.bin.zst", false},
		"patch make":  {[]string{"patch", "make", old, new, "a.patch"}, "a.patch", false},
		"patch apply": {[]string{"patch", "apply", old, delta, "a.new"}, "a.new", false},
		"train":       {[]string{"train", "--data", recording, "--encoder", "one", "--out", "nets"}, "nets/one.net", true},
		"run":         {[]string{"run", "--data", recording, "--set", "duration=100ms", "--out", "results"}, "results/report.json", true},
		"run --force": {[]string{"run", "--data", recording, "--set", "duration=100ms", "--out", "results", "--force"},
			"results/report.json", false},
	} {
		t.Run(name, func(t *testing.T) {
			var complete map[string]string
			faultfs.Each(t, func(t *testing.T, d *faultfs.Failing, crash bool) {
				root := t.TempDir()
				t.Chdir(root)
				if !c.fresh {
					if err := os.MkdirAll(filepath.Dir(c.file), 0o755); err != nil {
						t.Fatal(err)
					}
					write(t, c.file, "old")
				}
				before, _ := faultfs.Tree(t, root)
				if complete == nil {
					o := tuiOn(faultfs.FailAt(0, false), c.args...)
					complete, _ = faultfs.Tree(t, root)
					if o.code != exitDone || len(complete) == 0 {
						t.Fatalf("exit %d: %s", o.code, o.stderr)
					}
					for name := range complete {
						_ = os.Remove(name)
					}
					for name, text := range before {
						write(t, name, text)
					}
				}
				o := tuiOn(d, c.args...)
				files, left := faultfs.Tree(t, root)
				isNew := len(files) == len(complete) && files[c.file] != "old"
				for name := range complete {
					isNew = isNew && files[name] != ""
				}
				if !isNew && !maps.Equal(files, before) {
					t.Errorf("neither old nor new: %d files", len(files))
				}
				onlyUnlocks := filepath.Base(d.Path) == ".wirelab-lock" // the last operation, after the results are complete
				if o.code == exitDone && (!isNew || d.Op != "" && crash && !onlyUnlocks) {
					t.Errorf("exit 0, new %v", isNew)
				}
				if !crash && len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
				first, _, _ := strings.Cut(c.file, "/")
				if o.code != exitDone && (!strings.Contains(o.stderr, first) || !strings.Contains(o.stderr, faultfs.Cause.Error())) {
					t.Errorf("exit %d, %q: neither file nor cause", o.code, o.stderr)
				}
			})
		})
	}
}

// TestFullDiskPrintsNoFolder makes each file operation of a sweep and of a search fail in turn, and checks
// that "results in DIR" is printed exactly if the results are there.
func TestFullDiskPrintsNoFolder(t *testing.T) {
	recording := short(t, 1, 901)
	config := filepath.Join(t.TempDir(), "x.toml")
	write(t, config, `duration = "100ms"
[search]
minimise = "payload_kbps"
runs = 10
seeds = 2
[search.over]
"sender.every" = [1, 2]
`)
	for name, args := range map[string][]string{
		"sweep":  {"sweep", config, "--data", recording, "--repeat", "2"},
		"search": {"search", config, "--data", recording},
	} {
		t.Run(name, func(t *testing.T) {
			faultfs.Each(t, func(t *testing.T, d *faultfs.Failing, _ bool) {
				dir := filepath.Join(t.TempDir(), "out")
				o := tuiOn(d, append(args, "--jobs", "1", "--out", dir)...)
				if named := strings.Contains(o.stderr, "results in "+dir); named != (o.code == exitDone) || !named && d.Op == "" {
					t.Errorf("exit %d: %s", o.code, o.stderr)
				}
			})
		})
	}
}

// TestTraceToAFullDisk checks that tui links trace reports a write error of its output after any
// number of bytes.
func TestTraceToAFullDisk(t *testing.T) {
	args := []string{"links", "trace", "--profile", "lte", "--packets", "2000"}
	size := len(tui("", args...).stdout)
	for n := 0; n < size; n += size / 40 {
		var stderr bytes.Buffer
		a := testApp()
		a.stdout, a.stderr = newOutput(&failing{n, syscall.ENOSPC}), &stderr
		if code := a.run(context.Background(), args); code == exitDone ||
			!strings.Contains(stderr.String(), "standard output: no space left") {
			t.Errorf("after %d bytes: exit %d, %q", n, code, stderr.String())
		}
	}
}

// TestJSONReaderLeaves checks that a reader who closes the pipe early changes neither the exit
// code nor the report, and causes no message.
func TestJSONReaderLeaves(t *testing.T) {
	recording := short(t, 1, 901)
	for bound, code := range map[string]int{"> 0": exitDone, "< 0": exitFailed} {
		for _, sweep := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "out")
			args := []string{"run", "--data", recording, "--set", "duration=100ms", "--set", "assert.payload_kbps=" + bound, "--json",
				"--quiet", "--out", dir}
			if sweep {
				args = append(args, "--set", "sweep[0].key=seed", "--set", "sweep[0].values=[1,2,3,4,5,6,7,8]")
			}
			var stderr bytes.Buffer
			a := testApp()
			a.stdout, a.stderr = newOutput(&failing{10, syscall.EPIPE}), &stderr
			if got := a.run(context.Background(), args); got != code || strings.Contains(stderr.String(), "pipe") {
				t.Errorf("exit %d, want %d: %s", got, code, stderr.String())
			}
			if _, err := os.Stat(filepath.Join(dir, "report.json")); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestJSONOfBadData checks that a run whose data fails prints what was measured as JSON, with the
// reason why it ended.
func TestJSONOfBadData(t *testing.T) {
	dir := t.TempDir()
	o := tui("record --out", filepath.Join(dir, "a.bin.gz"), "--seconds", "2")
	data, err := os.ReadFile(filepath.Join(dir, "a.bin.gz"))
	if err != nil || o.code != exitDone {
		t.Fatal(err, o.stderr)
	}
	path := filepath.Join(dir, "cut.bin.gz")
	write(t, path, string(data[:len(data)*9/10]))
	for _, more := range [][]string{nil, {"--set", "sweep[0].key=seed", "--set", "sweep[0].values=[1,2]"}} {
		o := tui("", append([]string{"run", "--data", path, "--json", "--out", filepath.Join(t.TempDir(), "out")}, more...)...)
		var doc struct {
			Planned int    `json:"planned"`
			Reason  string `json:"reason"`
			Error   string `json:"error"`
		}
		document(t, o.stdout, &doc)
		if o.code != exitUsage || doc.Reason != "data" || doc.Planned != 1+len(more)/4 || !strings.Contains(o.stderr, doc.Error) ||
			doc.Error == "" {
			t.Errorf("exit %d, %+v, %s", o.code, doc, o.stderr)
		}
	}
}

// TestFoldersAndReplays checks the errors for a used folder, and replays of incomplete, complete
// and empty sweeps.
func TestFoldersAndReplays(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	args := []string{"run", "--set", "duration=200ms", "--encoder", "raw", "--quiet", "--out", "out"}
	done(t, "", args...)
	if o := tui("", args...); o.code != exitUsage ||
		!strings.HasPrefix(o.stderr, "tui: out: out holds the results of another run; expected an empty folder") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	done(t, "", append(args, "--force")...)
	write(t, "empty.json", `{"runs":[]}`)
	if o := tui("replay empty.json --json"); o.code != exitUsage || o.stdout != "" ||
		!strings.Contains(o.stderr, "empty.json: contains no runs") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	report := read(t, "out/report.json")
	write(t, "part.json", `{"planned":3,"reason":"interrupted","interrupted":true,"runs":[`+string(report)+`]}`)
	o := tui("replay part.json")
	if o.code != exitFailed || !strings.HasPrefix(o.stdout, "same bytes: ") ||
		o.stderr != "tui: part.json: 1 of 3 runs are complete: the sweep was interrupted\n" {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	var doc struct{ Same bool }
	if document(t, tui("replay part.json --json").stdout, &doc); doc.Same {
		t.Error("a part counts as the same")
	}
}

var _ io.Writer = (*failing)(nil)
