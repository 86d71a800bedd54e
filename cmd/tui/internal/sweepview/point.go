package sweepview

import (
	"fmt"
	"math"
	"slices"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// shownFigures returns the figures that say something about the selected point, and the figure of the map in any case.
func (m *model) shownFigures() (list []int) {
	p := m.selected()
	for f := range m.watch.Names {
		if f == m.figure || len(m.watch.Values(p, f)) > 0 && m.hasData(f) {
			list = append(list, f)
		}
	}
	return list
}

// drawVitalLine draws the selected point in one line: its settings, the mean of the figure, and the ratio to the
// reference point.
func (m *model) drawVitalLine(c *look.Canvas) {
	p := m.selected()
	name := m.row(m.figure).Title
	pieces := []look.Span{look.Dim.Span(name + " "), look.Value.Span(m.valueText(p, m.figure))}
	if text, style := m.comparison(p, false); text != "-" && len(m.means) > 1 {
		pieces = append(pieces, style.Span("  "+text))
	}
	settings := look.Title.Span(look.Shorten(m.describe(p), max(c.W-4-look.SpansWidth(pieces), 0)) + "  ")
	c.Spans(1, 0, c.W-2, append([]look.Span{settings}, pieces...)...)
}

// drawPoint draws the settings of the selected point, its completed seeds, and all its figures with their confidence
// intervals and ratios to the reference point, scrolled to the figure of the map.
func (m *model) drawPoint(c *look.Canvas, focused bool) {
	p := m.selected()
	c.Frame(m.Theme(), focused, "Point", look.Dim.Span("seeds "), look.Value.Span(fmt.Sprintf("%d of %d", m.seeds[p], m.watch.Repeat())))
	y := 1
	for i, a := range m.axes {
		if y < c.H/2 { // at least half of the rows are for figures
			c.Spans(2, y, c.W-4, look.Dim.Span(config.KeyInWords(a.Key)+" "), look.Value.Span(a.Values[m.cursor[i]]))
			y++
		}
	}
	hasRatios := c.W >= 62
	valueEnd := c.W - 2
	if hasRatios {
		const ratioWidth = 17
		valueEnd -= ratioWidth
		if len(m.means) > 1 {
			c.TextRight(c.W-2, y-1, look.Dim, "vs reference")
		}
	}
	list := m.shownFigures()
	rows := max(c.H-1-y, 1)
	first := scrollTo(0, slices.Index(list, m.figure), rows, len(list))
	for _, f := range list[first:min(first+rows, len(list))] {
		style, marker := look.Dim, " "
		if f == m.figure {
			style, marker = look.Chosen, m.Theme().Chosen
		}
		c.Text(2, y, look.Chosen, marker)
		value := m.valueText(p, f)
		x := valueEnd - max(look.TextWidth(value), 12)
		name := m.row(f).Title
		c.Clip(4, y, x-5, style, name)
		c.TextRight(valueEnd, y, look.Value, value)
		if hasRatios {
			c.TextRight(c.W-2, y, look.Plain, m.ratioText(p, f))
		}
		y++
	}
	c.MoreBelow(m.Theme(), len(list)-first-rows)
}

// drawCharts draws the figure along each axis of the map, through the selected point, as far as there are rows.
func (m *model) drawCharts(c *look.Canvas, focused bool) {
	axes := []int{m.columns(), m.rows()}
	axes = slices.DeleteFunc(axes, func(a int) bool { return a < 0 || len(m.axes[a].Values) < 2 })
	const minRows = 7 // of a chart with its title
	for len(axes) > 1 && (c.H-1)/len(axes) < minRows {
		axes = axes[:len(axes)-1]
	}
	if len(axes) == 0 { // one point: its seeds instead
		c.Frame(m.Theme(), focused, "By seed", m.figureSpans(c.W, "By seed", "")...)
		spec := m.newChart()
		for i, v := range m.watch.Values(m.selected(), m.figure) {
			spec.Points = append(spec.Points, chart.Point{Value: m.scaled(v), Lo: math.NaN(), Hi: math.NaN(), Name: fmt.Sprint(i + 1)})
		}
		spec.Selected = len(spec.Points) // none
		c.Blit(1, 1, chart.DrawPoints(spec, c.W-2, c.H-2))
		return
	}
	for i, axis := range axes {
		y := (c.H - 1) * i / len(axes)
		end := (c.H - 1) * (i + 1) / len(axes)
		title := "Along " + config.KeyInWords(m.axes[axis].Key)
		legend := m.figureSpans(c.W, title, ", 95 % intervals")
		if i == 0 {
			c.Frame(m.Theme(), focused, title, legend...)
		} else {
			c.Divider(m.Theme(), y, focused, title, legend...)
		}
		spec := m.axisChart(axis)
		c.Blit(1, y+1, chart.DrawPoints(spec, c.W-2, end-y-1))
		if !slices.ContainsFunc(spec.Points, func(p chart.Point) bool { return p.Value == p.Value }) { // all are NaN
			c.Text(10, (y+end)/2, look.Dim, "no results yet")
		}
	}
}

// newChart returns a chart without points.
func (m *model) newChart() *chart.PointsSpec {
	return &chart.PointsSpec{Zero: m.fromZero,
		Blank: chart.Style(look.Plain), Axis: chart.Style(look.Border), Label: chart.Style(look.Dim), Dot: chart.Style(look.Payload),
		Interval: chart.Style(look.Gauge), Chosen: chart.Style(look.Chosen), Current: chart.Style(look.Value)}
}

// axisChart returns the chart of the figure along an axis through the selected point.
func (m *model) axisChart(axis int) *chart.PointsSpec {
	s := m.newChart()
	s.Selected = m.cursor[axis]
	for i, value := range m.axes[axis].Values {
		p := chart.Point{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Name: value}
		if v := m.watch.Mean(m.pointAt(axis, i), m.figure).Times(m.scaled(1)); v.N > 0 {
			p.Value = v.Mean
			if lo, hi, known := v.Bounds(); known {
				p.Lo, p.Hi = lo, hi
			}
		}
		s.Points = append(s.Points, p)
	}
	return s
}

// drawSeeds draws a dot per seed of the point on a line, stacked if they coincide, and below it the
// interval of the mean.
func (m *model) drawSeeds(c *look.Canvas, focused bool) {
	c.Frame(m.Theme(), focused, "Seeds", m.figureSpans(c.W, "Seeds", ", a dot per seed")...)
	values := m.watch.Values(m.selected(), m.figure)
	if len(values) == 0 {
		c.Text(2, 1, look.Dim, "no results yet")
		return
	}
	for i := range values {
		values[i] = m.scaled(values[i])
	}
	mean := figures.MeanOf(m.watch.Names[m.figure], values)
	from, to, known := mean.Bounds()
	lo, hi := slices.Min(values), slices.Max(values)
	if known {
		lo, hi = min(lo, from), max(hi, to)
	}
	width := c.W - 4
	// column maps a value to a column of the canvas.
	column := func(v float64) int {
		if hi <= lo {
			return c.W / 2
		}
		return 2 + int(math.Round((v-lo)/(hi-lo)*float64(width-1)))
	}
	count := make([]int, c.W) // seeds in each column
	for _, v := range values {
		count[column(v)]++
	}
	dotRows := max(c.H-4, 1)
	meanRow := c.H - 3
	perDot := (slices.Max(count) + dotRows - 1) / dotRows // seeds per dot, so that the rows suffice
	for x, n := range count {
		for k := range (n + perDot - 1) / perDot {
			c.Set(x, meanRow-1-k, look.Payload, '●')
		}
	}
	if known {
		c.Fill(column(from), meanRow, column(to)-column(from)+1, look.Gauge, '─')
	}
	c.Set(column(mean.Mean), meanRow, look.Value, '┼')
	if hi <= lo {
		c.Text(max(c.W/2-2, 2), meanRow+1, look.Dim, units.Short(lo)+", all equal")
		return
	}
	c.Text(2, meanRow+1, look.Dim, formatNumber(lo, hi-lo))
	c.TextRight(c.W-2, meanRow+1, look.Dim, formatNumber(hi, hi-lo))
	middle := m.formatInterval(mean)
	if mean.Range == nil {
		middle = "mean " + middle
	}
	if perDot > 1 {
		middle += fmt.Sprintf(", a dot is up to %d seeds", perDot)
	}
	c.Text((c.W-look.TextWidth(middle))/2, meanRow+1, look.Dim, middle)
}
