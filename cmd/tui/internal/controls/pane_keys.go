package controls

import (
	"wirelab/cmd/tui/internal/room"
)

// Turn is the arrow keys on the controls: up and down choose one, left and right
// adjust it.
func (p *Pane) Turn(dx, dy int) room.Request {
	if dy != 0 {
		p.choose(dy)
	}
	if dx != 0 {
		if cmd, ok := p.adjust(dx); ok {
			return room.Request{Command: &cmd}
		}
	}
	return room.Request{}
}

// Enter opens what the control under the cursor may be set to: a list, or a line to
// type in.
func (p *Pane) Enter() room.Request {
	c, _, ok := p.current()
	switch {
	case !ok:
		return room.Request{}
	case c.word == foldWord:
		p.fold()
		return room.Request{}
	case c.choices != nil:
		return room.Request{Over: c.list(p.cfg)}
	}
	line := c.typed() + " "
	if c.now != nil {
		line += c.now(p.cfg)
	}
	return room.Request{Edit: line}
}

// Click selects the control on a row; a second click opens the fold.
func (p *Pane) Click(y int) {
	before := p.chosen
	if p.point(y) && p.chosen == foldWord && before == foldWord {
		p.fold()
	}
}
