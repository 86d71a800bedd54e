package panes_test

import (
	"testing"
	"time"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/experiment/engine"
)

// The shadow that was chosen stays chosen whatever others join or leave, also among
// shadows of one encoder; when it leaves, the first takes its place.
func TestSecondStays(t *testing.T) {
	type params struct{ Small int }
	lane := func(small int) engine.Lane {
		return engine.Lane{Encoder: "rotor", Params: &params{small}, Began: time.Second}
	}
	main, a, b, c := engine.Lane{Encoder: "rotor"}, lane(1), lane(2), lane(3)
	all, s := []engine.Lane{main, a, b, c}, &panes.Second{}
	if s.At(all) != 1 || s.At(all[:1]) != 0 || s.At(nil) != 0 {
		t.Errorf("none chosen: %d, %d, %d", s.At(all), s.At(all[:1]), s.At(nil))
	}
	s.Next(all, 1)
	s.Choose(all, 0) // never the one under the keys
	for _, x := range []struct {
		lanes []engine.Lane
		at    int
	}{{all, 2}, {[]engine.Lane{main, b, c}, 1}, {[]engine.Lane{main, c, a, b}, 3}, {[]engine.Lane{main, a}, 1}, {all, 2}} {
		if got := s.At(x.lanes); got != x.at {
			t.Errorf("at %d, want %d", got, x.at)
		}
	}
	s.Next(all, 1)
	s.Next(all, 1)
	if s.At(all) != 1 {
		t.Errorf("after the last comes %d", s.At(all))
	}
	if s.Next(all, -1); s.At(all) != 3 {
		t.Errorf("before the first comes %d", s.At(all))
	}
}
