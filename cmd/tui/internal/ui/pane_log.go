package ui

import "wirelab/experiment"

// logPane lists what was changed and when, the newest first: the marks of the
// charts, spelt out.
type logPane struct {
	marks []experiment.Mark
	seen  bool
}

func (p *logPane) name() string { return "Changes" }

func (p *logPane) observe(v sight) bool {
	n := len(v.snap.Marks)
	if p.seen && n == len(p.marks) && (n == 0 || v.snap.Marks[n-1] == p.marks[n-1]) {
		return false
	}
	p.marks, p.seen = v.snap.Marks, true
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
		c.clip(x, y, c.w-2-x, markInk(m.Kind), markSign(th, m.Kind)+" "+m.Label)
	}
}

// markSign is what stands before a mark of a kind.
func markSign(th *theme, k experiment.MarkKind) string {
	switch {
	case k == experiment.MarkSeam:
		return string(th.seam)
	case k == experiment.MarkNote:
		return string(th.note)
	case th.ascii:
		return "^"
	}
	return "▲"
}
