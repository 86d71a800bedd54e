package look

import (
	"slices"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/experiment/engine"
)

// chartStyle selects the characters with which lines of charts are drawn.
type chartStyle uint8

// The chart styles.
const (
	chartsFine  chartStyle = iota // Braille patterns: 2 by 4 dots per cell
	chartsLine                    // box-drawing characters
	chartsASCII                   // ASCII characters
	numChartStyles
)

// ChartStyles returns the names of the chart styles.
func ChartStyles() []string { return []string{"fine", "line", "ascii"} }

// ParseChartStyle returns the chart style with this name, or chartsFine if the name is unknown.
func ParseChartStyle(name string) chartStyle {
	return chartStyle(max(slices.Index(ChartStyles(), name), 0))
}

// String returns the name of the style.
func (k chartStyle) String() string { return ChartStyles()[k] }

// WithCharts returns a copy of the theme with another chart style. An ASCII theme always draws
// charts in ASCII.
func (th *Theme) WithCharts(k chartStyle) *Theme {
	other := *th
	other.charts = k
	return &other
}

// Charts returns the chart style in effect.
func (th *Theme) Charts() chartStyle {
	if th.Ascii {
		return chartsASCII
	}
	return th.charts
}

// StyleChart sets the chart style, the colours and the symbol of loop points in s to those of the
// theme.
func (th *Theme) StyleChart(s *chart.Spec) {
	SetChartStyles(s)
	s.Fine, s.ASCII, s.UnscaledRune = th.Charts() == chartsFine, th.Charts() == chartsASCII, MarkSymbol(th, engine.MarkLoop)
}

// SetChartStyles sets the colours in s that all charts share: empty cells, axes, labels and the lines at
// marks.
func SetChartStyles(s *chart.Spec) {
	s.Blank, s.Axis, s.Label, s.Tick = chart.Style(Plain), chart.Style(Border), chart.Style(Dim), chart.Style(Faint)
}
