package panes_test

import (
	"slices"
	"testing"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/experiment/engine"
)

// TestSelectionFollowsTheShadow: the selected shadow stays selected when others are added or removed,
// also among shadows of one encoder. When it is removed, the first shadow is selected.
func TestSelectionFollowsTheShadow(t *testing.T) {
	main, a, b, c := engine.Lane{Letter: "A"}, engine.Lane{Letter: "B"}, engine.Lane{Letter: "C"}, engine.Lane{Letter: "D"}
	all, s := []engine.Lane{main, a, b, c}, &panes.SelectedShadow{}
	if got := s.Indices(all); !slices.Equal(got, []int{1}) || s.Indices(all[:1]) != nil {
		t.Errorf("none chosen: %d, %d", got, s.Indices(all[:1]))
	}
	s.Select(all, 2)
	s.Select(all, 0) // the active encoder cannot be selected
	for _, x := range []struct {
		lanes []engine.Lane
		at    int
	}{{all, 2}, {[]engine.Lane{main, b, c}, 1}, {[]engine.Lane{main, c, a, b}, 3}, {[]engine.Lane{main, a}, 1}, {all, 2}} {
		if got := s.Indices(x.lanes); !slices.Equal(got, []int{x.at}) {
			t.Errorf("at %d, want %d", got, x.at)
		}
	}
}
