package sweepview

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/figures"
	"wirelab/experiment/sweep"
	"wirelab/internal/units"
)

// shownFigures returns the figures that the selected point has, and the figure of the map in any case.
func (m *model) shownFigures() (list []int) {
	p := m.watch.PointIndex(m.cursor)
	for f := range m.watch.Names {
		if f == m.figure || len(m.watch.Values(p, f)) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// drawPoint draws the settings of the selected point, its completed seeds, the ratio of the figure to
// the first point, and all figures with confidence intervals, scrolled to the figure of the map.
func (m *model) drawPoint(c *look.Canvas) {
	var settings []string
	for i, a := range m.axes {
		settings = append(settings, a.Key+" = "+a.Values[m.cursor[i]])
	}
	p := m.watch.PointIndex(m.cursor)
	if len(settings) == 0 {
		settings = []string{"single point"}
	}
	y := 0
	const maxSettingRows = 2
	for _, line := range look.Wrap(strings.Join(settings, ", "), c.W) {
		if y < maxSettingRows {
			c.Text(0, y, look.Title, line)
			y++
		}
	}
	c.Spans(0, y, c.W, look.Dim.Span("seeds "), look.Value.Span(fmt.Sprintf("%d of %d", m.seeds[p], m.watch.Repeat())))
	if p != 0 { // the first point is not compared with itself
		if r := m.watch.Ratio(p, m.figure); r.N > 0 {
			c.Spans(15, y, c.W-15, look.Value.Span(m.formatInterval(r)), look.Dim.Span(" vs first"))
		}
	}
	y++
	list := m.shownFigures()
	first := scrollTo(0, slices.Index(list, m.figure), max(c.H-y, 1), len(list))
	for _, f := range list[first:] {
		if y >= c.H {
			break
		}
		style, marker := look.Dim, " "
		if f == m.figure {
			style, marker = look.Chosen, m.Theme().Chosen
		}
		c.Text(0, y, look.Chosen, marker)
		value := "-"
		if v := m.watch.Mean(p, f); v.N > 0 {
			value = m.formatInterval(v)
		}
		x := c.W - max(look.TextWidth(value), 12)
		c.Clip(2, y, x-3, style, m.watch.Names[f])
		c.TextRight(c.W, y, look.Value, value)
		y++
	}
}

// formatInterval formats a mean and, if known, half the width of its confidence interval, both with the
// decimals that two significant digits of the latter need. A "?" marks an approximate interval.
func (m *model) formatInterval(v figures.Mean) string {
	if v.Lo == nil || *v.Hi <= *v.Lo {
		return units.Short(v.Mean)
	}
	half := (*v.Hi - *v.Lo) / 2
	text := formatNumber(v.Mean, half) + " " + m.Theme().PlusMinus + formatNumber(half, half)
	if v.Approximate {
		text += "?"
	}
	return text
}

// formatNumber formats v with as many decimals as two significant digits of step need. Numbers that need too
// many digits are abbreviated.
func formatNumber(v, step float64) string {
	decimals := 1 - int(math.Floor(math.Log10(step)))
	if math.Abs(v) >= 9999.5 || step <= 0 || decimals > 6 {
		return units.Short(v)
	}
	return units.Fixed(v, max(decimals, 0))
}

// drawCharts draws the seeds of the selected point if there are several, and the figure along each axis of the
// map, as far as there are rows for them.
func (m *model) drawCharts(c *look.Canvas) {
	const seedRows, minChartRows = 5, 5
	y := 0
	if m.watch.Repeat() > 1 && c.H >= seedRows {
		m.drawSeeds(c)
		y = seedRows
	}
	axes := []int{m.columns(), m.rows()}
	axes = slices.DeleteFunc(axes, func(a int) bool { return a < 0 || len(m.axes[a].Values) < 2 })
	for len(axes) > 0 && (c.H-y)/len(axes) < minChartRows {
		axes = axes[:len(axes)-1]
	}
	for i, axis := range axes {
		h := min((c.H-y)/(len(axes)-i), 14)
		part := look.NewCanvas(c.W, h-1)
		m.drawAxisChart(part, axis)
		c.Paste(0, y+1, part)
		y += h
	}
}

// drawSeeds draws a dot per seed of the point on a line, stacked if they coincide, and below it the
// interval of the mean.
func (m *model) drawSeeds(c *look.Canvas) {
	values := m.watch.Values(m.watch.PointIndex(m.cursor), m.figure)
	c.Spans(0, 0, c.W, look.Title.Span("seeds "), look.Dim.Span(m.watch.Names[m.figure]))
	if len(values) == 0 {
		c.Text(0, 2, look.Dim, "no results yet")
		return
	}
	mean := sweep.EstimateMean(values)
	lo, hi := slices.Min(values), slices.Max(values)
	if mean.Lo != nil {
		lo, hi = min(lo, *mean.Lo), max(hi, *mean.Hi)
	}
	// column maps a value to a column of the canvas.
	column := func(v float64) int {
		if hi <= lo {
			return c.W / 2
		}
		return int(math.Round((v - lo) / (hi - lo) * float64(c.W-1)))
	}
	count := make([]int, c.W) // seeds in each column
	for _, v := range values {
		count[column(v)]++
	}
	const dotRows = 2
	perDot := (slices.Max(count) + dotRows - 1) / dotRows // seeds per dot, so that two rows suffice
	dot, bar, mid := '●', '─', '┼'
	if m.Theme().Ascii {
		dot, bar, mid = 'o', '-', '+'
	}
	for x, n := range count {
		for k := range min((n+perDot-1)/max(perDot, 1), dotRows) {
			c.Set(x, 2-k, look.Payload, dot) // rows 2 and 1, from the bottom
		}
	}
	if mean.Lo != nil {
		c.Fill(column(*mean.Lo), 3, column(*mean.Hi)-column(*mean.Lo)+1, look.Gauge, bar)
	}
	c.Set(column(mean.Mean), 3, look.Value, mid)
	if hi <= lo {
		c.Text(max(c.W/2-2, 0), 4, look.Dim, units.Short(lo)+", all equal")
		return
	}
	c.Text(0, 4, look.Dim, formatNumber(lo, hi-lo))
	c.TextRight(c.W, 4, look.Dim, formatNumber(hi, hi-lo))
	if perDot > 1 {
		text := fmt.Sprintf("a dot is up to %d seeds", perDot)
		c.Text((c.W-len(text))/2, 4, look.Dim, text)
	}
}

// drawAxisChart draws the figure along an axis through the selected point: a dot per mean and a bar for
// its confidence interval. If not all values of the axis fit, those around the selected point are drawn.
func (m *model) drawAxisChart(c *look.Canvas, axis int) {
	const left = 8 // columns for the labels of the vertical axis
	values := m.axes[axis].Values
	c.Spans(0, 0, c.W, look.Title.Span("along "+m.axes[axis].Key+" "), look.Dim.Span(m.watch.Names[m.figure]))
	plotWidth := c.W - left
	n := min(len(values), plotWidth)
	if n <= 0 || c.H < 4 {
		return
	}
	first := scrollTo(m.cursor[axis]-n/2, m.cursor[axis], n, len(values))
	means, lo, hi := m.axisMeans(axis, first, n)
	if hi < lo {
		c.Text(left, 2, look.Dim, "no results yet")
		return
	}
	rows := c.H - 2
	// row maps a value to a row between the title and the names; lo is at the bottom.
	row := func(v float64) int {
		if hi <= lo {
			return 1 + rows/2
		}
		return 1 + int(math.Round((hi-v)/(hi-lo)*float64(rows-1)))
	}
	if hi > lo {
		c.TextRight(left-1, row(hi), look.Dim, look.Shorten(formatNumber(hi, hi-lo), left-1))
		c.TextRight(left-1, row(lo), look.Dim, look.Shorten(formatNumber(lo, hi-lo), left-1))
	} else {
		c.TextRight(left-1, row(hi), look.Dim, units.Short(hi))
	}
	step := max(plotWidth/n, 1) // columns per value
	dot, selected, band := '●', '◆', '│'
	if m.Theme().Ascii {
		dot, selected, band = 'o', '@', '|'
	}
	for i, v := range means {
		x := left + i*step + step/2
		if v.N == 0 {
			continue
		}
		if v.Lo != nil {
			for y := row(*v.Hi); y <= row(*v.Lo); y++ {
				c.Set(x, y, look.Gauge, band)
			}
		}
		if first+i == m.cursor[axis] {
			c.Set(x, row(v.Mean), look.Chosen, selected)
		} else {
			c.Set(x, row(v.Mean), look.Payload, dot)
		}
	}
	m.drawAxisNames(c, axis, first, n, left, step)
}

// axisMeans returns the means at n indices of an axis from first on, and the range of the means with
// their intervals. hi is below lo if there are no results.
func (m *model) axisMeans(axis, first, n int) (means []figures.Mean, lo, hi float64) {
	means = make([]figures.Mean, n)
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := range means {
		if v := m.watch.Values(m.pointAt(axis, first+i), m.figure); len(v) > 0 {
			means[i] = sweep.EstimateMean(v)
			lo, hi = min(lo, means[i].Mean), max(hi, means[i].Mean)
			if means[i].Lo != nil {
				lo, hi = min(lo, *means[i].Lo), max(hi, *means[i].Hi)
			}
		}
	}
	return means, lo, hi
}

// drawAxisNames draws the values of an axis as labels in the last row, below a chart of n values from index
// first on. The chart begins at column left and has step columns per value. The label of the selected point
// is drawn first, then those of the first and the last value, then the others, each if there is room.
func (m *model) drawAxisNames(c *look.Canvas, axis, first, n, left, step int) {
	taken := make([]bool, c.W+1)
	drawName := func(i int, style look.Style) { // i is counted from first
		text := m.axes[axis].Values[first+i]
		w := look.TextWidth(text)
		x := max(min(left+i*step+step/2-w/2, c.W-w), 0)
		from, to := max(x-1, 0), min(x+w+1, c.W)
		if from >= to || slices.Contains(taken[from:to], true) {
			return
		}
		for k := from; k < to; k++ {
			taken[k] = true
		}
		c.Text(x, c.H-1, style, text)
	}
	drawName(m.cursor[axis]-first, look.Value)
	drawName(0, look.Dim)
	drawName(n-1, look.Dim)
	for i := range n {
		drawName(i, look.Dim)
	}
}
