package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// stopwatch is a clock that a test sets.
type stopwatch struct{ now time.Duration }

func (s *stopwatch) read() time.Duration { return s.now }

func progressOn(terminal, quiet bool) (*stopwatch, *bytes.Buffer, *progress) {
	w, screen := &stopwatch{}, &bytes.Buffer{}
	a := &app{stderr: screen, clock: w.read, quiet: quiet, isTerminal: func(any) bool { return terminal }}
	return w, screen, a.progress("work")
}

// TestProgress checks the line of a job of ten seconds: its content, at most ten redraws per
// second, and that it is erased at the end.
func TestProgress(t *testing.T) {
	w, screen, p := progressOn(true, false)
	for w.now < 10*time.Second {
		w.now += 10 * time.Millisecond
		p.report(w.now.Seconds(), 10)
	}
	p.done()
	lines := strings.Split(screen.String(), "\r")
	if n := len(lines); n < 90 || n > 100 {
		t.Errorf("drawn %d times in 9.5 s, want 10 a second", n)
	}
	if !strings.Contains(screen.String(), "\rwork  50 %, 5 s left") {
		t.Errorf("never said that half is done: %q", lines[len(lines)/2])
	}
	width := 0
	for _, l := range lines {
		if len(strings.TrimRight(l, " ")) > 0 {
			width = max(width, len(strings.TrimRight(l, " ")))
		}
	}
	if wipe := lines[len(lines)-2]; strings.TrimSpace(wipe) != "" || len(wipe) == 0 || len(wipe) > width || lines[len(lines)-1] != "" {
		t.Errorf("the end does not wipe the line: %q", lines[len(lines)-2:])
	}
}

// TestProgressIsSilent checks that there is no line for short jobs, for pipes and with --quiet.
func TestProgressIsSilent(t *testing.T) {
	for name, c := range map[string]struct {
		terminal, quiet bool
		job             time.Duration
	}{
		"short": {true, false, 1900 * time.Millisecond},
		"piped": {false, false, time.Minute},
		"quiet": {true, true, time.Minute},
	} {
		w, screen, p := progressOn(c.terminal, c.quiet)
		for w.now < c.job {
			w.now += 10 * time.Millisecond
			p.report(float64(w.now), float64(c.job))
		}
		p.done()
		if screen.Len() > 0 {
			t.Errorf("%s: %q", name, screen)
		}
	}
}

// TestProgressOfUnknownLength checks that no estimate is shown without a known total.
func TestProgressOfUnknownLength(t *testing.T) {
	w, screen, p := progressOn(true, false)
	w.now = time.Minute
	p.report(5, 0)
	p.report(0, 5)
	p.done()
	if screen.Len() > 0 {
		t.Errorf("%q", screen)
	}
}
