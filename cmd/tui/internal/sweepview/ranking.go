package sweepview

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
)

// drawRanking draws the sorted list of points: rank, settings, mean of the figure, and the ratio to the reference
// point with its 95 % confidence interval.
func (m *model) drawRanking(c *look.Canvas, focused bool) {
	row := m.row(m.figure)
	c.Frame(m.Theme(), focused, "Ranking", look.Value.Span(row.Title), look.Dim.Span(", "+m.orderName()))
	const left, markWidth, rankWidth, valueWidth, ratioWidth, wideRatio = 2, 2, 5, 16, 17, 29
	ratio := ratioWidth
	if c.W >= 90 {
		ratio = wideRatio
	}
	settingsWidth := c.W - 2*left - markWidth - rankWidth - valueWidth - ratio
	widths := m.settingWidths(settingsWidth)
	valueEnd := c.W - left - ratio
	x := left + markWidth + rankWidth
	for i, a := range m.axes {
		c.Clip(x, 1, max(widths[i]-1, 0), look.Dim, config.KeyInWords(a.Key))
		x += widths[i]
	}
	c.TextRight(valueEnd, 1, look.Dim, strings.TrimSpace("mean "+row.Unit))
	c.TextRight(c.W-left, 1, look.Dim, "vs reference")
	rows := max(c.H-3, 1)
	at := slices.Index(m.ranked, m.selected())
	m.firstRanked = scrollTo(m.firstRanked, at, rows, len(m.ranked))
	for i := m.firstRanked; i < min(m.firstRanked+rows, len(m.ranked)); i++ {
		p, y := m.ranked[i], 2+i-m.firstRanked
		style := look.Plain
		if i == at {
			style = look.Chosen
			c.Text(left, y, look.Chosen, m.Theme().Chosen)
		}
		c.TextRight(left+markWidth+rankWidth-2, y, look.Dim, fmt.Sprint(i+1))
		x := left + markWidth + rankWidth
		for k, a := range m.axes {
			c.Clip(x, y, max(widths[k]-1, 0), style, m.watch.Points()[p].Set[a.Key])
			x += widths[k]
		}
		value := "-"
		if v := m.watch.Mean(p, m.figure); v.N > 0 {
			value = m.formatInterval(v.Times(m.scaled(1)))
		}
		c.TextRight(valueEnd, y, look.Value, value)
		text, textStyle := m.comparison(p, ratio == wideRatio)
		c.TextRight(c.W-left, y, textStyle, text)
	}
	c.MoreBelow(m.Theme(), len(m.ranked)-m.firstRanked-rows)
}

// settingWidths returns the width of the column of each axis, with a gap: wide enough for the values and, as far as
// there is room, for the name of the axis. All columns together take at most w columns; if the values need more,
// the widest columns are shortened.
func (m *model) settingWidths(w int) []int {
	const gap = 2
	widths, room := make([]int, len(m.axes)), max(w, len(m.axes))
	for i, a := range m.axes {
		for _, v := range a.Values {
			widths[i] = max(widths[i], look.TextWidth(v)+gap)
		}
		room -= widths[i]
	}
	for i, a := range m.axes {
		more := max(0, min(look.TextWidth(config.KeyInWords(a.Key))+gap-widths[i], room))
		widths[i] += more
		room -= more
	}
	for ; room < 0; room++ {
		widths[slices.Index(widths, slices.Max(widths))]--
	}
	return widths
}

// comparison returns the comparison of point p with the reference point, and its style: green if p is better, yellow
// if it is worse, dim if the interval includes 1. An arrow marks ratios whose interval excludes 1. withBounds adds
// both bounds instead of half the width of the interval.
func (m *model) comparison(p int, withBounds bool) (string, look.Style) {
	if p == m.reference {
		return "reference", look.Dim
	}
	r := m.watch.Ratio(p, m.reference, m.figure)
	if r.N == 0 {
		return "-", look.Dim
	}
	text, arrow, style := m.ratioText(p, m.figure), "  ", look.Dim
	if r.Lo != nil && withBounds {
		half := math.Max((*r.Hi-*r.Lo)/2, math.Pow(10, -maxDecimals))
		text = fmt.Sprintf("%s%s (%s to %s)%s", m.Theme().Times, formatNumber(r.Mean, half), formatNumber(*r.Lo, half), formatNumber(*r.Hi, half), r.Doubt(1))
	}
	if r.Lo != nil && (*r.Lo > 1 || *r.Hi < 1) {
		direction := m.row(m.figure).Better
		isBetter := (*r.Hi < 1) == (direction == figures.LessIsBetter)
		arrow, style = " "+m.Theme().Up, look.Warn
		if *r.Hi < 1 {
			arrow = " " + m.Theme().Down
		}
		switch {
		case direction == figures.Neither:
			style = look.Value
		case isBetter:
			style = look.Good
		}
	}
	return text + arrow, style
}
