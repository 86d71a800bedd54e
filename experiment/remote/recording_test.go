package remote

import (
	"strings"
	"testing"

	"wirelab/experiment/engine"
)

// A recording that is too large is left out of the report, with a warning.
func TestTooLargeToReplay(t *testing.T) {
	l := NewLink(nil, "there")
	note := func() { l.recorded.recordArrival(5, &event{}) }
	note()
	small, large := &engine.Result{}, &engine.Result{Warnings: []string{"before"}}
	l.AddRecording(small)
	for range 1000 {
		l.recorded.events = append(l.recorded.events, make([]byte, maxRecording/1000+1)...)
	}
	note()
	l.AddRecording(large)
	if len(small.Warnings) != 0 || len(small.Remote.Events) == 0 {
		t.Errorf("%+v", small)
	}
	if len(large.Remote.Events) != 0 || len(large.Warnings) != 2 || !strings.Contains(large.Warnings[1], "48 MB") {
		t.Errorf("%d bytes, %q", len(large.Remote.Events), large.Warnings)
	}
	if _, err := Replay(large.Remote); err == nil {
		t.Error("Replay of an empty recording returned no error")
	}
}
