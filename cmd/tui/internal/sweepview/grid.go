package sweepview

import (
	"math"

	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
)

// Widths of a cell of the map: with its value, and without.
const wideCell, narrowCell = 9, 3

// axisValues returns the values of an axis, or one empty value if axis is -1.
func (m *model) axisValues(axis int) []string {
	if axis < 0 {
		return []string{""}
	}
	return m.axes[axis].Values
}

// mapRows returns the rows of the whole map.
func (m *model) mapRows() int { return len(m.axisValues(m.rows())) }

// cursorOn returns the cursor's index on an axis, 0 if axis is -1.
func (m *model) cursorOn(axis int) int {
	if axis < 0 {
		return 0
	}
	return m.cursor[axis]
}

// scrollTo returns the first index of a window of n out of total elements, moved from first as little as
// needed to contain cursor.
func scrollTo(first, cursor, n, total int) int {
	first = max(min(first, cursor), cursor-n+1)
	return max(0, min(first, total-n))
}

// drawMap draws the grid: a cell per point, shaded by the mean of the figure.
func (m *model) drawMap(c *look.Canvas) {
	rows, cols := m.axisValues(m.rows()), m.axisValues(m.columns())
	label := 4
	for _, v := range rows {
		label = max(label, look.TextWidth(v))
	}
	label = min(label, c.W/4)
	room := c.W - label - 1
	cell := wideCell
	if len(cols)*wideCell > room {
		cell = narrowCell
	}
	shownRows, shownCols := min(len(rows), max(c.H-2, 1)), min(len(cols), max(room/cell, 1))
	m.scroll[0] = scrollTo(m.scroll[0], m.cursorOn(m.rows()), shownRows, len(rows))
	m.scroll[1] = scrollTo(m.scroll[1], m.cursorOn(m.columns()), shownCols, len(cols))
	m.drawHeadings(c, label, cell, shownRows, shownCols)
	for i := range shownRows {
		row := m.scroll[0] + i
		style := look.Dim
		if row == m.cursorOn(m.rows()) {
			style = look.Value
		}
		name := look.Short(rows[row], label)
		c.Right(label, 2+i, style, name)
		for j := range shownCols {
			m.drawCell(c, label+1+j*cell, 2+i, cell, row, m.scroll[1]+j)
		}
		if len(cols) == 1 { // a single axis leaves room for bars
			m.drawBar(c, label+1+wideCell+1, 2+i, m.pointAt(m.rows(), row))
		}
	}
}

// drawHeadings draws the names of the axes and the headings of the columns. label is the width of the
// row labels, cell that of a column. Narrow columns have room only for the headings of the selected,
// the first and the last column.
func (m *model) drawHeadings(c *look.Canvas, label, cell, shownRows, shownCols int) {
	if m.rows() < 0 {
		c.Text(0, 0, look.Dim, "one point")
		return
	}
	pieces := []look.Span{look.Title.Span(m.axes[m.rows()].Key), look.Dim.Span(" down")}
	if m.columns() >= 0 {
		pieces = append(pieces, look.Dim.Span(", "), look.Title.Span(m.axes[m.columns()].Key), look.Dim.Span(" across"))
	}
	if shownRows < m.mapRows() || shownCols < len(m.axisValues(m.columns())) {
		pieces = append(pieces, look.Dim.Span("; scroll for more"))
	}
	c.Spans(0, 0, c.W, pieces...)
	cols := m.axisValues(m.columns())
	free := 0
	for _, first := range []bool{true, false} { // the selected column has priority
		for j := range shownCols {
			at, here := m.scroll[1]+j, m.scroll[1]+j == m.cursorOn(m.columns())
			x := label + 1 + j*cell
			switch {
			case cell == wideCell && first:
				style := look.Dim
				if here {
					style = look.Value
				}
				c.Right(x+cell-1, 1, style, look.Short(cols[at], cell-1))
			case cell == narrowCell && first && here:
				free = c.Text(x, 1, look.Value, cols[at]) + 1
			case cell == narrowCell && !first && j == 0 && x+look.TextWidth(cols[at])+1 < label+1+(m.cursorOn(m.columns())-m.scroll[1])*cell:
				c.Text(x, 1, look.Dim, cols[at])
			case cell == narrowCell && !first && j == shownCols-1:
				if w := look.TextWidth(cols[at]); x+cell-w > free {
					c.Text(x+cell-w, 1, look.Dim, cols[at])
				}
			}
		}
	}
}

// shadeLevel maps v from the range of all means to 0 to NumHeats-1.
func (m *model) shadeLevel(v float64) int {
	if m.hi <= m.lo {
		return 0
	}
	return min(int((v-m.lo)/(m.hi-m.lo)*look.NumHeats), look.NumHeats-1)
}

// shade returns the rune for a level; denser means larger.
func (m *model) shade(level int) rune {
	if m.Theme().Ascii {
		return []rune(".:+*#")[level]
	}
	return []rune("·░▒▓█")[level]
}

// drawCell draws the point in the given row and column of the map at (x, y), in w columns.
func (m *model) drawCell(c *look.Canvas, x, y, w, row, col int) {
	at := append([]int{}, m.cursor...)
	if m.rows() >= 0 {
		at[m.rows()] = row
	}
	if m.columns() >= 0 {
		at[m.columns()] = col
	}
	p := m.watch.Point(at)
	if row == m.cursorOn(m.rows()) && col == m.cursorOn(m.columns()) {
		c.Set(x, y, look.Chosen, '[')
		c.Set(x+w-1, y, look.Chosen, ']')
	}
	v := m.means[p]
	switch {
	case math.IsNaN(v) && m.seeds[p] > 0:
		c.Set(x+1, y, look.Faint, '?') // the point has results but not this figure
		return
	case math.IsNaN(v):
		c.Set(x+1, y, look.Faint, '-')
		return
	}
	style := look.Heat + look.Ink(m.shadeLevel(v))
	c.Set(x+1, y, style, m.shade(m.shadeLevel(v)))
	if w == narrowCell {
		return
	}
	number := look.Plain
	if m.seeds[p] < m.watch.Repeat() {
		c.Set(x+2, y, look.Dim, '~')
		number = look.Dim
	}
	c.Right(x+w-1, y, number, units.Short(v))
}

// drawBar draws the mean of point p as a bar from 0, for grids with a single axis.
func (m *model) drawBar(c *look.Canvas, x, y, p int) {
	v := m.means[p]
	if math.IsNaN(v) || m.hi <= 0 || v < 0 || x >= c.W {
		return
	}
	c.Fill(x, y, int(math.Round(float64(c.W-x)*v/m.hi)), look.Gauge, m.Theme().GaugeOn)
}
