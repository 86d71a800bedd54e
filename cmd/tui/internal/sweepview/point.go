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

// shownFigures lists the figures that the point under the cursor has.
func (m *model) shownFigures() (list []int) {
	p := m.watch.Point(m.at)
	for f := range m.watch.Names {
		if f == m.figure || len(m.watch.Values(p, f)) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// drawPoint lists the figures of the point under the cursor, with their intervals.
func (m *model) drawPoint(c *look.Canvas) {
	var words []string
	for d, a := range m.axes {
		words = append(words, a.Key+" = "+a.Values[m.at[d]])
	}
	p := m.watch.Point(m.at)
	if len(words) == 0 {
		words = []string{"the only point"}
	}
	y := 0
	for _, line := range look.Wrap(strings.Join(words, ", "), c.W) {
		if y < 2 {
			c.Text(0, y, look.Title, line)
			y++
		}
	}
	c.Spans(0, y, c.W, look.Dim.Span("seeds "), look.Value.Span(fmt.Sprintf("%d of %d", m.seeds[p], m.watch.Repeat())))
	if p != 0 {
		if r := m.watch.Ratio(p, m.figure); r.N > 0 {
			c.Spans(15, y, c.W-15, look.Value.Span(m.interval(r)), look.Dim.Span(" of first"))
		}
	}
	y++
	list := m.shownFigures()
	first := follow(0, slices.Index(list, m.figure), max(c.H-y, 1), len(list))
	for _, f := range list[first:] {
		if y >= c.H {
			break
		}
		ink, sign := look.Dim, " "
		if f == m.figure {
			ink, sign = look.Chosen, m.Theme().Chosen
		}
		c.Text(0, y, look.Chosen, sign)
		value := "-"
		if v := m.watch.Values(p, f); len(v) > 0 {
			value = m.interval(sweep.MeanOf(v))
		}
		x := c.W - max(look.TextWidth(value), 12)
		c.Clip(2, y, x-3, ink, m.watch.Names[f])
		c.Right(c.W, y, look.Value, value)
		y++
	}
}

// interval writes a mean with half its interval, to the digits that the interval tells apart.
func (m *model) interval(v figures.Mean) string {
	if v.Lo == nil || *v.Hi <= *v.Lo {
		return units.Short(v.Mean)
	}
	half := (*v.Hi - *v.Lo) / 2
	return number(v.Mean, half) + " " + m.Theme().PlusMinus + number(half, half)
}

// number writes v with two digits of a step that is to be told.
func number(v, step float64) string {
	digits := 1 - int(math.Floor(math.Log10(step)))
	if math.Abs(v) >= 9999.5 || step <= 0 || digits > 6 {
		return units.Short(v)
	}
	return units.Fixed(v, max(digits, 0))
}

// drawCharts draws the seeds of the point, and the figure along the axes through it.
func (m *model) drawCharts(c *look.Canvas) {
	const strip, least = 5, 5
	y := 0
	if m.watch.Repeat() > 1 && c.H >= strip {
		m.drawSeeds(c)
		y = strip
	}
	axes := []int{m.columns(), m.rows()}
	axes = slices.DeleteFunc(axes, func(a int) bool { return a < 0 || len(m.axes[a].Values) < 2 })
	for len(axes) > 0 && (c.H-y)/len(axes) < least {
		axes = axes[:len(axes)-1]
	}
	for i, axis := range axes {
		h := min((c.H-y)/(len(axes)-i), 14)
		part := look.NewCanvas(c.W, h-1)
		m.drawAlong(part, axis)
		c.Paste(0, y+1, part)
		y += h
	}
}

// drawSeeds draws each seed of the point as a dot on a line, stacked where they meet, and
// the interval of the mean below.
func (m *model) drawSeeds(c *look.Canvas) {
	values := m.watch.Values(m.watch.Point(m.at), m.figure)
	c.Spans(0, 0, c.W, look.Title.Span("seeds "), look.Dim.Span(m.watch.Names[m.figure]))
	if len(values) == 0 {
		c.Text(0, 2, look.Dim, "no result yet")
		return
	}
	mean := sweep.MeanOf(values)
	lo, hi := slices.Min(values), slices.Max(values)
	if mean.Lo != nil {
		lo, hi = min(lo, *mean.Lo), max(hi, *mean.Hi)
	}
	column := func(v float64) int {
		if hi <= lo {
			return c.W / 2
		}
		return int(math.Round((v - lo) / (hi - lo) * float64(c.W-1)))
	}
	count := make([]int, c.W)
	for _, v := range values {
		count[column(v)]++
	}
	most := slices.Max(count)
	per := (most + 1) / 2 // two rows of dots
	dot, bar, mid := '●', '─', '┼'
	if m.Theme().Ascii {
		dot, bar, mid = 'o', '-', '+'
	}
	for x, n := range count {
		for k := range min((n+per-1)/max(per, 1), 2) {
			c.Set(x, 2-k, look.Payload, dot)
		}
	}
	if mean.Lo != nil {
		c.Fill(column(*mean.Lo), 3, column(*mean.Hi)-column(*mean.Lo)+1, look.Gauge, bar)
	}
	c.Set(column(mean.Mean), 3, look.Value, mid)
	if hi <= lo {
		c.Text(max(c.W/2-2, 0), 4, look.Dim, units.Short(lo)+", all alike")
		return
	}
	c.Text(0, 4, look.Dim, number(lo, hi-lo))
	c.Right(c.W, 4, look.Dim, number(hi, hi-lo))
	if per > 1 {
		text := fmt.Sprintf("a dot is up to %d seeds", per)
		c.Text((c.W-len(text))/2, 4, look.Dim, text)
	}
}

// drawAlong draws the figure along an axis through the cursor: a dot for each mean and a
// bar for its interval.
func (m *model) drawAlong(c *look.Canvas, axis int) {
	const left = 8
	values := m.axes[axis].Values
	c.Spans(0, 0, c.W, look.Title.Span("along "+m.axes[axis].Key+" "), look.Dim.Span(m.watch.Names[m.figure]))
	room := c.W - left
	n := min(len(values), room)
	if n <= 0 || c.H < 4 {
		return
	}
	first := follow(m.at[axis]-n/2, m.at[axis], n, len(values))
	means, lo, hi := m.meansAlong(axis, first, n)
	if hi < lo {
		c.Text(left, 2, look.Dim, "no result yet")
		return
	}
	rows := c.H - 2
	row := func(v float64) int {
		if hi <= lo {
			return 1 + rows/2
		}
		return 1 + int(math.Round((hi-v)/(hi-lo)*float64(rows-1)))
	}
	if hi > lo {
		c.Right(left-1, row(hi), look.Dim, look.Short(number(hi, hi-lo), left-1))
		c.Right(left-1, row(lo), look.Dim, look.Short(number(lo, hi-lo), left-1))
	} else {
		c.Right(left-1, row(hi), look.Dim, units.Short(hi))
	}
	step := max(room/n, 1)
	dot, here, band := '●', '◆', '│'
	if m.Theme().Ascii {
		dot, here, band = 'o', '@', '|'
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
		if first+i == m.at[axis] {
			c.Set(x, row(v.Mean), look.Chosen, here)
		} else {
			c.Set(x, row(v.Mean), look.Payload, dot)
		}
	}
	m.nameAlong(c, axis, first, n, left, step)
}

// meansAlong returns the means of n places on an axis, and the range of them with their intervals;
// hi is below lo without a result.
func (m *model) meansAlong(axis, first, n int) (means []figures.Mean, lo, hi float64) {
	means = make([]figures.Mean, n)
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := range means {
		if v := m.watch.Values(m.point(axis, first+i), m.figure); len(v) > 0 {
			means[i] = sweep.MeanOf(v)
			lo, hi = min(lo, means[i].Mean), max(hi, means[i].Mean)
			if means[i].Lo != nil {
				lo, hi = min(lo, *means[i].Lo), max(hi, *means[i].Hi)
			}
		}
	}
	return means, lo, hi
}

// nameAlong writes the values below such a chart: that of the cursor, and the others where
// there is room.
func (m *model) nameAlong(c *look.Canvas, axis, first, n, left, step int) {
	taken := make([]bool, c.W+1)
	name := func(i int, ink look.Ink) {
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
		c.Text(x, c.H-1, ink, text)
	}
	name(m.at[axis]-first, look.Value)
	name(0, look.Dim)
	name(n-1, look.Dim)
	for i := range n {
		name(i, look.Dim)
	}
}
