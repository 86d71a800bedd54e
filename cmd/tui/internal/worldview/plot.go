package worldview

import (
	"cmp"
	"math"
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
)

// plot draws a part of the world into the cells of a framed canvas.
type plot struct {
	raster
	c          *look.Canvas
	cols, rows int     // inside of the frame
	layers     []layer // the layer of what is drawn in each cell, row by row
	things     []Thing
	marks      []mark // of the things
}

// reset starts a picture on a canvas. Like raster.reset it allocates only if the plot was always smaller before.
func (p *plot) reset(c *look.Canvas, k *Camera) {
	p.c = c
	p.cols, p.rows = max(c.W-2, 0), max(c.H-2, 0)
	p.raster.reset(k.view(cmp.Or(k.Cols, p.cols), p.rows), p.cols*dotsAcross, p.rows*dotsDown)
	p.layers = slices.Grow(p.layers[:0], p.cols*p.rows)[:p.cols*p.rows]
	clear(p.layers)
}

// Draw draws the things of a side on a canvas with a frame: view i from the left. receiver selects the things that
// the receiver displays. heat replaces the marks of kinds; nil for none.
func (m *Map) Draw(c *look.Canvas, th *look.Theme, i int, receiver bool, heat *Heat) {
	things, trails := m.Sent, &m.sentTracks
	if receiver {
		things, trails = m.Shown, &m.shownTracks
	}
	p := &m.plots[i]
	p.reset(c, &m.Camera)
	p.things, p.marks = things, p.marks[:0]
	for i := range things {
		p.marks = append(p.marks, m.mark(&things[i], heat))
	}
	p.drawOutlines(th)
	p.drawMarkers()
	if heat == nil {
		for i := range things {
			p.drawLine(&things[i])
		}
		p.drawTrails(trails)
		m.drawLabels(p)
	}
	if m.ShowsCubes() {
		p.drawArrowHome()
	}
	p.drawGroundMarks()
	m.drawLegend(p, th, heat)
}

// drawLegend explains the marks in the lower edge, at the end of which it writes the width of the view.
func (m *Map) drawLegend(p *plot, th *look.Theme, heat *Heat) {
	c := p.c
	if c.H <= 4 {
		return
	}
	if heat != nil {
		c.Spans(2, c.H-1, c.W-4, look.FitGroups(c.W-4, heat.legend(th, m.ShowsCubes()))...)
		return
	}
	width := " " + units.Fixed(p.dotSize*float64(p.raster.w), 0) + " " + m.Unit() + " across "
	if m.Camera.fixed {
		width += "(fixed) "
	}
	c.TextRight(c.W-2, c.H-1, look.Dim, width)
	space := c.W - 6 - look.TextWidth(width)
	c.Spans(2, c.H-1, space, look.FitGroups(space, m.legend(p.things))...)
}

// cellOf returns the cell of a place, which may lie outside of the plot.
func (p *plot) cellOf(x, y float64) (col, row int) {
	dotX, dotY := p.dotAt(x, y)
	return floorDiv(dotX, dotsAcross), floorDiv(dotY, dotsDown)
}

// floorDiv returns a/b rounded down. b is positive.
func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// hasCell reports whether a cell is within the plot.
func (p *plot) hasCell(col, row int) bool {
	return col >= 0 && col < p.cols && row >= 0 && row < p.rows
}

// set draws a rune in a cell unless the cell is outside of the plot, or has the same or a higher layer.
func (p *plot) set(col, row int, l layer, style look.Style, r rune) {
	if !p.hasCell(col, row) || p.layers[row*p.cols+col] >= l {
		return
	}
	p.layers[row*p.cols+col] = l
	p.c.Set(1+col, 1+row, style, r)
}

// drawOutlines draws the things with an outline.
func (p *plot) drawOutlines(th *look.Theme) {
	const minDots = 5 // the side of a thing from which boundaries between things are drawn
	leaveGaps := false
	for i := range p.things {
		t := &p.things[i]
		if t.Half == 0 {
			continue
		}
		if t.State == Player {
			above := *t
			above.Z = math.MaxFloat64 // never covered by cubes that stick to the player
			t = &above
		} else {
			leaveGaps = 2*float64(t.Half) >= minDots*p.dotSize
		}
		p.draw(i, t)
	}
	for row := range p.rows {
		for col := range p.cols {
			if mask, k := p.cell(col, row, leaveGaps, p.marks); mask != 0 {
				p.set(col, row, k.layer, k.style, k.shape(th, mask))
			}
		}
	}
}

