package sweepview

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/internal/units"
)

// shownFigures returns the figures of which the sweep has data, and the figure of the map in any case. They are the same
// for all points.
func (m *model) shownFigures() (list []int) {
	for f, texts := range m.allTexts {
		if texts != nil {
			list = append(list, f)
		}
	}
	return list
}

// drawVitalLine draws the selected point in one line: its settings, the mean of the figure, and the ratio to the
// reference point.
func (m *model) drawVitalLine(c *look.Canvas) {
	p := m.selected()
	row, text := m.row(m.figure), &m.texts[p]
	pieces := []look.Span{look.Dim.Span(row.Title + " "), look.Value.Span(text.mean + spaced(text.interval)), look.Dim.Span(spaced(row.Unit))}
	if len(m.means) > 1 {
		pieces = append(pieces, text.style.Span("  "+text.ratio+spaced(text.ratioInterval)))
	}
	var values []string // of the axes, which the map names
	for _, a := range m.axes {
		values = append(values, m.watch.Points()[p].Set[a.Key])
	}
	settings := look.Title.Span(look.Shorten(strings.Join(values, ", "), max(c.W-4-look.SpansWidth(pieces), 0)) + "  ")
	c.Spans(1, 0, c.W-2, append([]look.Span{settings}, pieces...)...)
}

// drawPoint draws the settings of the selected point, its completed seeds, and all its figures with their confidence
// intervals and ratios to the reference point. The cursor is at the figure of the map.
func (m *model) drawPoint(c *look.Canvas, focused bool) {
	p := m.selected()
	c.Frame(m.Theme(), focused, "Point", look.Dim.Span("seeds "), look.Value.Span(fmt.Sprintf("%d of %d", m.seeds[p], m.watch.Repeat())))
	const left = 3 // that of the table
	settings := look.Wrap(m.describe(p), c.W-left-1)
	settings = settings[:min(len(settings), max(c.H/3, 1))]
	for i, line := range settings {
		c.Text(left, 1+i, look.Title, line)
	}
	t, list := &m.figureList, m.shownFigures()
	t.Columns = m.figureColumns(p, list)
	t.NumRows = len(list)
	t.Cursor = slices.Index(list, m.figure)
	t.Draw(c, m.Theme(), 1+len(settings), c.H-2-len(settings))
}

// figureColumns returns the columns of the list of figures of point p. They have the same widths for all points.
func (m *model) figureColumns(p int, list []int) []grid.Column {
	n, points := len(list), len(m.means)
	at := func(i int) *pointText { // of point p if i < n; further ones are those of the other points
		return &m.allTexts[list[i%n]][(p+i/n)%points]
	}
	name := column("figure", n, func(i int) look.Span { return look.Dim.Span(m.row(list[i]).Title) })
	name.Min = min(name.Width, 12)
	unit := column("unit", n, func(i int) look.Span { return look.Dim.Span(m.row(list[i]).Unit) })
	numbers := numberColumns("mean", n*points, at)
	mean, interval, ratio, ratioInterval := numbers[0], numbers[1], numbers[2], numbers[3]
	interval.Min = min(interval.Width, 7)
	columns := []grid.Column{name, mean, interval, unit}
	if len(m.means) == 1 {
		return columns
	}
	ratio.Drop = 2
	ratioInterval.Drop = 1
	return append(columns, ratio, ratioInterval)
}

// drawCharts draws the figure along each axis of the map, through the selected point, as far as there are rows.
func (m *model) drawCharts(c *look.Canvas, focused bool) {
	axes := []int{m.columns(), m.rows()}
	axes = slices.DeleteFunc(axes, func(a int) bool { return a < 0 || len(m.axes[a].Values) < 2 })
	const minRows = 7 // of a chart with its title
	for len(axes) > 1 && (c.H-1)/len(axes) < minRows {
		axes = axes[:len(axes)-1]
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

// axisChart returns the chart of the figure along an axis through the selected point.
func (m *model) axisChart(axis int) *chart.PointsSpec {
	s := &chart.PointsSpec{Zero: m.fromZero, Selected: m.cursor[axis],
		Blank: chart.Style(look.Plain), Axis: chart.Style(look.Border), Label: chart.Style(look.Dim), Dot: chart.Style(look.Payload),
		Interval: chart.Style(look.Gauge), Chosen: chart.Style(look.Chosen), Current: chart.Style(look.Value)}
	for i, value := range m.axes[axis].Values {
		p := chart.Point{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Name: value}
		if v := m.means[m.pointAt(axis, i)]; v.N > 0 {
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
		values[i] *= m.row(m.figure).Scale()
	}
	mean := m.means[m.selected()]
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
	text := &m.texts[m.selected()]
	if hi <= lo {
		c.Text(max(c.W/2-2, 2), meanRow+1, look.Dim, text.mean+", all equal")
		return
	}
	c.Text(2, meanRow+1, look.Dim, units.Fixed(lo, m.decimals))
	c.TextRight(c.W-2, meanRow+1, look.Dim, units.Fixed(hi, m.decimals))
	middle := text.mean + spaced(text.interval)
	if mean.Range == nil {
		middle = "mean " + middle
	}
	if perDot > 1 {
		middle += fmt.Sprintf(", a dot is up to %d seeds", perDot)
	}
	c.Text((c.W-look.TextWidth(middle))/2, meanRow+1, look.Dim, middle)
}
