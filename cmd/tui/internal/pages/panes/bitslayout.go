package panes

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
)

// bitsLayout is a way to write the figures of the parts below their bar.
type bitsLayout struct {
	room int // parts that it has room for
	draw func(c *look.Canvas, th *look.Theme, parts []Part)
}

// How wide the parts of a layout are.
const (
	bitsColumn  = 14 // least width of a part whose figures stand below each other
	bitsLine    = 19 // least width of one whose name and share stand in a line
	bitsFigures = 20 // share, kbps and bits of a part in one line
	bitsShare   = 7  // the share alone
	bitsGap     = 2
	bitsName    = 16
)

// layout chooses the richest layout that has room for all parts in w columns and h rows, or
// else the one that leaves out the fewest.
func (p *Bits) layout(parts []Part, w, h int) bitsLayout {
	name := min(widest(parts), bitsName)
	cell := 2 + name + bitsFigures + bitsGap
	brief := 2 + name + bitsShare + bitsGap
	column := bitsColumn
	if h < 2 {
		column = bitsLine
	}
	ways := []bitsLayout{
		{max(h-2, 0), p.rows},
		{w / column, p.columns},
		{(w + bitsGap) / cell * (h - 1), p.table(cell, name)},
		{(w + bitsGap) / brief * h, p.grid(brief, name)},
	}
	best := ways[0]
	for _, l := range ways {
		if l.room >= len(parts) {
			return l
		}
		if l.room > best.room {
			best = l
		}
	}
	return best
}

// rows writes the numbers one part a line, with a bar each.
func (p *Bits) rows(c *look.Canvas, th *look.Theme, parts []Part) {
	const numbers = 34
	name := min(max(widest(parts)+3, bitsName), 24)
	head := "share      kbps   bits/changed"
	c.Right(c.W-2, 3, look.Dim, head)
	for i, text := range PartNames(parts, name-3) {
		part, y := &parts[i], 4+i
		c.Spans(2, y, name-1, look.SlotInk(part.Ink).Span(string(th.Swatch(part.Ink))+" "), look.Plain.Span(text))
		bar := max(c.W-4-name-numbers, 0)
		c.Fill(2+name, y, int(part.Share*float64(bar)+0.5), look.SlotInk(part.Ink), th.Swatch(part.Ink))
		c.Right(c.W-2, y, look.Plain, look.PadLeft(units.Fixed(part.Share*p.Recent.BitsPerChanged, 2), 11))
		c.Right(c.W-15, y, look.Plain, units.Fixed(part.Share*p.Recent.PayloadKbps, 1))
		c.Right(c.W-25, y, look.Value, units.Fixed(100*part.Share, 1)+" %")
	}
}

// columns writes the parts side by side, the figures of each below its name.
func (p *Bits) columns(c *look.Canvas, th *look.Theme, parts []Part) {
	w := max((c.W-4)/len(parts), bitsColumn)
	room := w - 3
	if c.H-3 < 2 {
		room -= len(" 99%")
	}
	for i, name := range PartNames(parts, room) {
		part, x := &parts[i], 2+i*w
		lines := [][]look.Span{
			{look.SlotInk(part.Ink).Span(string(th.Swatch(part.Ink)) + " "), look.Plain.Span(name)},
			{look.Value.Span(look.PadLeft(units.Fixed(100*part.Share, 1), 6)), look.Dim.Span(" %")},
			{look.Plain.Span(look.PadLeft(units.Fixed(part.Share*p.Recent.PayloadKbps, 1), 6)), look.Dim.Span(" kbps")},
			{look.Plain.Span(look.PadLeft(units.Fixed(part.Share*p.Recent.BitsPerChanged, 2), 6)), look.Dim.Span(" bits")},
		}
		if c.H-3 < 2 { // one line: name and share together
			lines = [][]look.Span{{lines[0][0], lines[0][1], look.Value.Span(" " + units.Fixed(100*part.Share, 0) + "%")}}
		}
		for j, line := range lines {
			if y := 2 + j; y < c.H-1 {
				c.Spans(x, y, min(w-1, c.W-2-x), line...)
			}
		}
	}
}

// table writes the parts in as many columns as it takes, all figures of one in a line.
func (p *Bits) table(cell, name int) func(*look.Canvas, *look.Theme, []Part) {
	return func(c *look.Canvas, th *look.Theme, parts []Part) {
		h := max(c.H-4, 1)
		for x := 2; x < 2+(len(parts)+h-1)/h*cell; x += cell {
			c.Right(x+cell-bitsGap, 2, look.Dim, "share  kbps   bits")
		}
		for i, text := range PartNames(parts, name) {
			part, x, y := &parts[i], 2+i/h*cell, 3+i%h
			end := x + cell - bitsGap
			c.Spans(x, y, 2+name, look.SlotInk(part.Ink).Span(string(th.Swatch(part.Ink))+" "), look.Plain.Span(text))
			c.Right(end-13, y, look.Value, units.Fixed(100*part.Share, 1)+"%")
			c.Right(end-7, y, look.Plain, units.Fixed(part.Share*p.Recent.PayloadKbps, 1))
			c.Right(end, y, look.Plain, units.Fixed(part.Share*p.Recent.BitsPerChanged, 2))
		}
	}
}

// grid writes the names and the shares alone.
func (p *Bits) grid(cell, name int) func(*look.Canvas, *look.Theme, []Part) {
	return func(c *look.Canvas, th *look.Theme, parts []Part) {
		h := max(c.H-3, 1)
		for i, text := range PartNames(parts, name) {
			part, x, y := &parts[i], 2+i/h*cell, 2+i%h
			c.Spans(x, y, 2+name, look.SlotInk(part.Ink).Span(string(th.Swatch(part.Ink))+" "), look.Plain.Span(text))
			c.Right(x+cell-bitsGap, y, look.Value, units.Fixed(100*part.Share, 1)+"%")
		}
	}
}
