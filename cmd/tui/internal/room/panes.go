package room

import (
	"slices"

	"wirelab/cmd/tui/internal/look"
)

// Panes are the panes of a page. A large screen shows all of them, a small one the focused pane.
type Panes struct {
	Slots     []*Slot // in the order of the tab key
	Focusable []int   // indices of panes that can be focused on a large screen
	Focused   int     // index of the focused pane
	UserChose bool    // the user selected the focused pane
	Places    []Place // layout of the page, as last drawn
	w, h      int     // size of the page
	maximised bool    // a large screen shows only the focused pane, as a small one does
}

// Resize sets the size of the page.
func (p *Panes) Resize(w, h int) { p.w, p.h = w, h }

// Wide reports whether all panes are visible.
func (p *Panes) Wide() bool { return Wide(p.w, p.h) && !p.maximised }

// Maximise implements Maximiser: it shows the focused pane alone or, if the user has focused none, the first one. The
// next call shows all panes again.
func (p *Panes) Maximise() {
	if !Wide(p.w, p.h) { // a small screen shows one pane anyway
		return
	}
	p.maximised = !p.maximised
	switch {
	case p.maximised && !p.UserChose:
		p.Focused = 0
	case !p.maximised && !slices.Contains(p.Focusable, p.Focused) && len(p.Focusable) > 0:
		p.Focused = p.Focusable[0]
	}
}

// Width returns the width of the page.
func (p *Panes) Width() int { return p.w }

// Focus implements Focuser: it focuses the next pane that can be focused, cyclically.
func (p *Panes) Focus(step int) {
	n := len(p.Slots)
	for i := range p.Slots {
		if next := ((p.Focused+step*(i+1))%n + n) % n; p.focus(next) {
			return
		}
	}
}

// focus focuses pane i, and reports whether that is possible.
func (p *Panes) focus(i int) bool {
	if p.Wide() && !slices.Contains(p.Focusable, i) {
		return false
	}
	p.Focused, p.UserChose = i, true
	return true
}

// FocusAt focuses the pane at (x, y) or, on a small screen, the pane whose tab is there; tabRow is the row
// of the tabs. It returns the place at (x, y); its slot is nil if none exists.
func (p *Panes) FocusAt(x, y, tabRow int) Place {
	at := PlaceAt(p.Places, x, y)
	if i, ok := tabAt(p.Slots, x); ok && y == tabRow && !p.Wide() {
		p.focus(i)
	} else if i := slices.Index(p.Slots, at.Slot); i >= 0 {
		p.focus(i)
	}
	return at
}

// FocusedOnly draws a page of w x h cells for a small screen: a line with summary, the tabs, and the focused pane.
func (p *Panes) FocusedOnly(th *look.Theme, summary *Slot, w, h int) []string {
	const summaryRows = 1
	return p.FocusedBelow(th, slices.Concat(summary.Render(th, w, summaryRows, look.Unfocused), []string{p.TabRow(th)}), w, h)
}

// FocusedBelow draws a page of w x h cells for a small screen: the header, and below it the focused pane.
func (p *Panes) FocusedBelow(th *look.Theme, header []string, w, h int) []string {
	h -= len(header)
	at := p.Slots[p.Focused].Place(0, len(header), w, h)
	p.Places = []Place{at}
	return append(header, at.Slot.Render(th, w, h, look.Focused)...)
}

// TabRow returns the row with the names of the panes on a small screen.
func (p *Panes) TabRow(th *look.Theme) string {
	c := look.NewCanvas(p.w, 1)
	x := 1
	for i, s := range p.Slots {
		style, left, right := look.Dim, " ", " "
		if i == p.Focused {
			style, left, right = look.Focus, "[", "]"
		}
		x = c.Spans(x, 0, p.w-x, style.Span(left+s.Name()+right), look.Faint.Span(" "))
	}
	if p.maximised {
		c.Spans(x+1, 0, p.w-x-1, look.Key.Span("tab"), look.Dim.Span(" next pane  "), look.Key.Span("z"), look.Dim.Span(" all panes"))
	}
	return c.Lines(th)[0]
}
