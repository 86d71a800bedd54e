package remote

import (
	"strings"
	"testing"

	"wirelab/experiment/engine"
)

// A recording that is too large for a report is left out, and the report says so.
func TestTooLargeToReplay(t *testing.T) {
	l := NewLink(nil, "there")
	note := func() { l.records.arrival(5, &event{}) }
	note()
	small, large := &engine.Result{}, &engine.Result{Warnings: []string{"before"}}
	l.AddTo(small)
	for range 1000 {
		l.records.events = append(l.records.events, make([]byte, maxRecording/1000+1)...)
	}
	note()
	l.AddTo(large)
	if len(small.Warnings) != 0 || len(small.Remote.Events) == 0 {
		t.Errorf("%+v", small)
	}
	if len(large.Remote.Events) != 0 || len(large.Warnings) != 2 || !strings.Contains(large.Warnings[1], "48 MB") {
		t.Errorf("%d bytes, %q", len(large.Remote.Events), large.Warnings)
	}
	if _, err := Replay(large.Remote); err == nil {
		t.Error("it replays")
	}
}
