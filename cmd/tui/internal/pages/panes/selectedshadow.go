package panes

import (
	"slices"

	"wirelab/experiment/engine"
)

// SelectedShadow identifies the shadows that pages compare with the active encoder where they do not show all
// shadows. All pages share it.
type SelectedShadow struct {
	selected []string // the letters of their lanes
}

// Indices returns the indices of the selected shadows in lanes, in ascending order; lanes[0] is the active encoder.
// If no shadow is selected, or all selected ones were removed, it returns 1, the first shadow. It returns nil if there
// are no shadows.
func (s *SelectedShadow) Indices(lanes []engine.Lane) (list []int) {
	for i := 1; i < len(lanes); i++ {
		if slices.Contains(s.selected, lanes[i].Letter) {
			list = append(list, i)
		}
	}
	if list == nil && len(lanes) > 1 {
		return []int{1}
	}
	return list
}

// Select selects only lanes[i]. It does nothing if i is 0, the active encoder, or out of range.
func (s *SelectedShadow) Select(lanes []engine.Lane, i int) {
	if i > 0 && i < len(lanes) {
		s.selected = []string{lanes[i].Letter}
	}
}

// Toggle adds lanes[i], a shadow, to the selection or removes it. The last selected shadow stays selected.
func (s *SelectedShadow) Toggle(lanes []engine.Lane, i int) {
	list := s.Indices(lanes)
	if at := slices.Index(list, i); at < 0 {
		list = append(list, i)
	} else if len(list) > 1 {
		list = slices.Delete(list, at, at+1)
	}
	s.selected = s.selected[:0]
	for _, k := range list {
		s.selected = append(s.selected, lanes[k].Letter)
	}
}
