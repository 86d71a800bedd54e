package main

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/internal/atomicfile"
)

// TestRankingFile checks that the ranking of a sweep is written to a new file, whose whole path is returned.
func TestRankingFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	a := &app{disk: new(atomicfile.Disk)}
	for _, want := range []string{"ranking.csv", "ranking-2.csv"} {
		path, err := a.writeNewCSV("ranking", func(io.Writer) error { return nil })
		if err != nil || path != filepath.Join(dir, want) {
			t.Errorf("%q, %v; expected %s", path, err, want)
		}
	}
}

// TestSweepCommand checks that a sweep gives the same results on the cores of this machine,
// through its own server, and when it is continued after an interruption.
func TestSweepCommand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "grid.toml")
	text := "duration = \"200ms\"\n[encoder]\nname = \"changed-index\"\n[[sweep]]\nkey = \"down.loss\"\nvalues = [\"0%\", \"20%\"]\n"
	write(t, file, text)
	type doc struct {
		Planned, Done, Repeat int
		Digest, Reason        string
		Points                []struct {
			Set     map[string]string
			Figures map[string]struct{ N int }
		}
	}
	read := func(args ...string) (d doc) {
		t.Helper()
		o := done(t, "sweep --json", args...)
		if err := json.Unmarshal([]byte(o.stdout), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	out := filepath.Join(dir, "out")
	a := read(file, "--repeat", "3", "--out", out, "--verify", "50%")
	if a.Planned != 6 || a.Done != 6 || a.Repeat != 3 || a.Reason != "finished" || a.Points[1].Set["down.loss"] != "20%" ||
		a.Points[1].Figures["payload_kbps"].N != 3 {
		t.Errorf("%+v", a)
	}
	bench, junit := filepath.Join(dir, "b.txt"), filepath.Join(dir, "j.xml")
	if b := read("--resume", out, "--bench", bench, "--junit", junit); b.Digest != a.Digest {
		t.Error("resumed: another digest")
	}
	for path, want := range map[string]string{bench: "BenchmarkRun/encoder=changed-index/loss=20% 1 ", junit: "<testsuite "} {
		if data, err := os.ReadFile(path); err != nil || strings.Count(string(data), want) < 3 {
			t.Errorf("%s: %v, expected %q for each seed:\n%s", path, err, want, data)
		}
	}
	if b := read(file, "--repeat", "3", "--serve", "127.0.0.1:0", "--jobs", "1"); b.Digest != a.Digest {
		t.Error("through a server: another digest")
	}
	checkErr(t, tui("sweep", file, "--out", out), exitUsage, "--resume")
	checkErr(t, tui("worker --queue nats://127.0.0.1:1"), exitMachine, "the queue cannot be reached")
	for _, args := range [][]string{{"sweep", file, "--watch"}, {"sweep", file, "--watch", "--json"}} {
		if o := tui("", args...); o.code != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, "--watch") {
			t.Errorf("%v without a terminal: exit code %d, %q", args, o.code, o.stderr)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if o := tui("sweep", file, "--serve", l.Addr().String()); o.code != exitMachine || o.stdout != "" {
		t.Errorf("a port that is taken: exit code %d, %q", o.code, o.stderr)
	}
	checkOut(t, tui("sweep", file, "--set", "assert.decoded=> 11"), exitFailed, "20%")
}
