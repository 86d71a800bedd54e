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

// cellSides are the columns of a cell of the map for the marks of the selected one.
const cellSides = 2

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
	detail        int    // index of the text of cellMeans that all cells show
}

// cell returns the place and the size of the cell that is row i and column j of the visible ones.
func (g *mapGrid) cell(i, j int) (x, y, w, h int) {
	left, top := j*g.width/g.shown[1], i*g.height/g.shown[0]
	return g.x + left, g.y + top, (j+1)*g.width/g.shown[1] - left, (i+1)*g.height/g.shown[0] - top
}

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

// layOutMap computes the layout of the map in a pane of w x h. The cells fill the pane. They have the most detailed
// means with which all columns fit, if need be beside shortened labels of the rows. If no means fit, the map scrolls.
func (m *model) layOutMap(w, h int) mapGrid {
	rows, cols := m.axisValues(m.rows()), m.axisValues(m.columns())
	const left, top, edges = 1, 3, 2      // top: frame, names of the axes, headings of the columns
	const shortLabel, mediumLabel = 8, 12 // with the shortest means
	label := min(max(widest(rows), 4), w/3)
	least := min(label, shortLabel)
	space := w - edges - 1 // for labels and cells, with a column between them
	need := m.cellWidths()
	detail := 0
	for detail < len(need)-1 && len(cols)*need[detail] > space-[...]int{label, least}[min(detail, 1)] {
		detail++
	}
	if detail == numDetails-1 {
		label = min(label, mediumLabel) // more than the labels need, the cells need space for the interval
	}
	label = max(min(label, space-len(cols)*need[detail]), least)
	g := mapGrid{x: left + label + 1, y: top, width: space - label, height: max(h-top-1, 1), detail: detail}
	if m.columns() < 0 {
		g.width = min(g.width, max(need[detail], g.width/3)) // the rest of the row shows a bar
	}
	g.shown = [2]int{min(len(rows), g.height), max(min(len(cols), g.width/need[detail]), 1)}
	g.first[0] = scrollTo(m.scroll[0], m.cursorOn(m.rows()), g.shown[0], len(rows))
	g.first[1] = scrollTo(m.scroll[1], m.cursorOn(m.columns()), g.shown[1], len(cols))
	m.scroll = g.first
	return g
}

// cellWidths returns the columns of a cell for each text of cellMeans, with which it fits the cells of all points. Values
// of the axis above the cells may be shortened.
func (m *model) cellWidths() (widths [numDetails]int) {
	const minText, maxHeading = 3, 6
	for detail := range widths {
		widths[detail] = max(minText, min(widest(m.axisValues(m.columns())), maxHeading)-cellSides)
		for p := range m.means {
			widths[detail] = max(widths[detail], look.TextWidth(m.cellMeans(p)[detail]))
		}
		widths[detail] += cellSides + gapAfter(detail)
	}
	return widths
}

// gapAfter returns the columns between two cells with a text of cellMeans. The shortest texts are used if space is scarce.
func gapAfter(detail int) int {
	if detail == numDetails-1 {
		return 0
	}
	return 1
}

// widest returns the number of columns of the widest text.
func widest(list []string) (columns int) {
	for _, text := range list {
		columns = max(columns, look.TextWidth(text))
	}
	return columns
}

