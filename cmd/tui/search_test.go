package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSearchKeepsBounds checks that best.toml is written, and the exit code 0, only if a setting keeps the bounds; and
// that best.toml of an earlier search does not remain.
func TestSearchKeepsBounds(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "found")
	for _, x := range []struct {
		bound          string
		code           int
		stdout, report string
	}{
		{"playout.starved_ratio <= 1%", exitDone, "ok: playout.starved_ratio 0", `class="verdict passed"`},
		{"payload_kbps <= 1", exitFailed, "breaks: payload_kbps", `class="verdict failed"`},
	} {
		file := filepath.Join(dir, "search.toml")
		text := "duration = \"1s\"\ndata.source = \"rpc\"\n[search]\nminimise = \"wire_kbps\"\nsubject_to = [\"wrong == 0\", \"" + x.bound +
			"\"]\nseeds = 2\n[search.over]\n\"sender.every\" = [1, 2]\n"
		write(t, file, text)
		o := tui("search", file, "--out", out, "--force")
		checkOut(t, o, x.code, x.stdout)
		if x.code == exitFailed && !strings.Contains(o.stderr, "No setting that was tried keeps all bounds") {
			t.Errorf("%s: no reason: %s", x.bound, o.stderr)
		}
		page, err := os.ReadFile(filepath.Join(out, "report.html"))
		if err != nil || !strings.Contains(string(page), x.report) {
			t.Errorf("%s: the page, %v", x.bound, err)
		}
		best, err := os.ReadFile(filepath.Join(out, "best.toml"))
		if (err == nil) != (x.code == exitDone) || err == nil && !strings.Contains(string(best), "every = 2") {
			t.Errorf("%s: best.toml, %v:\n%s", x.bound, err, best)
		}
		if o = tui("run", filepath.Join(out, "best.toml")); (o.code == exitDone) != (x.code == exitDone) {
			t.Errorf("%s: run best.toml: exit %d, %s", x.bound, o.code, o.stderr)
		}
	}
}
