package room

import (
	"wirelab/cmd/tui/internal/look"
)

// Pane is a part of the screen: state, and a picture that is a function of the
// state and of the size of the canvas alone.
type Pane interface {
	Name() string
	Draw(c *look.Canvas, th *look.Theme, focused bool)
}

// Slot is a place on the screen: a pane, and the lines it was last drawn to.
type Slot struct {
	Pane
	W, H    int
	focused bool
	Fresh   bool
	lines   []string
	th      *look.Theme // that painted them
}

// NewSlot returns the place of a pane.
func NewSlot(p Pane) *Slot { return &Slot{Pane: p} }

// Observe forgets the lines if the pane has something new to show.
func (s *Slot) Observe(v View) bool {
	if p, ok := s.Pane.(Observer); ok && p.Observe(v) {
		s.Fresh = false
	}
	return !s.Fresh
}

// ObserveAll lets all slots observe, and reports whether any has to be drawn anew.
func ObserveAll(v View, slots ...*Slot) (changed bool) {
	for _, s := range slots {
		changed = s.Observe(v) || changed
	}
	return changed
}

// Redraw has the pane drawn anew.
func (s *Slot) Redraw() { s.Fresh = false }

// Render returns the pane's h lines of w columns, drawn anew only if something
// changed.
func (s *Slot) Render(th *look.Theme, w, h int, focused bool) []string {
	if s.Fresh && s.W == w && s.H == h && s.focused == focused && s.th == th {
		return s.lines
	}
	c := look.NewCanvas(w, h)
	s.Draw(c, th, focused)
	s.W, s.H, s.focused, s.Fresh, s.th = w, h, focused, true, th
	s.lines = c.Lines(th)
	return s.lines
}

// At puts the slot on a page.
func (s *Slot) At(x, y, w, h int) Place { return Place{s, x, y, w, h} }

// Place is where a pane lies on a page.
type Place struct {
	Slot       *Slot
	X, Y, w, H int
}

// placeAt returns the place that covers (x, y); its slot is nil if none does.
func placeAt(places []Place, x, y int) Place {
	for _, p := range places {
		if x >= p.X && x < p.X+p.w && y >= p.Y && y < p.Y+p.H {
			return p
		}
	}
	return Place{}
}

// Join puts panes together into h lines of w columns. The places must tile the
// page; those of one row must be given from left to right. The focused pane has
// the keys, the lit one is pointed at.
func Join(th *look.Theme, places []Place, h int, focused Pane, lit *Slot) []string {
	lines := make([]string, h)
	for _, p := range places {
		for i, line := range p.Slot.Render(th, p.w, p.H, p.Slot.Pane == focused || p.Slot == lit) {
			lines[p.Y+i] += line
		}
	}
	return lines
}

// tabAt returns which of the names in that row is at column x.
func tabAt(slots []*Slot, x int) (at int, ok bool) {
	from := 1
	for i, s := range slots {
		if to := from + len(s.Name()) + 2; x >= from && x < to {
			return i, true
		}
		from += len(s.Name()) + 3
	}
	return 0, false
}
