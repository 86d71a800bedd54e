package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wirelab/internal/testkit"
)

// A guessed schema plays without a change: walkoff and run accept it, and both formats of the log give the same frames.
func TestInferPlaysAtOnce(t *testing.T) {
	dir := t.TempDir()
	csv, lines := testkit.TankGame(3, 60)
	var digests []string
	for name, content := range map[string][]byte{"tanks.csv": csv, "tanks.jsonl": lines} {
		log, schema := filepath.Join(dir, name), filepath.Join(dir, name+".toml")
		write(t, log, string(content))
		o := tui("datasets infer", log)
		if o.code != 0 || !strings.HasPrefix(o.stderr, "tui: 60 frames of ") || !strings.HasPrefix(o.stdout, "# Guessed from "+name) {
			t.Fatalf("exit %d, %q, %q", o.code, o.stdout, o.stderr)
		}
		write(t, schema, o.stdout)
		spec := "table:" + schema + "," + log
		o = tui("walkoff --data", spec, "--json", "--quiet")
		var doc struct {
			Dataset struct{ SHA256 string }
			Results []struct{ Lossless bool }
		}
		document(t, o.stdout, &doc)
		if o.code != 0 || len(doc.Results) != 1 || !doc.Results[0].Lossless {
			t.Errorf("walkoff: exit %d, %s%s", o.code, o.stdout, o.stderr)
		}
		digests = append(digests, doc.Dataset.SHA256)
		if o = tui("run --data", spec, "--set", "duration=2s", "--quiet"); o.code != 0 || !regexp.MustCompile(`\nwrong packets +0\n`).MatchString(o.stdout) {
			t.Errorf("run: exit %d, %s%s", o.code, o.stdout, o.stderr)
		}
	}
	if digests[0] != digests[1] || digests[0] == "" {
		t.Errorf("the formats give other frames: %q", digests)
	}
	for _, args := range [][]string{{}, {"none.csv"}, {dir}, {"a", "b"}} {
		if o := tui("datasets infer", args...); o.code != exitUsage || o.stdout != "" || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%q: exit %d, %q, %q", args, o.code, o.stdout, o.stderr)
		}
	}
}
