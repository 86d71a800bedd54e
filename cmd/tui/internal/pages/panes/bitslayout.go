package panes

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
)

// bitsLayout is one arrangement of the figures below the bar of the bit budget.
type bitsLayout struct {
	capacity int // number of parts that fit
	draw     func(c *look.Canvas, th *look.Theme, parts []Part)
}

// Widths of the layouts, in columns.
const (
	columnMinWidth = 14 // minimum width of a part with its figures below its name
	lineMinWidth   = 19 // minimum width of a part with name and share in one line
	figuresWidth   = 20 // share, kbps and bits in one line
	shareWidth     = 7  // share only
	columnGap      = 2  // between columns of the table and the grid
	nameMaxWidth   = 16
)

// In all layouts row 0 is the frame, row 1 the bar, and the figures begin in row 2. A name is preceded
// by the colour swatch of the part and a space: 2 columns.

// chooseLayout returns the most detailed layout that fits all parts into w columns and h rows below
// the bar. If none does, it returns the layout that fits the most parts.
func (p *Bits) chooseLayout(parts []Part, w, h int) bitsLayout {
	nameWidth := min(maxNameWidth(parts), nameMaxWidth)
	column := columnMinWidth
	if h < 2 { // drawColumns shows name and share in one line
		column = lineMinWidth
	}
	layouts := []bitsLayout{ // the most detailed first
		{capacity: max(h-2, 0), draw: p.drawRows}, // one row is empty, one has the headings
		{capacity: w / column, draw: p.drawColumns},
		p.cells(nameWidth, figuresWidth, w, h-1), // one row has the headings
		p.cells(nameWidth, shareWidth, w, h),
	}
	best := layouts[0]
	for _, l := range layouts {
		if l.capacity >= len(parts) {
			return l
		}
		if l.capacity > best.capacity {
			best = l
		}
	}
	return best
}

// figures returns the share of a part in percent, its kbps, and its bits per changed item.
func (p *Bits) figures(part *Part) (share, kbps, bits string) {
	return units.Fixed(100*part.Share, 1), units.Fixed(part.Share*p.Recent.PayloadKbps, 1), units.Fixed(part.Share*p.Recent.BitsPerChanged, 2)
}

// drawRows draws each part in a row of its own: swatch and name, a bar, share, kbps and bits per
// changed item.
func (p *Bits) drawRows(c *look.Canvas, th *look.Theme, parts []Part) {
	const figures = 34                                             // width of the columns share, kbps and bits/changed
	nameWidth := min(max(maxNameWidth(parts)+3, nameMaxWidth), 24) // with the swatch and a gap
	c.TextRight(c.W-2, 3, look.Dim, "share      kbps   bits/changed")
	for i, name := range PartNames(parts, nameWidth-3) {
		part, y := &parts[i], 4+i
		c.Spans(2, y, nameWidth-1, th.SlotMark(part.Slot), look.Plain.Span(name))
		barWidth := max(c.W-4-nameWidth-figures, 0)
		c.Fill(2+nameWidth, y, int(part.Share*float64(barWidth)+0.5), look.SlotStyle(part.Slot), th.Swatch(part.Slot))
		share, kbps, bits := p.figures(part)
		c.TextRight(c.W-2, y, look.Plain, look.PadLeft(bits, 11))
		c.TextRight(c.W-15, y, look.Plain, kbps)
		c.TextRight(c.W-25, y, look.Value, share+" %")
	}
}

// drawColumns draws the parts side by side, each with its figures below its name. In a pane with
// only one row of figures, the share follows the name and the other figures are omitted.
func (p *Bits) drawColumns(c *look.Canvas, th *look.Theme, parts []Part) {
	isOneLine := c.H-3 < 2
	w := max((c.W-4)/len(parts), columnMinWidth)
	nameWidth := w - 3 // without the swatch and a gap
	if isOneLine {
		nameWidth -= len(" 99%")
	}
	for i, name := range PartNames(parts, nameWidth) {
		part, x := &parts[i], 2+i*w
		share, kbps, bits := p.figures(part)
		named := []look.Span{th.SlotMark(part.Slot), look.Plain.Span(name)}
		lines := [][]look.Span{
			named,
			look.Labelled("", look.PadLeft(share, 6), " %"),
			{look.Plain.Span(look.PadLeft(kbps, 6)), look.Dim.Span(" kbps")},
			{look.Plain.Span(look.PadLeft(bits, 6)), look.Dim.Span(" bits")},
		}
		if isOneLine {
			lines = [][]look.Span{append(named, look.Value.Span(" "+units.Fixed(100*part.Share, 0)+"%"))}
		}
		for j, line := range lines {
			if y := 2 + j; y < c.H-1 {
				c.Spans(x, y, min(w-1, c.W-2-x), line...)
			}
		}
	}
}

// cells returns the layout in which each part takes a line, with nameWidth columns for its name and the given number for
// its figures. It fits as many parts side by side as w columns have room for, h below each other, and fills from top to
// bottom.
func (p *Bits) cells(nameWidth, figures, w, h int) bitsLayout {
	cell := 2 + nameWidth + figures + columnGap
	draw := func(c *look.Canvas, th *look.Theme, parts []Part) {
		for i, name := range PartNames(parts, nameWidth) {
			part, x, y := &parts[i], 2+i/h*cell, c.H-1-h+i%h
			end := x + cell - columnGap
			c.Spans(x, y, 2+nameWidth, th.SlotMark(part.Slot), look.Plain.Span(name))
			share, kbps, bits := p.figures(part)
			if figures == shareWidth {
				c.TextRight(end, y, look.Value, share+"%")
				continue
			}
			if i%h == 0 {
				c.TextRight(end, y-1, look.Dim, "share  kbps   bits")
			}
			c.TextRight(end-13, y, look.Value, share+"%")
			c.TextRight(end-7, y, look.Plain, kbps)
			c.TextRight(end, y, look.Plain, bits)
		}
	}
	return bitsLayout{capacity: (w + columnGap) / cell * h, draw: draw} // the last cell of a line needs no gap after it
}
