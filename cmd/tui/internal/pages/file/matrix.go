package file

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/delivery"
	"wirelab/internal/units"
)

// matrix is a picture of the similarity of files, from which an encoder computes a patch: the blocks of the
// new file from top to bottom, and from left to right the old file followed by the new one.
type matrix struct {
	m            *delivery.Matrix        // nil if there is no picture
	making       *delivery.PatchProgress // progress of the patch that is being computed; nil if none is
	otherEncoder string                  // the active encoder if it makes no patch, otherwise ""
}

func (p *matrix) Name() string { return "Matrix" }

// Observe implements room.Observer.
func (p *matrix) Observe(v room.View) bool {
	otherEncoder := ""
	if v.Snap.Matrix == nil && v.Snap.Patch == nil {
		otherEncoder = v.ActiveLane().Encoder
	}
	same := p.m == v.Snap.Matrix && (p.making == nil) == (v.Snap.Patch == nil) && otherEncoder == p.otherEncoder
	p.m, p.making, p.otherEncoder = v.Snap.Matrix, v.Snap.Patch, otherEncoder
	return !same
}

// Draw implements room.Pane. A line separates old and new file, and a mark shows the progress.
func (p *matrix) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	const title = "Similarity of the new file"
	c.Frame(th, focused, title, p.heading(th, look.TitleSpace(c.W, title))...)
	if p.m == nil {
		p.drawEmpty(c)
		return
	}
	w, h := c.W-3, c.H-2
	if w < 4 || h < 2 {
		return
	}
	divide := p.m.OldCols() * w / p.m.Cols
	for y := range h {
		for x := range w {
			style, symbol := p.cellStyle(th, x, y, w, h)
			if symbol == ' ' && x == divide {
				style, symbol = look.Faint, []rune(th.Border.Left)[0]
			}
			c.Set(2+x, 1+y, style, symbol)
		}
	}
	if p.making != nil {
		c.Text(1, 1+min(p.m.Done*h/p.m.Rows, h-1), look.Mark, th.Chosen)
	}
	p.legend(c, th, divide)
}

// heading names the axes of the picture.
func (p *matrix) heading(th *look.Theme, maxWidth int) []look.Span {
	if p.m == nil {
		return nil
	}
	long := []look.Span{look.Dim.Span("rows: blocks of the new file; columns: old file, then new file")}
	return look.Fit(maxWidth, long, []look.Span{look.Dim.Span("rows: new; columns: old, new")}, nil)
}

// drawEmpty explains why there is no picture.
func (p *matrix) drawEmpty(c *look.Canvas) {
	text := "The picture is drawn while a patch is computed."
	if p.making != nil {
		text = "The old file is being read."
	} else if p.otherEncoder != "" {
		text += " " + p.otherEncoder + " makes no patch."
	}
	c.Centre(1, look.Dim, text)
}

// cellStyle returns style and rune of the cell (x, y) of w x h: its filled quarters are parts that the
// patch copies; without any, the rune shows the similarity.
func (p *matrix) cellStyle(th *look.Theme, x, y, w, h int) (look.Style, rune) {
	var mask uint8 // bit q: quarter q has a copied part; 0 is at the top left, 1 at the top right
	var maxScore uint8
	for quarter := range 4 {
		dx, dy := quarter&1, quarter>>1
		rowFrom, rowTo := pieceRange(2*y+dy, 2*h, p.m.Rows)
		colFrom, colTo := pieceRange(2*x+dx, 2*w, p.m.Cols)
		for row := rowFrom; row < rowTo; row++ {
			for col := colFrom; col < colTo; col++ {
				at := row*p.m.Cols + col
				maxScore = max(maxScore, p.m.Score[at])
				if p.m.Chosen[at] {
					mask |= 1 << quarter
				}
			}
		}
	}
	if mask == 0 {
		return similarityStyle(th, maxScore)
	}
	if th.Ascii {
		return look.Payload, '#'
	}
	return look.Payload, look.Quadrants(mask&3 | mask>>2<<4) // a mask of 2 x 4 dots: the lower quarters begin in its third row
}

// pieceRange divides n elements into the given number of pieces and returns the range of piece i, which has at
// least one element.
func pieceRange(i, pieces, n int) (from, to int) {
	from = i * n / pieces
	return from, max((i+1)*n/pieces, from+1)
}

// legend explains the markers in the lower edge. divide is the column between old and new file.
func (p *matrix) legend(c *look.Canvas, th *look.Theme, divide int) {
	x := 2
	for _, score := range []uint8{80, 160, 255} { // low, medium and high similarity
		style, marker := similarityStyle(th, score)
		c.Set(x+1, c.H-1, style, marker)
		x++
	}
	copied := "█"
	if th.Ascii {
		copied = "#"
	}
	pieces := []look.Span{look.Dim.Span(" similar  "), look.Payload.Span(copied), look.Dim.Span(" copied ")}
	x = c.Spans(x+1, c.H-1, c.W-4-x, pieces...)
	if at := 2 + divide; x < at-8 && at < c.W-14 { // the labels overlap neither the markers nor the percentage
		c.TextRight(at-1, c.H-1, look.Dim, " old file ")
		c.Text(at+1, c.H-1, look.Dim, " new file ")
	}
	if p.making != nil {
		c.TextRight(c.W-2, c.H-1, look.Mark, " "+units.Fixed(100*float64(p.making.Done)/float64(max(p.making.Total, 1)), 0)+" % ")
	}
}
