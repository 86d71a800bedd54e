//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSweepWatch watches a sweep, opens a point as a live session and returns, quits before the end of the sweep,
// and continues it with --resume. The folder of a finished sweep is free.
func TestSweepWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "grid.toml"), filepath.Join(dir, "out")
	text := "duration = \"60s\"\n[encoder]\nname = \"changed-index\"\n[[sweep]]\nkey = \"down.loss\"\nvalues = [\"0%\", \"20%\"]\n" +
		"[[sweep]]\nrepeat = 400\n"
	write(t, file, text)
	watch := func(args ...string) *session {
		s := newSession(t, append([]string{"sweep", "--watch", "--jobs", "1"}, args...)...)
		s.start(24, 80)
		s.see("RUNNING")
		return s
	}
	s := watch(file, "--out", out)
	s.gone("", "seeds 0 of 400") // the first results
	s.after("?", "━ Help")
	s.gone("?", "━ Help")
	s.after("\r", "point of the sweep: downlink loss 0%") // a live session, while the sweep continues
	s.after("q", "RUNNING")
	s.after("w", filepath.Join(out, "ranking.csv"))
	s.press("qy")
	if code := s.end(); code != exitDone || !strings.Contains(s.stderr.String(), "ended by q after ") || !strings.Contains(s.stderr.String(), "--resume "+out) {
		t.Errorf("left before the end: exit code %d, %q", code, s.stderr.String())
	}
	s = watch("--resume", out)
	s.see("Sweep grid ")         // the name of the file, not of the folder
	s.gone("", "seeds 0 of 400") // earlier results are on the screen
	s.press("\x03")
	s.ends(exitInterrupted)
	done := filepath.Join(dir, "done")
	s = watch("--set", "duration=1s", "--repeat", "2", "--out", done)
	s.see("FINISHED")
	if o := tui("", "sweep", "--resume", done); o.code != exitDone { // while the screen stays
		t.Errorf("a finished sweep: exit code %d, %q", o.code, o.stderr)
	}
	s.press("q")
	s.ends(exitDone)
}
