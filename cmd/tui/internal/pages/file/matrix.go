package file

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/delivery"
	"wirelab/internal/units"
)

// matrix is the picture of what the new file is like: its blocks from top to
// bottom, and from left to right the old file and then the new one itself.
type matrix struct {
	m      *delivery.Matrix
	making *delivery.Making
	others string // the encoder of files that makes no patch; "" if one does
}

func (p *matrix) Name() string { return "Matrix" }

func (p *matrix) Observe(v room.View) bool {
	others := ""
	if v.Snap.Matrix == nil && v.Snap.Making == nil {
		others = v.Lane().Encoder
	}
	same := p.m == v.Snap.Matrix && (p.making == nil) == (v.Snap.Making == nil) && others == p.others
	p.m, p.making, p.others = v.Snap.Matrix, v.Snap.Making, others
	return !same
}

func (p *matrix) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	const title = "What the new file is like"
	c.Frame(th, focused, title, p.heading(th, look.HeadRoom(c.W, title))...)
	if p.m == nil {
		p.drawNothing(c)
		return
	}
	w, h := c.W-3, c.H-2
	if w < 4 || h < 2 {
		return
	}
	divide := p.m.OldCols() * w / p.m.Cols
	for y := range h {
		for x := range w {
			k, r := p.cell(th, x, y, w, h)
			if r == ' ' && x == divide {
				k, r = look.Faint, []rune(th.Border.Left)[0]
			}
			c.Set(2+x, 1+y, k, r)
		}
	}
	if p.making != nil {
		c.Text(1, 1+min(p.m.Done*h/p.m.Rows, h-1), look.Mark, th.Chosen)
	}
	p.legend(c, th, divide)
}

// heading says which way the picture runs.
func (p *matrix) heading(th *look.Theme, room int) []look.Span {
	if p.m == nil {
		return nil
	}
	long := []look.Span{look.Dim.Span("its blocks " + th.Down + ", across the old file and then itself")}
	return look.Fit(room, long, []look.Span{look.Dim.Span("new " + th.Down + ", old and new across")}, nil)
}

// drawNothing says why there is no picture.
func (p *matrix) drawNothing(c *look.Canvas) {
	text := "The picture is drawn while a patch is made."
	if p.making != nil {
		text = "The old file is being read."
	} else if p.others != "" {
		text += " " + p.others + " makes none."
	}
	c.Centre(1, look.Dim, text)
}

// cell is what a cell of the screen shows: quarters of it where something was taken
// from there, else how much alike the parts are.
func (p *matrix) cell(th *look.Theme, x, y, w, h int) (look.Ink, rune) {
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
	if th.Ascii {
		return look.Payload, '#'
	}
	return look.Payload, look.Quadrants(mask&3 | mask>>2<<4)
}

// span2 is the part of n that the i-th of so many pieces covers, one at least.
func span2(i, pieces, n int) (from, to int) {
	from = i * n / pieces
	return from, max((i+1)*n/pieces, from+1)
}

// legend explains the signs in the lower edge.
func (p *matrix) legend(c *look.Canvas, th *look.Theme, divide int) {
	x := 2
	for _, s := range []uint8{80, 160, 255} {
		k, r := likeness(th, s)
		c.Set(x+1, c.H-1, k, r)
		x++
	}
	taken := "█"
	if th.Ascii {
		taken = "#"
	}
	pieces := []look.Span{look.Dim.Span(" alike  "), look.Payload.Span(taken), look.Dim.Span(" taken from there ")}
	x = c.Spans(x+1, c.H-1, c.W-4-x, pieces...)
	if at := 2 + divide; x < at-8 && at < c.W-14 {
		c.Right(at-1, c.H-1, look.Dim, " old file ")
		c.Text(at+1, c.H-1, look.Dim, " itself ")
	}
	if p.making != nil {
		c.Right(c.W-2, c.H-1, look.Mark, " "+units.Fixed(100*float64(p.making.Done)/float64(max(p.making.Total, 1)), 0)+" % ")
	}
}
