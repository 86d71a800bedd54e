package panes

import (
	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
)

// A ScatterTable is a chart of named points, and below it a table with a row for each.
type ScatterTable struct {
	Title, About string
	Spec         chart.ScatterSpec // without Dots and styles
	Rows         []ScatterRow
	Columns      []ScatterColumn // after the label, to the right
	Notes        []string        // sentences below the table, if there is room
}

// ScatterRow is a point and its row.
type ScatterRow struct {
	chart.Dot
	Label string
}

// ScatterColumn is a column of the table.
type ScatterColumn struct {
	Heading string
	Width   int
	Value   func(row int) string
}

// Draw draws chart, table and notes into a frame.
func (s *ScatterTable) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.FitFrame(th, focused, s.Title, look.Labelled(s.About))
	const minChart, usualChart = 5, 12 // rows
	tableRows := min(len(s.Rows)+1, max(c.H-2-minChart, 0))
	var notes []string
	for _, text := range s.Notes {
		notes = append(notes, look.Wrap(text, c.W-4)...)
	}
	if c.H-2-tableRows-len(notes) < usualChart {
		notes = nil
	}
	y := c.H - 1 - tableRows - len(notes)
	spec := s.Spec
	spec.Blank, spec.Axis, spec.Label, spec.Line = chart.Style(look.Plain), chart.Style(look.Border), chart.Style(look.Dim), chart.Style(look.Ratio)
	for i := range s.Rows {
		spec.Dots = append(spec.Dots, s.Rows[i].Dot)
	}
	c.Blit(1, 1, chart.DrawScatter(&spec, c.W-2, y-1))
	s.drawTable(c, y, tableRows)
	for i, line := range notes {
		c.Clip(2, y+tableRows+i, c.W-4, look.Plain, line)
	}
	c.MoreBelow(th, len(s.Rows)+1-tableRows)
}

// drawTable draws the heading and one row for each point, at most rows of them, from row y on. Columns for which there is
// no room are left out, the last ones first.
func (s *ScatterTable) drawTable(c *look.Canvas, y, rows int) {
	if rows == 0 {
		return
	}
	const minLabel = 12 // columns
	columns, right := s.Columns, c.W-2
	nameEnd := right
	for i, k := range columns {
		if nameEnd-k.Width < minLabel {
			columns = columns[:i]
			break
		}
		nameEnd -= k.Width
	}
	c.Clip(2, y, nameEnd-2, look.Dim, "policy")
	x := nameEnd
	for _, k := range columns {
		x += k.Width
		c.TextRight(x, y, look.Dim, k.Heading)
	}
	for i := range min(rows-1, len(s.Rows)) {
		r, row := &s.Rows[i], y+1+i
		c.Set(2, row, look.Style(r.Style), r.Name)
		c.Clip(4, row, nameEnd-4, look.Plain, r.Label)
		x := nameEnd
		for _, k := range columns {
			x += k.Width
			c.TextRight(x, row, look.Value, k.Value(i))
		}
	}
}
