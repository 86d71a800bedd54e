package sweepview

import (
	"math"

	"wirelab/cmd/tui/internal/look"
	"wirelab/internal/units"
)

// Widths of a cell: with its number, and where there is no room for it.
const wideCell, narrowCell = 9, 3

// values returns the values of an axis; one that is empty without the axis.
func (m *model) values(axis int) []string {
	if axis < 0 {
		return []string{""}
	}
	return m.axes[axis].Values
}

// mapRows is how many rows the whole map has.
func (m *model) mapRows() int { return len(m.values(m.rows())) }

// place is where the cursor is on an axis.
func (m *model) place(axis int) int {
	if axis < 0 {
		return 0
	}
	return m.at[axis]
}

// follow moves a window of n of all places so that at is in it.
func follow(first, at, n, all int) int {
	first = max(min(first, at), at-n+1)
	return max(0, min(first, all-n))
}

// drawMap draws the grid: a cell for each point, shaded by the mean of its figure.
func (m *model) drawMap(c *look.Canvas) {
	rows, cols := m.values(m.rows()), m.values(m.columns())
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
	m.scroll[0] = follow(m.scroll[0], m.place(m.rows()), shownRows, len(rows))
	m.scroll[1] = follow(m.scroll[1], m.place(m.columns()), shownCols, len(cols))
	m.drawHeads(c, label, cell, shownRows, shownCols)
	for i := range shownRows {
		row := m.scroll[0] + i
		ink := look.Dim
		if row == m.place(m.rows()) {
			ink = look.Value
		}
		name := look.Short(rows[row], label)
		c.Right(label, 2+i, ink, name)
		for j := range shownCols {
			m.drawCell(c, label+1+j*cell, 2+i, cell, row, m.scroll[1]+j)
		}
		if len(cols) == 1 { // there is room for a bar
			m.drawBar(c, label+1+wideCell+1, 2+i, m.point(m.rows(), row))
		}
	}
}

// drawHeads names the axes and the columns.
func (m *model) drawHeads(c *look.Canvas, label, cell, shownRows, shownCols int) {
	if m.rows() < 0 {
		c.Text(0, 0, look.Dim, "one point")
		return
	}
	pieces := []look.Span{look.Title.Span(m.axes[m.rows()].Key), look.Dim.Span(" down")}
	if m.columns() >= 0 {
		pieces = append(pieces, look.Dim.Span(", "), look.Title.Span(m.axes[m.columns()].Key), look.Dim.Span(" across"))
	}
	if shownRows < m.mapRows() || shownCols < len(m.values(m.columns())) {
		pieces = append(pieces, look.Dim.Span("; there is more"))
	}
	c.Spans(0, 0, c.W, pieces...)
	cols := m.values(m.columns())
	free := 0
	for _, first := range []bool{true, false} { // the one under the cursor before all others
		for j := range shownCols {
			at, here := m.scroll[1]+j, m.scroll[1]+j == m.place(m.columns())
			x := label + 1 + j*cell
			switch {
			case cell == wideCell && first:
				ink := look.Dim
				if here {
					ink = look.Value
				}
				c.Right(x+cell-1, 1, ink, look.Short(cols[at], cell-1))
			case cell == narrowCell && first && here:
				free = c.Text(x, 1, look.Value, cols[at]) + 1
			case cell == narrowCell && !first && j == 0 && x+look.TextWidth(cols[at])+1 < label+1+(m.place(m.columns())-m.scroll[1])*cell:
				c.Text(x, 1, look.Dim, cols[at])
			case cell == narrowCell && !first && j == shownCols-1:
				if w := look.TextWidth(cols[at]); x+cell-w > free {
					c.Text(x+cell-w, 1, look.Dim, cols[at])
				}
			}
		}
	}
}

// level is where a value stands among all means, from 0 to NumHeats-1.
func (m *model) level(v float64) int {
	if m.hi <= m.lo {
		return 0
	}
	return min(int((v-m.lo)/(m.hi-m.lo)*look.NumHeats), look.NumHeats-1)
}

// shade is what fills a cell of a level: more of it is more.
func (m *model) shade(level int) rune {
	if m.Theme().Ascii {
		return []rune(".:+*#")[level]
	}
	return []rune("·░▒▓█")[level]
}

func (m *model) drawCell(c *look.Canvas, x, y, w, row, col int) {
	at := append([]int{}, m.at...)
	if m.rows() >= 0 {
		at[m.rows()] = row
	}
	if m.columns() >= 0 {
		at[m.columns()] = col
	}
	p := m.watch.Point(at)
	if row == m.place(m.rows()) && col == m.place(m.columns()) {
		c.Set(x, y, look.Chosen, '[')
		c.Set(x+w-1, y, look.Chosen, ']')
	}
	v := m.means[p]
	switch {
	case math.IsNaN(v) && m.seeds[p] > 0:
		c.Set(x+1, y, look.Faint, '?') // it has no such figure
		return
	case math.IsNaN(v):
		c.Set(x+1, y, look.Faint, '-')
		return
	}
	ink := look.Heat + look.Ink(m.level(v))
	c.Set(x+1, y, ink, m.shade(m.level(v)))
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

// drawBar draws the mean of a point as a bar from zero, where there is one axis alone.
func (m *model) drawBar(c *look.Canvas, x, y, p int) {
	v := m.means[p]
	if math.IsNaN(v) || m.hi <= 0 || v < 0 || x >= c.W {
		return
	}
	c.Fill(x, y, int(math.Round(float64(c.W-x)*v/m.hi)), look.Gauge, m.Theme().GaugeOn)
}
