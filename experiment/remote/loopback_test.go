package remote

import (
	"testing"
)

// Both sides run in one process, connected by UDP sockets.
func TestLoopback(t *testing.T) {
	l, closeBoth, err := NewLoopback(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := crowdSession(t, newConfig(t, map[string]any{"duration": "500ms"}), l)
	if err := l.Drive(t.Context(), s, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := closeBoth(); err != nil {
		t.Fatal(err)
	}
	r := s.Result()
	checkOutcomes(t, r)
	if x := r.Totals; x.Decoded < x.Sent/2 {
		t.Errorf("%d of %d decoded", x.Decoded, x.Sent)
	}
	checkReplay(t, r, l.Recording())
}
