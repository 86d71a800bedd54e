package panes

import (
	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
)

// A ScatterTable is a chart of named points, and below it a table with a row for each.
type ScatterTable struct {
	Title, About string
	Spec         chart.ScatterSpec // without styles
	Labels       []string          // of the rows
	Notes        []string          // sentences below the table, if there is room

	columns []grid.Column // after the label
}

// Add adds a point and its row.
func (s *ScatterTable) Add(label string, dot chart.Dot) {
	s.Labels = append(s.Labels, label)
	s.Spec.Dots = append(s.Spec.Dots, dot)
}

// AddColumn adds a column at the right end of the table. If there is too little space, the last columns are left out first.
func (s *ScatterTable) AddColumn(title string, width int, value func(row int) string) {
	const first = 100
	s.columns = append(s.columns, grid.Column{Title: title, Width: width, Drop: first - len(s.columns), Right: true,
		Text: func(c grid.Cell) []look.Span { return grid.Text(look.Value, value(c.Row)) }})
}

// Draw draws chart, table and notes into a frame.
func (s *ScatterTable) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.FitFrame(th, focused, s.Title, look.Labelled(s.About))
	const minChart, usualChart = 5, 12 // rows
	tableRows := min(len(s.Labels)+1, max(c.H-2-minChart, 0))
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
	c.Blit(1, 1, chart.DrawScatter(&spec, c.W-2, y-1))
	label := grid.Column{Title: "policy", Width: grid.Rest, Min: 12, Text: func(cell grid.Cell) []look.Span {
		dot := &s.Spec.Dots[cell.Row]
		return []look.Span{look.Style(dot.Style).Span(string(dot.Name) + " "), look.Plain.Span(s.Labels[cell.Row])}
	}}
	if tableRows > 0 {
		t := grid.Table{Columns: append([]grid.Column{label}, s.columns...), NumRows: len(s.Labels), Cursor: -1, Sort: -1}
		t.Draw(c, th, y, tableRows)
	}
	for i, line := range notes {
		c.Clip(2, y+tableRows+i, c.W-4, look.Plain, line)
	}
}
