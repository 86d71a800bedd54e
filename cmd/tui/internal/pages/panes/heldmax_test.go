package panes

import (
	"testing"
	"time"
)

// TestHeldMax: a maximum is shown for a second, and then the largest value from there on.
func TestHeldMax(t *testing.T) {
	var m HeldMax
	for _, c := range []struct {
		ms       int
		v, value float64
		isNew    bool
	}{{0, 3, 3, true}, {500, 9, 9, true}, {900, 2, 9, false}, {1499, 8, 9, false}, {1500, 4, 4, true}, {1600, 5, 5, true}, {100, 1, 1, true}} {
		if value, isNew := m.Add(time.Duration(c.ms)*time.Millisecond, c.v); value != c.value || isNew != c.isNew {
			t.Errorf("%v at %d ms: %v, %v", c.v, c.ms, value, isNew)
		}
	}
}