// drawMap draws the grid: a filled cell per point, coloured by the mean of the figure, and in the lower edge a
// legend and the seeds of the selected point. Row labels are on the left, and two rows of headings above.
func (m *model) drawMap(c *look.Canvas, focused bool) {
	c.Frame(m.Theme(), focused, "Map", m.figureSpans(c.W, "Map", m.direction())...)
	g := m.layOutMap(c.W, c.H)
	m.mapGrid = g
	m.drawHeadings(c, &g)
	rows := m.axisValues(m.rows())
	top := m.hi // of the bars
	for _, v := range m.means {
		_, hi, _ := v.Bounds()
		top = max(top, hi)
	}
	for i := range g.shown[0] {
		row := g.first[0] + i
		_, y, _, h := g.cell(i, 0)
		style := look.Dim
		if row == m.cursorOn(m.rows()) {
			style = look.Value
		}
		c.TextRight(g.x-1, y+firstLine(h), style, look.Shorten(rows[row], g.x-2))
		for j := range g.shown[1] {
			m.drawCell(c, &g, i, j)
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

// drawHeadings draws the names of the axes in row 1 and the headings of the columns in row 2.
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
	cols := m.axisValues(m.columns())
	for j := range g.shown[1] {
		col := g.first[1] + j
		style := look.Dim
		if col == m.cursorOn(m.columns()) {
			style = look.Value
		}
		x, _, w, _ := g.cell(0, j)
		text := look.Shorten(cols[col], w-1)
		w -= gapAfter(g.detail)
		c.Text(x+(w-look.TextWidth(text))/2, g.y-1, style, text)
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

// drawCell draws the point in row i and column j of the visible ones: its colour, as many lines of text as fit, and
// marks at both sides if it is selected.
func (m *model) drawCell(c *look.Canvas, g *mapGrid, i, j int) {
	x, y, w, h := g.cell(i, j)
	row, col := g.first[0]+i, g.first[1]+j
	indices := slices.Clone(m.cursor) // of the point on each axis
	if m.rows() >= 0 {
		indices[m.rows()] = row
	}
	if m.columns() >= 0 {
		indices[m.columns()] = col
	}
	p := m.watch.PointIndex(indices)
	width := w - gapAfter(g.detail)
	style := look.Faint
	if v := m.means[p]; v.N > 0 {
		style = look.FillStyle(m.level(v.Mean))
		m.fillCell(c, x, y, width, h, m.level(v.Mean))
	}
	narrowest, lowest := g.width/g.shown[1]-gapAfter(g.detail), g.height/g.shown[0] // so that all cells have the same lines
	for i, text := range m.cellText(p, narrowest-cellSides, lowest, g.detail) {
		if text != "" {
			text = " " + text + " " // separated from the shade
		}
		c.Text(x+max((width-look.TextWidth(text))/2, 0), y+firstLine(h)+i, style, text)
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

// firstLine returns the row of a cell of h rows in which its text begins. It is the same for all cells of a row.
func firstLine(h int) int {
	const lines = 3 // of most cells
	return max(h-lines, 0) / 2
}

// numDetails is the number of texts of cellMeans.
const numDetails = 3

// cellMeans returns the texts of the mean of point p in a cell, the most detailed first. They follow "~" if seeds are missing.
func (m *model) cellMeans(p int) [numDetails]string {
	v := m.means[p]
	switch {
	case v.N == 0 && m.seeds[p] > 0:
		return [...]string{"?", "?", "?"} // the point has results but not this figure
	case v.N == 0:
		return [...]string{"-", "-", "-"}
	}
	mark := ""
	if m.seeds[p] < m.watch.Repeat() {
		mark = "~"
	}
	number := mark + m.texts[p].mean
	return [...]string{number + spaced(m.row(m.figure).Unit), number, mark + units.Short(v.Mean)}
}

// cellText returns the lines, at most h, of the cell of point p: the mean, half of its confidence interval, and the ratio
// to the reference point. Lines of more than w columns are empty, so that the others have the same places in all cells.
// The reference is marked even without room for ratios.
func (m *model) cellText(p, w, h, detail int) []string {
	const rows = 3 // with a ratio
	lines := []string{m.cellMeans(p)[detail]}
	hasMean, isReference := m.means[p].N > 0, p == m.reference && len(m.means) > 1
	marked := lines[0] + " ref."
	switch hasRatio := hasMean && h >= rows; {
	case isReference && !hasRatio && h > 1:
		lines = append(lines, "ref.")
	case isReference && !hasRatio && look.TextWidth(marked) <= w:
		lines[0] = marked
	case hasMean && len(m.means) > 1:
		lines = append(append(lines, m.texts[p].interval), m.texts[p].comparison(w)...)
	}
	lines = lines[:min(len(lines), h)]
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

// direction describes which values of the figure are better; "" if neither are.
func (m *model) direction() string {
	switch m.row(m.figure).Better {
	case figures.LessIsBetter:
		return ", less is better"
	case figures.MoreIsBetter:
		return ", more is better"
	}
	return ""
}

// drawLegend draws the scale of the colours into the lower edge, with the range of the means.
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
		c.Text(x, y, look.Dim, " "+units.Fixed(m.hi, m.decimals)+" ")
	}
}
