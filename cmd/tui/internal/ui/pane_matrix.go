package ui

import "wirelab/experiment/engine"

// matrixPane is the picture of what the new file is like: its blocks from top to
// bottom, and from left to right the old file and then the new one itself.
type matrixPane struct {
	m      *engine.Matrix
	making *engine.Making
	others string // the encoder of files that makes no patch; "" if one does
}

func (p *matrixPane) name() string { return "Matrix" }

func (p *matrixPane) observe(v sight) bool {
	others := ""
	if v.snap.Matrix == nil && v.snap.Making == nil {
		others = v.lane().Encoder
	}
	same := p.m == v.snap.Matrix && (p.making == nil) == (v.snap.Making == nil) && others == p.others
	p.m, p.making, p.others = v.snap.Matrix, v.snap.Making, others
	return !same
}

func (p *matrixPane) draw(c *canvas, th *theme, focused bool) {
	const title = "What the new file is like"
	c.frame(th, focused, title, p.heading(th, headRoom(c.w, title))...)
	if p.m == nil {
		p.drawNothing(c)
		return
	}
	w, h := c.w-3, c.h-2
	if w < 4 || h < 2 {
		return
	}
	divide := p.m.OldCols() * w / p.m.Cols
	for y := range h {
		for x := range w {
			k, r := p.cell(th, x, y, w, h)
			if r == ' ' && x == divide {
				k, r = inkFaint, []rune(th.border.Left)[0]
			}
			c.set(2+x, 1+y, k, r)
		}
	}
	if p.making != nil {
		c.text(1, 1+min(p.m.Done*h/p.m.Rows, h-1), inkMark, th.chosen)
	}
	p.legend(c, th, divide)
}

// heading says which way the picture runs.
func (p *matrixPane) heading(th *theme, room int) []span {
	if p.m == nil {
		return nil
	}
	long := []span{{inkDim, "its blocks " + th.down + ", across the old file and then itself"}}
	return fit(room, long, []span{{inkDim, "new " + th.down + ", old and new across"}}, nil)
}

// drawNothing says why there is no picture.
func (p *matrixPane) drawNothing(c *canvas) {
	text := "The picture is drawn while a patch is made."
	if p.making != nil {
		text = "The old file is being read."
	} else if p.others != "" {
		text += " " + p.others + " makes none."
	}
	lines := wrap(text, max(c.w-6, 1))
	for i, line := range lines {
		c.text(max((c.w-textWidth(line))/2, 2), max((c.h-len(lines))/2, 1)+i, inkDim, line)
	}
}

// cell is what a cell of the screen shows: quarters of it where something was taken
// from there, else how much alike the parts are.
func (p *matrixPane) cell(th *theme, x, y, w, h int) (ink, rune) {
	var mask uint8
	var best uint8
	for quarter := range 4 {
		dx, dy := quarter&1, quarter>>1
		rowFrom, rowTo := span2(2*y+dy, 2*h, p.m.Rows)
		colFrom, colTo := span2(2*x+dx, 2*w, p.m.Cols)
		for row := rowFrom; row < rowTo; row++ {
			for col := colFrom; col < colTo; col++ {
				at := row*p.m.Cols + col
				best = max(best, p.m.Score[at])
				if p.m.Chosen[at] {
					mask |= 1 << quarter
				}
			}
		}
	}
	if mask == 0 {
		return likeness(th, best)
	}
	if th.ascii {
		return inkPayload, '#'
	}
	return inkPayload, quadrants(mask&3 | mask>>2<<4)
}

// span2 is the part of n that the i-th of so many pieces covers, one at least.
func span2(i, pieces, n int) (from, to int) {
	from = i * n / pieces
	return from, max((i+1)*n/pieces, from+1)
}

// legend explains the signs in the lower edge.
func (p *matrixPane) legend(c *canvas, th *theme, divide int) {
	x := 2
	for _, s := range []uint8{80, 160, 255} {
		k, r := likeness(th, s)
		c.set(x+1, c.h-1, k, r)
		x++
	}
	taken := "█"
	if th.ascii {
		taken = "#"
	}
	pieces := []span{{inkDim, " alike  "}, {inkPayload, taken}, {inkDim, " taken from there "}}
	x = c.spans(x+1, c.h-1, c.w-4-x, pieces...)
	if at := 2 + divide; x < at-8 && at < c.w-14 {
		c.right(at-1, c.h-1, inkDim, " old file ")
		c.text(at+1, c.h-1, inkDim, " itself ")
	}
	if p.making != nil {
		c.right(c.w-2, c.h-1, inkMark, " "+fixed(100*float64(p.making.Done)/float64(max(p.making.Total, 1)), 0)+" % ")
	}
}
