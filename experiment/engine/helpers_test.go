package engine

import (
	"strings"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
)

// mustOpen creates a session that reads frames from src.
func mustOpen(tb testing.TB, c *config.Config, src dataset.Source, opt Options) *Session {
	tb.Helper()
	s, err := NewSessionFromSource(c, src, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// mustRun runs a session until t.
func mustRun(tb testing.TB, s *Session, t time.Duration) {
	tb.Helper()
	if err := s.RunUntil(t); err != nil {
		tb.Fatal(err)
	}
}

// mustChange makes a change.
func mustChange(tb testing.TB, s *Session, ch config.Change) {
	tb.Helper()
	if err := s.Change(ch); err != nil {
		tb.Fatal(err)
	}
}

// totals returns the totals of a session's first lane until now.
func totals(s *Session) figures.Totals { return s.lanes[0].totals(s.Now()) }

// setAll sets keys, each followed by its value, separated by semicolons.
func setAll(settings string, set func(key string, value any) error) error {
	for setting := range strings.SplitSeq(settings, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(setting), " ")
		if key == "" {
			continue
		}
		if err := set(key, value); err != nil {
			return err
		}
	}
	return nil
}
