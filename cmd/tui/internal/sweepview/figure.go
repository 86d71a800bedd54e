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

// pointText is a figure of a point as text.
type pointText struct {
	mean, interval string // "244.09" and "±0.24"; "-" and "" without results
	// ratio and ratioInterval compare the point with the reference point, paired by seed: "×0.445" and "±0.001 ↓". They
	// are "×1" and "reference" for that point, and "-" and "" if the ratio is unknown.
	ratio, ratioInterval string
	style                look.Style // of the ratio: green if the point is better, yellow if it is worse
}

// reference is written instead of an interval of the ratio of the reference point to itself.
const reference = "reference"

// text returns the mean of a figure of a point, which is in the unit of the figure, and its ratio to the reference point.
func (m *model) text(point, figure int, mean, r figures.Mean, decimals int) (t pointText) {
	t.mean, t.interval = m.formatMean(mean, decimals)
	t.style = look.Dim
	if point == m.reference {
		t.ratio = m.Theme().Times + "1"
		t.ratioInterval = reference
		return t
	}
	t.ratio, t.ratioInterval = m.formatMean(r, m.ratioDecimals)
	if r.N == 0 {
		return t
	}
	t.ratio = m.Theme().Times + t.ratio
	t.ratioInterval += r.Doubt(1)
	if r.Lo == nil || math.Abs(r.Mean-1) <= max((*r.Hi-*r.Lo)/2, math.Pow10(-m.ratioDecimals)) {
		return t
	}
	isLess := *r.Hi < 1
	arrow := m.Theme().Up
	if isLess {
		arrow = m.Theme().Down
	}
	t.ratioInterval += " " + arrow
	direction := m.row(figure).Better
	switch isBetter := isLess == (direction == figures.LessIsBetter); {
	case direction == figures.Neither:
		t.style = look.Value
	case isBetter:
		t.style = look.Good
	default:
		t.style = look.Warn
	}
	return t
}

// comparison returns the ratio with its interval, the arrow and the mark of doubt, in lines of at most w columns.
func (t *pointText) comparison(w int) []string {
	if t.ratioInterval == reference && w < look.TextWidth(t.ratio+reference)+1 {
		return []string{"ref."}
	}
	interval, _, _ := strings.Cut(t.ratioInterval, " ") // without the arrow
	for _, text := range []string{t.ratioInterval, interval} {
		if both := t.ratio + spaced(text); look.TextWidth(both) <= w {
			return []string{both}
		}
	}
	if look.TextWidth(interval) > w { // the ranking has the mark of doubt
		interval = strings.TrimSuffix(interval, "?")
	}
	return []string{t.ratio, interval}
}

// formatMean formats a mean and half the width of its interval, or the median and the range. An interval narrower than
// the last decimal is shown as wide as that, because "±0" means that all seeds have the same value.
func (m *model) formatMean(v figures.Mean, decimals int) (mean, interval string) {
	lo, hi, known := v.Bounds()
	format := func(x float64) string { return units.Fixed(x, decimals) }
	switch {
	case v.N == 0:
		return "-", ""
	case v.Range != nil:
		return format(v.Range.Median), "(" + format(lo) + " to " + format(hi) + ")"
	case !known: // one seed
		return format(v.Mean), ""
	}
	half := (hi - lo) / 2
	if half > 0 {
		half = max(half, math.Pow10(-decimals))
	}
	return format(v.Mean), m.Theme().PlusMinus + format(half)
}

// commonDecimals returns the number of decimals of means in one column: enough for three digits of the largest mean and
// one of the narrowest interval, but at most five digits in all, and at most three decimals unless all means are close
// to 0.
func commonDecimals(list []figures.Mean) int {
	largest := 0.0
	for _, v := range list {
		if v.N > 0 {
			largest = max(largest, math.Abs(v.Mean))
		}
	}
	if largest == 0 {
		return 0
	}
	digits := 1 + int(math.Floor(math.Log10(largest))) // before the decimal point
	wanted := 3 - digits
	if narrowest := narrowestHalfWidth(list); narrowest < math.Inf(1) {
		wanted = max(wanted, -int(math.Floor(math.Log10(narrowest))))
	}
	most := min(5-digits, 3)
	if digits < 0 {
		most = min(3-digits, 6)
	}
	return max(min(wanted, most), 0)
}

// narrowestHalfWidth returns half the width of the narrowest interval that is not 0; infinity if none exists.
func narrowestHalfWidth(list []figures.Mean) float64 {
	narrowest := math.Inf(1)
	for _, v := range list {
		if lo, hi, _ := v.Bounds(); hi > lo {
			narrowest = min(narrowest, (hi-lo)/2)
		}
	}
	return narrowest
}
