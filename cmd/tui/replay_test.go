package main

import (
	"path/filepath"
	"strings"
	"testing"

	"wirelab/experiment"
)

// TestReplay checks that a saved sweep can be replayed, and that one changed bit of a digest
// gives exit code 1.
func TestReplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "report")
	done(t, "run --set duration=1s --set down.loss=10% --set sweep[0].key=seed --set sweep[0].values=[1,2] --out", dir)
	report := filepath.Join(dir, "report.json")
	o := tui("replay", report)
	if o.code != exitDone || !strings.HasPrefix(o.stdout, "seed=1: same bytes: ") || !strings.Contains(o.stdout, "\nseed=2: same bytes: ") {
		t.Errorf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}

	text := read(t, report)
	const key = `"digest": "`
	at := strings.LastIndex(string(text), key) + len(key)
	text[at] = map[bool]byte{true: '1', false: '0'}[text[at] == '0']
	write(t, report, string(text))
	o = tui("replay", report, "--json")
	var result experiment.ReplayResult
	document(t, o.stdout, &result)
	if o.code != exitFailed || result.Same || !result.Runs[0].Same || result.Runs[1].Same {
		t.Errorf("exit %d, %+v", o.code, result)
	}
	if !strings.HasPrefix(o.stderr, "tui: seed=2: different bytes: saved ") {
		t.Errorf("stderr %q", o.stderr)
	}
	const digestVersion = `"digest_version": 7`
	write(t, report, strings.ReplaceAll(string(text), digestVersion, `"digest_version": 6`))
	o = tui("replay", report)
	if want := "tui: " + report + ": was saved by another version of Wirelab, with format 2 and digest version 6; " +
		"expected format 2 and digest version 7\n"; o.code != exitFailed || o.stderr != want {
		t.Errorf("exit %d, stderr %q, want %q", o.code, o.stderr, want)
	}
	// The reason is the version of an encoder, if that is another one now.
	const version = `"relative-orientation": 1`
	if strings.Count(string(text), version) != 2 {
		t.Fatalf("the report has %d versions of the encoder", strings.Count(string(text), version))
	}
	write(t, report, strings.ReplaceAll(string(text), version, `"relative-orientation": 7`))
	o = tui("replay", report)
	if want := "tui: seed=2: the report is of version 7 of relative-orientation, but this program has version 1, whose packets differ\n"; o.code != exitFailed || o.stderr != want {
		t.Errorf("exit %d, stderr %q, want %q", o.code, o.stderr, want)
	}
}
