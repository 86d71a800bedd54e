package ui

// pane is a part of the screen: state, and a picture that is a function of the
// state and of the size of the canvas alone.
type pane interface {
	name() string
	// observe takes from the snapshot what the pane shows, and reports whether
	// its picture would be another.
	observe(sight) bool
	draw(c *canvas, th *theme, focused bool)
}

// slot is a place on the screen: a pane, and the lines it was last drawn to.
type slot struct {
	pane
	w, h    int
	focused bool
	fresh   bool
	lines   []string
	th      *theme // that painted them
}

// newSlot returns the place of a pane.
func newSlot(p pane) *slot { return &slot{pane: p} }

// observe forgets the lines if the pane has something new to show.
func (s *slot) observe(v sight) bool {
	if s.pane.observe(v) {
		s.fresh = false
	}
	return !s.fresh
}

// observeAll lets all slots observe, and reports whether any has to be drawn anew.
func observeAll(v sight, slots ...*slot) (changed bool) {
	for _, s := range slots {
		changed = s.observe(v) || changed
	}
	return changed
}

// redraw has the pane drawn anew.
func (s *slot) redraw() { s.fresh = false }

// render returns the pane's h lines of w columns, drawn anew only if something
// changed.
func (s *slot) render(th *theme, w, h int, focused bool) []string {
	if s.fresh && s.w == w && s.h == h && s.focused == focused && s.th == th {
		return s.lines
	}
	c := newCanvas(w, h)
	s.draw(c, th, focused)
	s.w, s.h, s.focused, s.fresh, s.th = w, h, focused, true, th
	s.lines = c.lines(th)
	return s.lines
}

// at puts the slot on a page.
func (s *slot) at(x, y, w, h int) place { return place{s, x, y, w, h} }

// place is where a pane lies on a page.
type place struct {
	slot       *slot
	x, y, w, h int
}

// placeAt returns the place that covers (x, y); its slot is nil if none does.
func placeAt(places []place, x, y int) place {
	for _, p := range places {
		if x >= p.x && x < p.x+p.w && y >= p.y && y < p.y+p.h {
			return p
		}
	}
	return place{}
}

// join puts panes together into h lines of w columns. The places must tile the
// page; those of one row must be given from left to right. The focused pane has
// the keys, the lit one is pointed at.
func join(th *theme, places []place, h int, focused pane, lit *slot) []string {
	lines := make([]string, h)
	for _, p := range places {
		for i, line := range p.slot.render(th, p.w, p.h, p.slot.pane == focused || p.slot == lit) {
			lines[p.y+i] += line
		}
	}
	return lines
}

// tabsOf is the row of names of panes on a small screen.
func tabsOf(th *theme, slots []*slot, at, w int) string {
	c := newCanvas(w, 1)
	x := 1
	for i, s := range slots {
		k, left, right := inkDim, " ", " "
		if i == at {
			k, left, right = inkFocus, "[", "]"
		}
		x = c.spans(x, 0, w-x, span{k, left + s.name() + right}, span{inkFaint, " "})
	}
	return c.lines(th)[0]
}

// tabAt returns which of the names in that row is at column x.
func tabAt(slots []*slot, x int) (at int, ok bool) {
	from := 1
	for i, s := range slots {
		if to := from + len(s.name()) + 2; x >= from && x < to {
			return i, true
		}
		from += len(s.name()) + 3
	}
	return 0, false
}
