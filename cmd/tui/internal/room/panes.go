package room

import (
	"slices"

	"wirelab/cmd/tui/internal/look"
)

// Panes are the panes of a page: on a large screen all are in sight, on a small one the one that
// has the keys.
type Panes struct {
	Slots  []*Slot // in the order of the tab key
	Usable []int   // those that have a use for the keys where all are in sight
	At     int     // the one that has the keys
	Chosen bool    // a person chose it
	Places []Place // as last drawn
	w, h   int
}

// Resize sets the size of the page.
func (p *Panes) Resize(w, h int) { p.w, p.h = w, h }

// Wide reports whether all panes are in sight.
func (p *Panes) Wide() bool { return Wide(p.w, p.h) }

// Width is how many columns the page has.
func (p *Panes) Width() int { return p.w }

// Focus implements Focuser.
func (p *Panes) Focus(step int) {
	for i := range p.Slots {
		if at := ((p.At+step*(i+1))%len(p.Slots) + len(p.Slots)) % len(p.Slots); p.focus(at) {
			return
		}
	}
}

// focus gives the keys to a pane that has a use for them.
func (p *Panes) focus(at int) bool {
	if p.Wide() && !slices.Contains(p.Usable, at) {
		return false
	}
	p.At, p.Chosen = at, true
	return true
}

// Hit gives the keys to the pane at (x, y), or, on a small screen, to the one whose tab is in that
// place of the row tabs. It returns the place that was hit, without a slot if none was.
func (p *Panes) Hit(x, y, tabs int) Place {
	at := placeAt(p.Places, x, y)
	if i, ok := tabAt(p.Slots, x); ok && y == tabs && !p.Wide() {
		p.focus(i)
	} else if i := slices.Index(p.Slots, at.Slot); i >= 0 {
		p.focus(i)
	}
	return at
}

// Tabs is the row of names of panes on a small screen.
func (p *Panes) Tabs(th *look.Theme) string {
	c := look.NewCanvas(p.w, 1)
	x := 1
	for i, s := range p.Slots {
		k, left, right := look.Dim, " ", " "
		if i == p.At {
			k, left, right = look.Focus, "[", "]"
		}
		x = c.Spans(x, 0, p.w-x, k.Span(left+s.Name()+right), look.Faint.Span(" "))
	}
	return c.Lines(th)[0]
}
