package look

import (
	"wirelab/cmd/tui/internal/chart"
	"wirelab/experiment/engine"
)

// ChartStyles returns the names of the chart styles: Braille patterns, with 2 by 4 dots per cell, and box-drawing
// characters.
func ChartStyles() []string { return []string{"fine", "line"} }

// WithCharts returns a copy of the theme with the chart style of this name; "" means the first.
func (th *Theme) WithCharts(style string) *Theme {
	other := *th
	other.boxCharts = style == "line"
	return &other
}

// StyleChart sets the chart style, the colours and the symbol of loop points in s to those of the
// theme. Braille patterns have no form in ASCII.
func (th *Theme) StyleChart(s *chart.Spec) {
	s.Blank, s.Axis = chart.Style(Plain), chart.Style(Border)
	s.Label, s.Tick = chart.Style(Dim), chart.Style(Faint)
	s.Fine = !th.boxCharts && !th.Ascii
	s.UnscaledRune = MarkSymbol(engine.MarkLoop)
}
