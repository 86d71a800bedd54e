package sweepview

import (
	"fmt"
	"math"
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// Widths of a cell of the map: the least, and the least with a gap to the next cell.
const minCellWidth, gapCellWidth = 3, 8

// axisValues returns the values of an axis, or one empty value if axis is -1.
func (m *model) axisValues(axis int) []string {
	if axis < 0 {
		return []string{""}
	}
	return m.axes[axis].Values
}

// cursorOn returns the cursor's index on an axis, 0 if axis is -1.
func (m *model) cursorOn(axis int) int {
	if axis < 0 {
		return 0
	}
	return m.cursor[axis]
}

// mapRows returns the rows that the pane of the map needs for all lines of text in each cell.
func (m *model) mapRows() int {
	const headings, edges, cellLines = 2, 2, 3
	return len(m.axisValues(m.rows()))*cellLines + headings + edges
}

// scrollTo returns the index of the first visible element of a list of total elements, of which n are visible:
// first, moved as little as needed to make element cursor visible.
func scrollTo(first, cursor, n, total int) int {
	first = max(min(first, cursor), cursor-n+1)
	return max(0, min(first, total-n))
}

// mapGrid is the layout of the map's cells in its pane. The cells fill their area; the widths and heights of two
// cells differ by at most one.
type mapGrid struct {
	x, y          int    // upper left corner of the first cell
	width, height int    // columns and rows of all cells
	first         [2]int // row and column of the map that the first cell shows
	shown         [2]int // visible rows and columns of the map
}

// cell returns the place and the size of the cell that is row i and column j of the visible ones.
func (g *mapGrid) cell(i, j int) (x, y, w, h int) {
	left, top := j*g.width/g.shown[1], i*g.height/g.shown[0]
	return g.x + left, g.y + top, (j+1)*g.width/g.shown[1] - left, (i+1)*g.height/g.shown[0] - top
}

// cellWidth returns the width of the narrowest cell.
func (g *mapGrid) cellWidth() int { return g.width / g.shown[1] }

// cellAt returns the row and the column of the map at (x, y) of the pane; ok is false if there is no cell.
func (g *mapGrid) cellAt(x, y int) (row, col int, ok bool) {
	for i := range g.shown[0] {
		for j := range g.shown[1] {
			if left, top, w, h := g.cell(i, j); x >= left && x < left+w && y >= top && y < top+h {
				return g.first[0] + i, g.first[1] + j, true
			}
		}
	}
	return 0, 0, false
}

// layOutMap computes the layout of the map in a pane of w x h: cells grow to fill the pane, and the map scrolls if
// they do not fit.
func (m *model) layOutMap(w, h int) mapGrid {
	rows, cols := m.axisValues(m.rows()), m.axisValues(m.columns())
	const left, top, bottom = 1, 3, 1 // frame, names of the axes, headings of the columns
	labelWidth := 4
	for _, v := range rows {
		labelWidth = max(labelWidth, look.TextWidth(v))
	}
	g := mapGrid{x: left + min(labelWidth, w/4) + 1, y: top, height: max(h-top-bottom, 1)}
	g.width = max(w-g.x-1, minCellWidth)
	if m.columns() < 0 {
		g.width = min(g.width, max(gapCellWidth, g.width/3)) // the rest of the row shows a bar
	}
	g.shown = [2]int{min(len(rows), g.height), min(len(cols), g.width/minCellWidth)}
	g.first[0] = scrollTo(m.scroll[0], m.cursorOn(m.rows()), g.shown[0], len(rows))
	g.first[1] = scrollTo(m.scroll[1], m.cursorOn(m.columns()), g.shown[1], len(cols))
	m.scroll = g.first
	return g
}

// drawMap draws the grid: a filled cell per point, coloured by the mean of the figure, and in the lower edge a
// legend and the seeds of the selected point. Row labels are on the left, and two rows of headings above.
func (m *model) drawMap(c *look.Canvas, focused bool) {
	c.Frame(m.Theme(), focused, "Map", m.figureSpans(c.W, "Map", "")...)
	g := m.layOutMap(c.W, c.H)
	m.mapGrid = g
	m.drawHeadings(c, &g)
	rows := m.axisValues(m.rows())
	top := m.hi // of the bars
	for _, v := range m.means {
		_, hi, _ := v.Bounds()
		top = max(top, hi)
	}
	detail := m.cellDetail(g.cellWidth())
	for i := range g.shown[0] {
		row := g.first[0] + i
		_, y, _, h := g.cell(i, 0)
		style := look.Dim
		if row == m.cursorOn(m.rows()) {
			style = look.Value
		}
		c.TextRight(g.x-1, y+(h-1)/2, style, look.Shorten(rows[row], g.x-2))
		for j := range g.shown[1] {
			x, y, w, h := g.cell(i, j)
			m.drawCell(c, x, y, w, h, row, g.first[1]+j, detail)
		}
		if m.columns() < 0 { // a single axis leaves room for bars
			m.drawBar(c, g.x+g.width+1, y, h, m.pointAt(m.rows(), row), top)
		}
	}
	m.drawLegend(c)
	if c.W >= 60 {
		c.TextRight(c.W-2, c.H-1, look.Dim, fmt.Sprintf(" seeds %d of %d ", m.seeds[m.selected()], m.watch.Repeat()))
	}
}

// drawHeadings draws the names of the axes in row 1 and the headings of the columns in row 2: that of the selected
// column, the first, the last, and the others as far as they do not overlap.
func (m *model) drawHeadings(c *look.Canvas, g *mapGrid) {
	if m.rows() < 0 {
		c.Text(2, 1, look.Dim, "one point")
		return
	}
	pieces := []look.Span{look.Title.Span(config.KeyInWords(m.axes[m.rows()].Key)), look.Dim.Span(" down")}
	if m.columns() >= 0 {
		pieces = append(pieces, look.Dim.Span(", "), look.Title.Span(config.KeyInWords(m.axes[m.columns()].Key)), look.Dim.Span(" across"))
	}
	if g.shown[0] < len(m.axisValues(m.rows())) || g.shown[1] < len(m.axisValues(m.columns())) {
		pieces = append(pieces, look.Dim.Span("; scroll for more"))
	}
	c.Spans(2, 1, c.W-4, pieces...)
	cols, selected := m.axisValues(m.columns()), m.cursorOn(m.columns())
	order := []int{selected, g.first[1], g.first[1] + g.shown[1] - 1}
	for j := range g.shown[1] {
		order = append(order, g.first[1]+j)
	}
	const headingRow = 2
	taken := make([]bool, c.W+1) // columns with text, and one after it
	for _, col := range order {
		x, _, w, _ := g.cell(0, col-g.first[1])
		text := cols[col]
		if g.cellWidth() >= gapCellWidth {
			text = look.Shorten(text, w-1)
		}
		width := look.TextWidth(text)
		x = max(g.x, min(x+(w-width)/2, c.W-1-width))
		place := taken[x:min(x+width+1, len(taken))]
		if slices.Contains(place, true) {
			continue
		}
		style := look.Dim
		if col == selected {
			style = look.Value
		}
		c.Clip(x, headingRow, c.W-1-x, style, text)
		for i := range place {
			place[i] = true
		}
	}
}

// level maps v from the range of all means to 0 to look.NumFills-1; 0 if all means are equal.
func (m *model) level(v float64) int {
	if m.hi <= m.lo {
		return 0
	}
	return min(int((v-m.lo)/(m.hi-m.lo)*look.NumFills), look.NumFills-1)
}

// fillCell fills w x h cells at (x, y) with the colour of a level or, without colours, with its shade.
func (m *model) fillCell(c *look.Canvas, x, y, w, h, level int) {
	style, r := look.FillStyle(level), ' '
	if !m.Theme().Color {
		r = []rune(" ·░░▒▒▓█")[level] // denser means larger
	}
	for k := range h {
		c.Fill(x, y+k, w, style, r)
	}
}

// drawCell draws the point in the given row and column of the map at (x, y), in w x h cells: its colour, as many
// lines of text as fit, and marks at both sides if it is selected. detail is the result of cellDetail.
func (m *model) drawCell(c *look.Canvas, x, y, w, h, row, col, detail int) {
	indices := append([]int{}, m.cursor...) // of the point on each axis
	if m.rows() >= 0 {
		indices[m.rows()] = row
	}
	if m.columns() >= 0 {
		indices[m.columns()] = col
	}
	p := m.watch.PointIndex(indices)
	width := w
	if w >= gapCellWidth {
		width = w - 1
	}
	style := look.Faint
	if v := m.means[p]; v.N > 0 {
		style = look.FillStyle(m.level(v.Mean))
		m.fillCell(c, x, y, width, h, m.level(v.Mean))
	}
	lines := m.cellText(p, width-cellSides, detail)
	const usualLines = 3 // the same first row in all cells of a row
	for i, text := range lines[:min(len(lines), h)] {
		if text != "" {
			text = " " + text + " " // separated from the shade
		}
		c.Text(x+max((width-look.TextWidth(text))/2, 0), y+(h-min(usualLines, h))/2+i, style, text)
	}
	if row == m.cursorOn(m.rows()) && col == m.cursorOn(m.columns()) {
		left, right := '▐', '▌'
		if !m.Theme().Color || h == 1 {
			left, right = '[', ']'
		}
		for k := range h {
			c.Set(x, y+k, look.Chosen, left)
			c.Set(x+width-1, y+k, look.Chosen, right)
		}
	}
}

// cellSides are the columns of a cell for the marks of the selected one.
const cellSides = 2

// cellMeans returns the texts of the mean of point p in a cell, the most detailed first. They follow "~" if seeds are missing.
func (m *model) cellMeans(p int) []string {
	v := m.means[p]
	switch {
	case v.N == 0 && m.seeds[p] > 0:
		return []string{"?", "?", "?"} // the point has results but not this figure
	case v.N == 0:
		return []string{"-", "-", "-"}
	}
	mark := ""
	if m.seeds[p] < m.watch.Repeat() {
		mark = "~"
	}
	number := mark + m.texts[p].mean
	return []string{number + spaced(m.row(m.figure).Unit), number, mark + units.Short(v.Mean)}
}

// cellDetail returns the index of the first text of cellMeans that fits the cells of all points; of the last one if none
// does. The cells are w columns wide.
func (m *model) cellDetail(w int) (detail int) {
	if w >= gapCellWidth {
		w--
	}
	for p := range m.means {
		list := m.cellMeans(p)
		for detail < len(list)-1 && look.TextWidth(list[detail]) > w-cellSides {
			detail++
		}
	}
	return detail
}

// cellText returns the lines of the cell of point p: the mean, half of its confidence interval, and the ratio to the
// reference point. Lines of more than w columns are empty, so that the others have the same places in all cells.
func (m *model) cellText(p, w, detail int) []string {
	lines := []string{m.cellMeans(p)[detail]}
	if m.means[p].N > 0 && len(m.means) > 1 {
		t := &m.texts[p]
		lines = append(append(lines, t.interval), t.comparison(w)...)
	}
	for i, text := range lines {
		if look.TextWidth(text) > w {
			lines[i] = ""
		}
	}
	return lines
}

// drawBar draws the mean of point p as a bar from 0 with its confidence interval, in h rows from (x, y), for grids
// with a single axis. The value top takes all columns up to the edge; there is no bar for negative means.
func (m *model) drawBar(c *look.Canvas, x, y, h, p int, top float64) {
	v := m.means[p]
	width := c.W - 2 - x
	if v.N == 0 || top <= 0 || v.Mean < 0 || width < 4 {
		return
	}
	column := func(value float64) int { return x + max(0, min(int(math.Round(float64(width-1)*value/top)), width-1)) }
	const maxThick = 3
	thick := min(max(h-1, 1), maxThick) // leaves a free row between bars if h is at least 2
	y += (h - thick) / 2
	for k := range thick {
		c.Fill(x, y+k, column(v.Mean)-x+1, look.Gauge, m.Theme().GaugeOn)
	}
	lo, hi, _ := v.Bounds()
	left, right := column(lo), column(hi)
	if left == right {
		return
	}
	middle := y + (thick-1)/2
	c.Fill(left, middle, right-left+1, look.Value, '─')
	c.Set(left, middle, look.Value, '├')
	c.Set(right, middle, look.Value, '┤')
}

// drawLegend draws the scale of the colours into the lower edge, with the range of the means, and which values are
// better.
func (m *model) drawLegend(c *look.Canvas) {
	if m.hi < m.lo {
		return
	}
	const cell = 2 // columns of a level
	x, y := 2, c.H-1
	x = c.Text(x, y, look.Dim, " "+units.Fixed(m.lo, m.decimals)+" ")
	if m.hi > m.lo {
		for level := range look.NumFills {
			m.fillCell(c, x, y, cell, 1, level)
			x += cell
		}
		x = c.Text(x, y, look.Dim, " "+units.Fixed(m.hi, m.decimals))
	}
	row := m.row(m.figure)
	better := ""
	switch row.Better {
	case figures.LessIsBetter:
		better = ", less is better"
	case figures.MoreIsBetter:
		better = ", more is better"
	}
	const seedsWidth = 20 // at the right
	c.Spans(x, y, c.W, look.Fit(c.W-seedsWidth-x, []look.Span{look.Dim.Span(spaced(row.Unit) + better + " ")}, []look.Span{look.Dim.Span(spaced(row.Unit) + " ")})...)
}
