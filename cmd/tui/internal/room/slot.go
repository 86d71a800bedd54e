package room

import (
	"slices"

	"wirelab/cmd/tui/internal/look"
)

// Pane is a part of the screen. Its picture depends only on its state and the size of the canvas.
type Pane interface {
	Name() string
	Draw(c *look.Canvas, th *look.Theme, focused bool)
}

// Slot is a pane with its cached lines.
type Slot struct {
	Pane
	W, H     int  // size of lines, in columns and rows
	focused  bool // lines were drawn with focus
	UpToDate bool // lines are valid for the current state of the pane
	observed bool // Observe was called
	lines    []string
	th       *look.Theme // the theme of lines
}

func NewSlot(p Pane) *Slot { return &Slot{Pane: p} }

// Observe passes the view to the pane, and reports whether the slot has to be redrawn. In the first view of a pane a
// redraw is due.
func (s *Slot) Observe(v View) bool {
	v.RedrawDue = v.RedrawDue || !s.observed
	s.observed = true
	if p, ok := s.Pane.(Observer); ok && p.Observe(v) {
		s.UpToDate = false
	}
	return !s.UpToDate
}

// Redraw makes the next Render redraw the pane.
func (s *Slot) Redraw() { s.UpToDate = false }

// Render returns the pane as h lines of w columns. It redraws only if state, size, focus or theme
// changed.
func (s *Slot) Render(th *look.Theme, w, h int, focused bool) []string {
	if s.UpToDate && s.W == w && s.H == h && s.focused == focused && s.th == th {
		return s.lines
	}
	c := look.NewCanvas(w, h)
	s.Draw(c, th, focused)
	s.W, s.H, s.focused, s.UpToDate, s.th = w, h, focused, true, th
	s.lines = c.Lines(th)
	return s.lines
}

// Place returns the slot at a position of a page.
func (s *Slot) Place(x, y, w, h int) Place { return Place{s, x, y, w, h} }

// Place is a slot with its position and size on a page.
type Place struct {
	Slot       *Slot
	X, Y, w, H int
}

// placeAt returns the place that contains (x, y); its slot is nil if none exists.
func placeAt(places []Place, x, y int) Place {
	for _, p := range places {
		if x >= p.X && x < p.X+p.w && y >= p.Y && y < p.Y+p.H {
			return p
		}
	}
	return Place{}
}

// renderPlaces renders panes into h lines. The places must tile the page, and places side by side must
// be in order from left to right. The panes of lit, each nil for none, are drawn with focus.
func renderPlaces(th *look.Theme, places []Place, h int, lit ...*Slot) []string {
	lines := make([]string, h)
	for _, p := range places {
		for i, line := range p.Slot.Render(th, p.w, p.H, slices.Contains(lit, p.Slot)) {
			lines[p.Y+i] += line
		}
	}
	return lines
}
