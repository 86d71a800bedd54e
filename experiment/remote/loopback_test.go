package remote

import (
	"testing"
)

// Both ends in one process, with sockets between them.
func TestLoopback(t *testing.T) {
	l, closeBoth, err := NewLoopback(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := crowded(t, configured(t, map[string]any{"duration": "500ms"}), l)
	if err := l.Drive(t.Context(), s, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := closeBoth(); err != nil {
		t.Fatal(err)
	}
	r := s.Result()
	lawful(t, r)
	if x := r.Totals; x.Decoded < x.Sent/2 {
		t.Errorf("%d of %d decoded", x.Decoded, x.Sent)
	}
	replayed(t, r, l.Recorded())
}