// drawMarkers draws the things without an outline, and arrows at the edge to those that are outside of the plot.
func (p *plot) drawMarkers() {
	for i := range p.things {
		t, k := &p.things[i], &p.marks[i]
		if t.Half > 0 {
			continue
		}
		col, row := p.cellOf(t.X, t.Y)
		if arrow := p.arrowTo(col, row); arrow != 0 {
			p.set(min(max(col, 0), p.cols-1), min(max(row, 0), p.rows-1), arrowLayer, k.style, arrow)
			continue
		}
		p.set(col, row, k.layer, k.style, k.symbol)
	}
}

// arrowTo returns an arrow in the direction of a cell outside of the plot; 0 for a cell of the plot.
func (p *plot) arrowTo(col, row int) rune {
	side := func(v, size int) int { return 1 + cmp.Compare(v, min(max(v, 0), size-1)) } // 0 before the plot, 1 inside, 2 after it
	arrows := [3][3]rune{{'↖', '↑', '↗'}, {'←', 0, '→'}, {'↙', '↓', '↘'}}
	return arrows[side(row, p.rows)][side(col, p.cols)]
}

// drawTrails draws a dot at each place of the tracks except the newest places.
func (p *plot) drawTrails(t *tracks) {
	for _, track := range t.places { // in any order: all dots are equal
		for _, past := range track[:len(track)-1] {
			col, row := p.cellOf(past.x, past.y)
			p.set(col, row, trailLayer, look.Dim, '⠂')
		}
	}
}

// drawLine draws a line from the place of a displayed thing without an outline to a cross at the sender's place, if they
// are in different cells.
func (p *plot) drawLine(t *Thing) {
	if t.Half > 0 || math.IsNaN(t.SentX) {
		return
	}
	col, row := p.cellOf(t.X, t.Y)
	endCol, endRow := p.cellOf(t.SentX, t.SentY)
	dx, dy := endCol-col, endRow-row
	steps := max(dx, -dx, dy, -dy)
	if steps == 0 || steps > p.cols+p.rows { // longer lines end far outside
		return
	}
	const cellAspect = dotsDown / dotsAcross
	across, down := math.Abs(float64(dx)), cellAspect*math.Abs(float64(dy))
	r := '/'
	switch {
	case down > 2*across:
		r = '|'
	case across > 2*down:
		r = '-'
	case (dx > 0) == (dy > 0):
		r = '\\'
	}
	roundDiv := func(a int) int { return int(math.Round(float64(a) / float64(steps))) }
	for i := 1; i < steps; i++ {
		p.set(col+roundDiv(i*dx), row+roundDiv(i*dy), lineLayer, look.Late, r)
	}
	p.set(endCol, endRow, arrowLayer, look.Late, '×')
}

// drawLabels writes the names of moving things without an outline to their right, if the cells there are free.
func (m *Map) drawLabels(p *plot) {
	for i := range p.things {
		t := &p.things[i]
		if t.Half > 0 || t.State != Moving || t.Group > 0 {
			continue
		}
		name := m.ThingName(t)
		n := look.TextWidth(name) + 2 // a blank on each side
		col, row := p.cellOf(t.X, t.Y)
		if !p.hasCell(col, row) || col+n >= p.cols {
			continue
		}
		cells := p.layers[row*p.cols+col+1:][:n]
		if slices.Max(cells) != blank {
			continue
		}
		for i := range cells {
			cells[i] = labelLayer
		}
		p.c.Text(1+col+2, 1+row, look.Dim, name)
	}
}

// drawArrowHome draws an arrow at the border to the middle of the world, where the grid of cubes is, and how far that
// is, if it is out of view.
func (p *plot) drawArrowHome() {
	col, row := p.cellOf(0, 0)
	arrow := p.arrowTo(col, row)
	if arrow == 0 {
		return
	}
	text := string(arrow) + " home " + units.Fixed(math.Hypot(p.x, p.y), 0) + " m"
	x := min(max(col, 0), max(p.cols-look.TextWidth(text), 0))
	p.c.Clip(1+x, 1+min(max(row, 0), p.rows-1), p.cols-x, look.Key, text)
}

// drawGroundMarks draws marks at intervals of a power of ten, so that motion of the camera is visible.
func (p *plot) drawGroundMarks() {
	const maxMarks = 5 // about, on the narrower side
	width, height := p.dotSize*float64(p.raster.w), p.dotSize*float64(p.raster.h)
	step := math.Pow(10, math.Ceil(math.Log10(math.Min(width, height)/maxMarks)))
	if !(step > 0) { // there is no room
		return
	}
	first := func(v float64) float64 { return math.Floor(v/step) * step }
	for x := first(p.x - width/2); x <= p.x+width/2; x += step {
		for y := first(p.y - height/2); y <= p.y+height/2; y += step {
			col, row := p.cellOf(x, y)
			p.set(col, row, groundLayer, look.Faint, '┼')
		}
	}
}
