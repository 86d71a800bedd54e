package ui

// turn is the arrow keys on the controls: up and down choose one, left and right
// adjust it.
func (p *controlsPane) turn(dx, dy int) request {
	if dy != 0 {
		p.choose(dy)
	}
	if dx != 0 {
		if cmd, ok := p.adjust(dx); ok {
			return request{command: &cmd}
		}
	}
	return request{}
}

// enter opens what the control under the cursor may be set to: a list, or a line to
// type in.
func (p *controlsPane) enter() request {
	c, _, ok := p.current()
	switch {
	case !ok:
		return request{}
	case c.word == foldWord:
		p.fold()
		return request{}
	case c.choices != nil:
		return request{over: c.list(p.cfg)}
	}
	line := c.typed() + " "
	if c.now != nil {
		line += c.now(p.cfg)
	}
	return request{edit: line}
}

// click selects the control on a row; a second click opens the fold.
func (p *controlsPane) click(y int) {
	before := p.chosen
	if p.point(y) && p.chosen == foldWord && before == foldWord {
		p.fold()
	}
}
