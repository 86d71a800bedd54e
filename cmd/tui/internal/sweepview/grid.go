package sweepview

import (
	"math"

	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
)

// Widths of a cell of the map: wide cells contain the value, narrow ones only the shade.
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

// scrollTo returns the index of the first visible element of a list of total elements, of which n are visible:
// first, moved as little as needed to make element cursor visible.
func scrollTo(first, cursor, n, total int) int {
	first = max(min(first, cursor), cursor-n+1)
	return max(0, min(first, total-n))
}

// drawMap draws the grid: a cell per point, shaded by the mean of the figure. Row labels are on the left, and
// two rows of headings above. The map scrolls so that the cursor is visible.
func (m *model) drawMap(c *look.Canvas) {
	m.mapSize = [2]int{c.W, c.H}
	rows, cols := m.axisValues(m.rows()), m.axisValues(m.columns())
	labelWidth := 4
	for _, v := range rows {
		labelWidth = max(labelWidth, look.TextWidth(v))
	}
	labelWidth = min(labelWidth, c.W/4)
	gridWidth := c.W - labelWidth - 1
	cellWidth := wideCell
	if len(cols)*wideCell > gridWidth {
		cellWidth = narrowCell
	}
	shownRows, shownCols := min(len(rows), max(c.H-2, 1)), min(len(cols), max(gridWidth/cellWidth, 1))
	m.scroll[0] = scrollTo(m.scroll[0], m.cursorOn(m.rows()), shownRows, len(rows))
	m.scroll[1] = scrollTo(m.scroll[1], m.cursorOn(m.columns()), shownCols, len(cols))
	m.drawHeadings(c, labelWidth, cellWidth, shownRows, shownCols)
	for i := range shownRows {
		row := m.scroll[0] + i
		style := look.Dim
		if row == m.cursorOn(m.rows()) {
			style = look.Value
		}
		c.TextRight(labelWidth, 2+i, style, look.Shorten(rows[row], labelWidth))
		for j := range shownCols {
			m.drawCell(c, labelWidth+1+j*cellWidth, 2+i, cellWidth, row, m.scroll[1]+j)
		}
		if len(cols) == 1 { // a single axis leaves room for bars
			m.drawBar(c, labelWidth+1+wideCell+1, 2+i, m.pointAt(m.rows(), row))
		}
	}
}

// drawHeadings draws the names of the axes in row 0 and the headings of the columns in row 1. Narrow columns
// have room only for the headings of the selected, the first and the last column, as far as these do not
// overlap.
func (m *model) drawHeadings(c *look.Canvas, labelWidth, cellWidth, shownRows, shownCols int) {
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
	cols, first := m.axisValues(m.columns()), m.scroll[1]
	selected := m.cursorOn(m.columns())
	columnX := func(col int) int { return labelWidth + 1 + (col-first)*cellWidth }
	if cellWidth == wideCell {
		for col := first; col < first+shownCols; col++ {
			style := look.Dim
			if col == selected {
				style = look.Value
			}
			c.TextRight(columnX(col)+cellWidth-1, 1, style, look.Shorten(cols[col], cellWidth-1))
		}
		return
	}
	selectedEnd := c.Text(columnX(selected), 1, look.Value, cols[selected]) + 1 // with a gap
	if columnX(first)+look.TextWidth(cols[first])+1 < columnX(selected) {
		c.Text(columnX(first), 1, look.Dim, cols[first])
	}
	last := first + shownCols - 1
	if x := columnX(last) + cellWidth - look.TextWidth(cols[last]); x > selectedEnd {
		c.Text(x, 1, look.Dim, cols[last])
	}
}

// shadeLevel maps v from the range of all means to 0 to NumHeats-1; 0 if all means are equal.
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

// drawCell draws the point in the given row and column of the map at (x, y), in w columns: brackets if it is
// selected, its shade and, in a wide cell, its mean, which follows "~" if seeds are missing.
func (m *model) drawCell(c *look.Canvas, x, y, w, row, col int) {
	indices := append([]int{}, m.cursor...) // of the point on each axis
	if m.rows() >= 0 {
		indices[m.rows()] = row
	}
	if m.columns() >= 0 {
		indices[m.columns()] = col
	}
	p := m.watch.PointIndex(indices)
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
	style := look.Heat + look.Style(m.shadeLevel(v))
	c.Set(x+1, y, style, m.shade(m.shadeLevel(v)))
	if w == narrowCell {
		return
	}
	valueStyle := look.Plain
	if m.seeds[p] < m.watch.Repeat() {
		c.Set(x+2, y, look.Dim, '~')
		valueStyle = look.Dim
	}
	c.TextRight(x+w-1, y, valueStyle, units.Short(v))
}

// drawBar draws the mean of point p as a bar from 0, for grids with a single axis. The bar of the largest mean
// takes all columns from x on; there is none for negative means.
func (m *model) drawBar(c *look.Canvas, x, y, p int) {
	v := m.means[p]
	if math.IsNaN(v) || m.hi <= 0 || v < 0 || x >= c.W {
		return
	}
	c.Fill(x, y, int(math.Round(float64(c.W-x)*v/m.hi)), look.Gauge, m.Theme().GaugeOn)
}
