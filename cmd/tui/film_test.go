package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The recording of a replay has the same bytes every time, and a terminal that plays it shows the run: its clock,
// its encoder, and no time that was measured on this machine.
func TestReplayCast(t *testing.T) {
	dir := t.TempDir()
	saved := filepath.Join(dir, "report")
	if o := tui("run", "--preset", "demo", "--set", "duration=3s", "--out", saved); o.code != exitDone {
		t.Fatal(o.stderr)
	}
	read := func(name string, args ...string) []byte {
		path := filepath.Join(dir, name)
		if o := tui(append([]string{"replay", saved, "--cast", path, "--size", "120x36"}, args...)...); o.code != exitDone {
			t.Fatal(o.stderr)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	image := filepath.Join(dir, "last.svg")
	first, second := read("a.cast", "--image", image), read("b.cast")
	if !bytes.Equal(first, second) {
		t.Error("two recordings of one report differ")
	}
	screen := newVT(36, 120)
	lines := bufio.NewScanner(bytes.NewReader(first))
	lines.Buffer(nil, 1<<20)
	lines.Scan() // the header
	last := 0.0
	for lines.Scan() {
		var event [3]any
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		at := event[0].(float64)
		if at < last {
			t.Fatalf("an event at %v follows one at %v", at, last)
		}
		last = at
		if _, err := screen.Write([]byte(event[2].(string))); err != nil {
			t.Fatal(err)
		}
	}
	if last < 2.9 || last > 3.1 {
		t.Errorf("the recording of 3 s ends at %v s", last)
	}
	shown := screen.String()
	for _, want := range []string{"00:03.0", "relative-index", "Bandwidth"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing on the screen:\n%s", want, shown)
		}
	}
	if svg, err := os.ReadFile(image); err != nil || !bytes.Contains(svg, []byte("</svg>")) || !bytes.Contains(svg, []byte("00:03.0")) {
		t.Errorf("the image does not show the last frame; error %v", err)
	}
	if o := tui("replay", saved, "--cast", image); o.code != exitUsage || !strings.Contains(o.stderr, "exists") {
		t.Errorf("an existing file: exit %d, %s", o.code, o.stderr)
	}
}

// TestReplayCastOfACrowd checks that a film of a crowd shows page 8, and durations only with --measure.
func TestReplayCastOfACrowd(t *testing.T) {
	dir := t.TempDir()
	saved := filepath.Join(dir, "report")
	if o := tui("run", "--preset", "crowd", "--set", "duration=1s", "--set", "crowd.clients=5", "--out", saved); o.code != exitDone {
		t.Fatal(o.stderr)
	}
	for name, args := range map[string][]string{"untimed": nil, "timed": {"--measure", "--page", "8"}} {
		image := filepath.Join(dir, name+".svg")
		if o := tui(append([]string{"replay", saved, "--cast", filepath.Join(dir, name), "--size", "140x40", "--image", image}, args...)...); o.code != exitDone {
			t.Fatal(o.stderr)
		}
		svg, err := os.ReadFile(image)
		if err != nil || !bytes.Contains(svg, []byte("Encodings a tick")) || bytes.Contains(svg, []byte("not measured")) != (args == nil) {
			t.Errorf("%s: %v; the image lacks page 8, or has the wrong durations:\n%s", name, err, svg)
		}
	}
	for want, args := range map[string][]string{"--page 9: expected 1 to 5, or 8 for a crowd": {"--cast", filepath.Join(dir, "x"), "--page", "9"},
		"expect --cast FILE": {"--measure"}} {
		if o := tui(append([]string{"replay", saved}, args...)...); o.code != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("%v: exit %d, %s, want %q", args, o.code, o.stderr, want)
		}
	}
}
