package ui

import "wirelab/experiment"

// logPane lists what was changed and when, the newest first: the marks of the
// charts, spelt out.
type logPane struct {
	all   []experiment.Mark // as in the snapshot
	marks []experiment.Mark // worth showing
	seen  bool
}

func (p *logPane) name() string { return "Changes" }

func (p *logPane) observe(v sight) bool {
	if p.seen && sameMarks(p.all, v.snap.Marks) {
		return false
	}
	p.all, p.marks, p.seen = v.snap.Marks, distinct(v.snap.Marks), true
	return true
}

func (p *logPane) draw(c *canvas, th *theme, focused bool) {
	c.frame(th, focused, "Changes")
	if len(p.marks) == 0 {
		c.clip(2, 1, c.w-4, inkDim, "none yet: move a control, and it is noted here")
		return
	}
	for y := 1; y < c.h-1 && y <= len(p.marks); y++ {
		m := p.marks[len(p.marks)-y]
		x := c.text(2, y, inkDim, clock(m.T)+"  ")
		c.clip(x, y, c.w-2-x, markInk(m.Kind), string(markSign(th, m.Kind))+" "+m.Label)
	}
}
