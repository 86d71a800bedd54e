package sweepview

import (
	"math"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// figureSpans names the figure in a pane of w columns with the title, as far as there is room: its name and unit, then
// the further text.
func (m *model) figureSpans(w int, title, further string) []look.Span {
	row := m.row(m.figure)
	figure := []look.Span{look.Value.Span(row.Title), look.Dim.Span(spaced(row.Unit))}
	return look.Fit(look.TitleSpace(w, title), append(figure[:2:2], look.Dim.Span(further)), figure, nil)
}

// row describes a figure.
func (m *model) row(figure int) *figures.Row { return new(figures.Find(m.watch.Names[figure])) }

// scaled converts a value of the figure of the map to its unit.
func (m *model) scaled(v float64) float64 { return v * m.row(m.figure).Scale() }

// spaced returns text after a blank, or "" if text is empty.
func spaced(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}

// describe returns the settings of a point in words: "downlink loss 5%, encoder rotor".
func (m *model) describe(point int) string {
	var parts []string
	for _, a := range m.axes {
		parts = append(parts, config.KeyInWords(a.Key)+" "+m.watch.Points()[point].Set[a.Key])
	}
	if len(parts) == 0 {
		return "the only point"
	}
	return strings.Join(parts, ", ")
}

// valueText formats the mean of a figure at a point with half of its confidence interval and the unit, "-" if
// it is unknown.
func (m *model) valueText(point, figure int) string {
	v := m.watch.Mean(point, figure)
	if v.N == 0 {
		return "-"
	}
	row := m.row(figure)
	return m.formatInterval(v.Times(row.Scale())) + spaced(row.Unit)
}

// ratioText formats the ratio of a figure at a point to the reference point, paired by seed, with half of its
// confidence interval: "×1.75 ±0.19". It returns "" for the reference point and if the ratio is unknown.
func (m *model) ratioText(point, figure int) string {
	if point == m.reference {
		return ""
	}
	r := m.watch.Ratio(point, m.reference, figure)
	if r.N == 0 {
		return ""
	}
	if lo, hi, _ := r.Bounds(); hi <= lo { // one seed, or all seeds have the same ratio
		return m.Theme().Times + units.Fixed(r.Mean, maxDecimals)
	}
	return m.Theme().Times + m.formatInterval(r) + r.Doubt(1)
}

// halfText formats half of the confidence interval of a mean of the figure of the map, "" if it is unknown.
func (m *model) halfText(v figures.Mean) string {
	_, half, hasInterval := strings.Cut(m.formatInterval(v.Times(m.scaled(1))), " ")
	if !hasInterval {
		return ""
	}
	return half
}

// formatInterval formats a mean with half the width of its interval, both with the decimals that two significant digits
// of the latter need, or with its range.
func (m *model) formatInterval(v figures.Mean) string {
	lo, hi, _ := v.Bounds()
	if hi <= lo {
		return units.Short(v.Mean)
	}
	half := (hi - lo) / 2
	if smallest := math.Pow(10, -maxDecimals); math.Abs(v.Mean) > 100*smallest {
		half = math.Max(half, smallest)
	}
	format := func(x float64) string { return formatNumber(x, half) }
	return v.Text(" "+m.Theme().PlusMinus, format, func(float64) string { return format(half) })
}

// maxDecimals is the largest number of decimals of means and ratios, except close to 0. Narrower intervals are shown
// as wide as the last decimal.
const maxDecimals = 3

// formatNumber formats v with as many decimals as two significant digits of step need, but at most maxDecimals
// unless v is close to 0. Numbers that need too many digits are abbreviated.
func formatNumber(v, step float64) string {
	decimals := 1 - int(math.Floor(math.Log10(step)))
	if step >= math.Pow(10, -maxDecimals) {
		decimals = min(decimals, maxDecimals)
	}
	if math.Abs(v) >= 9999.5 || step <= 0 || decimals > 6 {
		return units.Short(v)
	}
	return units.Fixed(v, max(decimals, 0))
}
