package ui

// turn is the arrow keys on the controls: up and down choose one, left and right
// adjust it.
func (p *controlsPane) turn(dx, dy int) wish {
	if dy != 0 {
		p.choose(dy)
	}
	if dx != 0 {
		if cmd, ok := p.adjust(dx); ok {
			return wish{command: &cmd}
		}
	}
	return wish{}
}

// enter opens what the control under the cursor may be set to: a list, or a line to
// type in.
func (p *controlsPane) enter() wish {
	c, _, ok := p.current()
	switch {
	case !ok:
		return wish{}
	case c.word == foldWord:
		p.fold()
		return wish{}
	case c.choices != nil:
		return wish{pick: c.list(p.cfg)}
	}
	line := c.typed() + " "
	if c.now != nil {
		line += c.now(p.cfg)
	}
	return wish{edit: line}
}

// click selects the control on a row; a second click opens the fold.
func (p *controlsPane) click(y int) {
	before := p.chosen
	if p.point(y) && p.chosen == foldWord && before == foldWord {
		p.fold()
	}
}

// tabsOf is the row of names of panes on a small screen.
func tabsOf(th *theme, slots []*slot, at, w int) string {
	c := newCanvas(w, 1)
	x := 1
	for i, s := range slots {
		k := inkDim
		left, right := " ", " "
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
