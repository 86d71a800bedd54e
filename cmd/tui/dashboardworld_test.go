//go:build unix

package main

import (
	"path/filepath"
	"slices"
	"testing"

	"wirelab/experiment/config"
)

// TestPlayedWorldReplays plays the live world with keys on a terminal, saves the run and replays
// it: the bytes must be the same, and the report must contain every key.
func TestPlayedWorldReplays(t *testing.T) {
	t.Parallel()
	reports := t.TempDir()
	s := startSession(t, reports, "--data", "world", "--seed", "3", "--set", "link.loss=5%")
	s.see("Bandwidth")
	for _, step := range []struct{ keys, drawn string }{
		{"4", " interact"},
		{"\x1b[D\x1b[A", "you play"}, // left, up
		{"/katamari\r", "katamari on"},
		{"\x1b[C\x1b[C\x1b[C", ""},
		{"/reset\r", "reset the world"},
		{"/autopilot\r", "autopilot on"},
		{"\x1b[B", "you play"},
	} {
		s.press(step.keys)
		if step.drawn != "" {
			s.see(step.drawn)
		}
	}
	s.press("\x03")
	if code := s.end(); code != exitInterrupted {
		t.Fatalf("exit %d; stderr %q", code, s.stderr.String())
	}
	saved, err := filepath.Glob(filepath.Join(reports, "*", "report.json"))
	if err != nil || len(saved) != 1 {
		t.Fatalf("saved %v, %v", saved, err)
	}
	text := read(t, saved[0])
	var doc struct{ Changes []config.StampedChange }
	document(t, string(text), &doc)
	for _, want := range []string{"press left", "press up", "katamari on", "press right", "reset the world", "autopilot on", "press down"} {
		if !slices.ContainsFunc(doc.Changes, func(c config.StampedChange) bool { return c.Change.Label() == want }) {
			t.Errorf("the report lacks %s", want)
		}
	}
	done(t, "replay", saved[0])
}
