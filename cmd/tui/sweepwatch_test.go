//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSweepWatch watches a sweep, opens a point as a live session and returns, quits before the end of the sweep,
// and continues it with --resume.
func TestSweepWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "grid.toml"), filepath.Join(dir, "out")
	text := "duration = \"60s\"\n[encoder]\nname = \"changed-index\"\n[[sweep]]\nkey = \"down.loss\"\nvalues = [\"0%\", \"20%\"]\n" +
		"[[sweep]]\nrepeat = 400\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	watch := func(args ...string) *session {
		s := &session{t: t, read: make(chan struct{})}
		s.cmd = exec.Command(os.Args[0], append([]string{"sweep", "--watch", "--jobs", "1"}, args...)...)
		s.cmd.Env = append(os.Environ(), programEnv+"=1", "TERM=tmux-256color")
		s.cmd.Stderr = &s.stderr
		s.start(24, 80)
		s.see("RUNNING")
		return s
	}
	s := watch(file, "--out", out)
	s.gone("", "seeds 0 of 400") // the first results
	s.after("?", "Here: Sweep")
	s.gone("?", "Here: Sweep")
	s.after("\r", "LIVE") // the first point as a live session, while the sweep continues
	s.after("q", "RUNNING")
	if err := keys(s, "qd"); err != nil {
		t.Fatal(err)
	}
	if code := s.end(); code != exitInterrupted || !strings.Contains(s.stderr.String(), "--resume "+out) {
		t.Errorf("left before the end: exit code %d, %q", code, s.stderr.String())
	}
	s = watch("--resume", out)
	s.gone("", "seeds 0 of 400") // earlier results are on the screen
	if err := keys(s, "\x03"); err != nil {
		t.Fatal(err)
	}
	if code := s.end(); code != exitInterrupted {
		t.Errorf("ended by Ctrl-C: exit code %d, %q", code, s.stderr.String())
	}
}
