package shown

import (
	"math"
	"slices"

	"wirelab/cmd/tui/internal/look"
)

// plot draws points of the world into the cells of a framed canvas.
type plot struct {
	c                *look.Canvas
	w, h             int // columns and rows inside of the frame
	unitsPerColumn   float64
	centreX, centreY float64 // in the world
	layers           []layer // the layer of what is drawn in each cell, row by row
	symbols          *plotSymbols
}

// plotSymbols are the runes of a plot.
type plotSymbols struct{ left, right, up, down, trail, cross rune }

var unicodeSymbols, asciiSymbols = plotSymbols{'◂', '▸', '▴', '▾', '⠂', '×'}, plotSymbols{'<', '>', '^', 'v', ',', '+'}

// layer orders what is drawn in a cell: a higher layer covers a lower one.
type layer uint8

const (
	blank layer = iota
	trailLayer
	lineLayer
	labelLayer
	arrowLayer  // also of crosses
	markerLayer // plus the state of the point
)

// unitsPerColumn returns the scale at which an extent fits into w columns and h rows. A cell is cellAspect times as high
// as wide; the scale is the same in both directions.
func (e *extent) unitsPerColumn(w, h int) float64 {
	units := math.Max((e.right-e.left)/float64(max(w-1, 1)), (e.top-e.bottom)/float64(cellAspect*max(h-1, 1)))
	if !(units > 0) { // all points are at one position
		return 1
	}
	return units
}

// cellAspect is the height of a cell of a terminal, in widths.
const cellAspect = 2

// newPlot returns an empty plot, at a scale, of an extent on a canvas with a frame.
func newPlot(c *look.Canvas, th *look.Theme, e *extent, unitsPerColumn float64) *plot {
	p := &plot{c: c, w: c.W - 2, h: c.H - 2, unitsPerColumn: unitsPerColumn,
		centreX: (e.left + e.right) / 2, centreY: (e.bottom + e.top) / 2, symbols: &unicodeSymbols}
	if th.Ascii {
		p.symbols = &asciiSymbols
	}
	p.layers = make([]layer, p.w*p.h)
	return p
}

// cell returns the cell of a place, which may lie outside of the plot.
func (p *plot) cell(x, y float64) (col, row int) {
	return int(math.Floor((x-p.centreX)/p.unitsPerColumn + float64(p.w)/2)),
		int(math.Floor((p.centreY-y)/(cellAspect*p.unitsPerColumn) + float64(p.h)/2))
}

// set draws a rune in a cell unless the cell is outside of the plot, or has the same or a higher layer.
func (p *plot) set(col, row int, l layer, style look.Style, r rune) {
	if col < 0 || col >= p.w || row < 0 || row >= p.h || p.layers[row*p.w+col] >= l {
		return
	}
	p.layers[row*p.w+col] = l
	p.c.Set(1+col, 1+row, style, r)
}

// drawTrails draws a dot at each place of the tracks except the newest places.
func (p *plot) drawTrails(t *tracks) {
	for _, track := range t.places { // in any order: all dots are equal
		for _, past := range track[:len(track)-1] {
			col, row := p.cell(past.x, past.y)
			p.set(col, row, trailLayer, look.Dim, p.symbols.trail)
		}
	}
}

// drawLine draws a line from the displayed place of a point to a cross at the sender's place, if they are in different
// cells.
func (p *plot) drawLine(shown, sent point) {
	col, row := p.cell(shown.x, shown.y)
	endCol, endRow := p.cell(sent.x, sent.y)
	dx, dy := endCol-col, endRow-row
	steps := max(dx, -dx, dy, -dy)
	if steps == 0 || steps > p.w+p.h { // longer lines end far outside
		return
	}
	r := '-'
	switch across, down := math.Abs(float64(dx)), cellAspect*math.Abs(float64(dy)); {
	case down > 2*across:
		r = '|'
	case across > 2*down:
	case (dx > 0) == (dy > 0):
		r = '\\'
	default:
		r = '/'
	}
	for i := 1; i < steps; i++ {
		p.set(col+roundDiv(i*dx, steps), row+roundDiv(i*dy, steps), lineLayer, look.Late, r)
	}
	p.set(endCol, endRow, arrowLayer, look.Late, p.symbols.cross)
}

// roundDiv returns a/b rounded to the nearest integer. b is positive.
func roundDiv(a, b int) int { return int(math.Round(float64(a) / float64(b))) }

// drawMarker draws the marker of a point, or an arrow at the edge if the point is outside of the plot.
func (p *plot) drawMarker(pt *point, style look.Style, r rune) {
	col, row := p.cell(pt.x, pt.y)
	switch {
	case col < 0:
		p.set(0, min(max(row, 0), p.h-1), arrowLayer, style, p.symbols.left)
	case col >= p.w:
		p.set(p.w-1, min(max(row, 0), p.h-1), arrowLayer, style, p.symbols.right)
	case row < 0:
		p.set(col, 0, arrowLayer, style, p.symbols.up)
	case row >= p.h:
		p.set(col, p.h-1, arrowLayer, style, p.symbols.down)
	default:
		p.set(col, row, markerLayer+layer(pt.state), style, r)
	}
}

// drawLabel writes a name to the right of a point, if the cells there are free.
func (p *plot) drawLabel(pt *point, name string) {
	col, row := p.cell(pt.x, pt.y)
	n := look.TextWidth(name) + 2 // a blank on each side
	if col < 0 || row < 0 || row >= p.h || col+n >= p.w {
		return
	}
	cells := p.layers[row*p.w+col+1:][:n]
	if slices.Max(cells) != blank {
		return
	}
	for i := range cells {
		cells[i] = labelLayer
	}
	p.c.Text(1+col+2, 1+row, look.Dim, name)
}
