package look

import (
	"slices"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/experiment/engine"
)

// chartStyle is how the lines of charts are drawn.
type chartStyle uint8

// The styles.
const (
	chartsFine  chartStyle = iota // dots, two by four a cell
	chartsLine                    // box-drawing characters
	chartsASCII                   // for terminals that have neither
	numChartStyles
)

// ChartStyles names them.
func ChartStyles() []string { return []string{"fine", "line", "ascii"} }

// ParseChartStyle finds a style; the first if there is none of that name.
func ParseChartStyle(name string) chartStyle {
	return chartStyle(max(slices.Index(ChartStyles(), name), 0))
}

// String is the name of the style.
func (k chartStyle) String() string { return ChartStyles()[k] }

// WithCharts is the theme with another style of charts. Where only ASCII may be shown
// it makes no difference.
func (th *Theme) WithCharts(k chartStyle) *Theme {
	other := *th
	other.charts = k
	return &other
}

// NextCharts is the theme with the next style of charts.
func (th *Theme) NextCharts() *Theme { return th.WithCharts((th.charts + 1) % numChartStyles) }

// Charts is the style that charts are drawn in.
func (th *Theme) Charts() chartStyle {
	if th.Ascii {
		return chartsASCII
	}
	return th.charts
}

// StyleChart has a chart drawn in the style of the theme.
func (th *Theme) StyleChart(s *chart.Spec) {
	InkChart(s)
	s.Fine, s.ASCII, s.Apart = th.Charts() == chartsFine, th.Charts() == chartsASCII, MarkSign(th, engine.MarkSeam)
}

// InkChart sets the inks that all charts share.
func InkChart(s *chart.Spec) {
	s.Blank, s.Axis, s.Label, s.Tick = chart.Ink(Plain), chart.Ink(Border), chart.Ink(Dim), chart.Ink(Faint)
}
