package panes

import "wirelab/experiment/engine"

// SelectedShadow identifies the shadow that pages compare with the active encoder where they have room for
// only one shadow. All pages share it.
type SelectedShadow struct{ selected laneID }

// laneID identifies a shadow while it runs; its index changes when other shadows are removed.
type laneID struct {
	encoder string
	params  any   // a pointer that the shadow keeps while it runs
	began   int64 // time at which it was added, in nanoseconds of virtual time
}

// newLaneID returns the identity of lane l.
func newLaneID(l *engine.Lane) laneID { return laneID{l.Encoder, l.Params, int64(l.Began)} }

// Index returns the index of the selected shadow in lanes, where lanes[0] is the active encoder. It
// returns 1, the first shadow, if none is selected or the selected one was removed, and 0 if there
// are no shadows.
func (s *SelectedShadow) Index(lanes []engine.Lane) int {
	for i := 1; i < len(lanes); i++ {
		if newLaneID(&lanes[i]) == s.selected {
			return i
		}
	}
	return max(min(len(lanes)-1, 1), 0)
}

// Select selects lanes[i]. It does nothing if i is 0, the active encoder, or out of range.
func (s *SelectedShadow) Select(lanes []engine.Lane, i int) {
	if i > 0 && i < len(lanes) {
		s.selected = newLaneID(&lanes[i])
	}
}

// Next moves the selection by step shadows, cyclically.
func (s *SelectedShadow) Next(lanes []engine.Lane, step int) {
	if n := len(lanes) - 1; n > 0 {
		s.Select(lanes, 1+((s.Index(lanes)-1+step)%n+n)%n)
	}
}
