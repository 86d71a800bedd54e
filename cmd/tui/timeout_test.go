package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTimeout checks that --timeout ends a run with a message and saves what was measured.
func TestTimeout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "long.toml")
	write(t, file, "duration = \"20h\"\ndata.source = \"world\"\n[sweep]\nrepeat = 2\n")
	o := tui("run --set duration=20h --set data.source=world --timeout 300ms --out", filepath.Join(dir, "run"), "--json")
	var doc struct {
		Reason      string
		Interrupted bool
		Totals      struct{ Sent int64 }
	}
	document(t, o.stdout, &doc)
	if o.code != exitFailed || doc.Reason != "interrupted" || !doc.Interrupted || doc.Totals.Sent == 0 ||
		!strings.Contains(o.stderr, "longer than --timeout 300ms") {
		t.Errorf("exit %d, %+v, %s", o.code, doc, o.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "run", "report.json")); err != nil {
		t.Error(err)
	}
	o = tui("sweep", file, "--timeout", "300ms", "--out", filepath.Join(dir, "sweep"))
	checkErr(t, o, exitFailed, "longer than --timeout 300ms", "--resume")
	for _, command := range []string{"run", "sweep"} {
		checkErr(t, tui("", command, file, "--timeout", "-1s"), exitUsage, "expected a time")
	}
}
