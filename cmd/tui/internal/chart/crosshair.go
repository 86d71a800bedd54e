package chart

import "unicode/utf8"

// Crosshair is a vertical line at an instant that the user selects, with a label at its upper end.
type Crosshair struct {
	At    int64 // index of a value on the endless time line, counted like Spec.End
	Label string
	Style Style
}

// drawCrosshair draws the crosshair, if it is visible: behind lines of data, and over areas, which fill the column.
func (p *plot) drawCrosshair() {
	if p.Crosshair == nil {
		return
	}
	c := p.column(p.Crosshair.At)
	if c < 0 {
		return
	}
	for y := range p.rows {
		if len(p.Areas) > 0 || p.box.Row(y)[plotLeft+c].Style == p.Blank || p.box.Row(y)[plotLeft+c].Style == p.Tick {
			p.box.set(plotLeft+c, y, '│', p.Crosshair.Style)
		}
	}
	label := " " + p.Crosshair.Label + " "
	n := utf8.RuneCountInString(label)
	switch {
	case p.Crosshair.Label == "":
	case c+1+n <= p.cols:
		p.box.text(plotLeft+c+1, 0, label, p.Crosshair.Style)
	case n <= c:
		p.box.text(plotLeft+c-n, 0, label, p.Crosshair.Style)
	}
}
