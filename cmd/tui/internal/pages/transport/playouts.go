package transport

import (
	"math"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// playouts shows the compared playout policies as points on the curve of fixed delays, starved against age, and as a
// table with the best fixed delay in hindsight.
type playouts struct {
	compared *figures.PlayoutComparison // nil without a comparison
	past     bool                       // the comparison is of the run up to now, not up to the time cursor
	seen     bool                       // Observe was called
}

// Name implements room.Pane.
func (p *playouts) Name() string { return "Playout" }

// Observe implements room.Observer: the figures change when a slow redraw is due (see room.View.RedrawDue).
func (p *playouts) Observe(v room.View) bool {
	if p.seen && !v.RedrawDue {
		return false
	}
	before := p.compared
	p.compared, p.past, p.seen = nil, v.Past, true
	if lanes := v.Newest().Lanes; len(lanes) > 0 {
		p.compared = lanes[0].Totals.Playout.Policies
	}
	return before != nil || p.compared != nil
}

// rows returns the rows of the table with its heading and the frame; 0 without a comparison.
func (p *playouts) rows() int {
	if p.compared == nil {
		return 0
	}
	return len(p.compared.List) + 3
}

// dotName returns the letter of policy i in chart and table.
func dotName(i int) rune { return rune('a' + i%26) }

// Draw implements room.Pane.
func (p *playouts) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	title := "Playout policies: starved %"
	if p.compared == nil {
		c.Frame(th, focused, "Playout policies", look.Fit(look.TitleSpace(c.W, "Playout policies"),
			[]look.Span{look.Dim.Span("none: /playout_compare all")}, nil)...)
		return
	}
	about := th.Dot + " fixed delays"
	if p.past {
		about = "up to now"
	}
	c.Frame(th, focused, title, look.Fit(look.TitleSpace(c.W, title), []look.Span{look.Dim.Span(about)}, nil)...)
	const minChart = 5
	list := p.compared.List
	tableRows := min(len(list)+1, max(c.H-2-minChart, 0))
	c.Blit(1, 1, chart.DrawScatter(p.spec(th), c.W-2, c.H-2-tableRows))
	p.drawTable(c, c.H-1-tableRows, tableRows)
	c.MoreBelow(th, len(list)+1-tableRows)
}

// spec returns the chart.
func (p *playouts) spec(th *look.Theme) *chart.ScatterSpec {
	s := &chart.ScatterSpec{AxisX: " age ms", MinX: 20, MinY: 1, ASCII: th.Ascii, Blank: chart.Style(look.Plain), Axis: chart.Style(look.Border),
		Label: chart.Style(look.Dim), Line: chart.Style(look.Ratio)}
	for i := range p.compared.Fixed {
		f := &p.compared.Fixed[i]
		s.Curve = append(s.Curve, chart.XY{X: f.AgeMS.Or(math.NaN()), Y: 100 * f.StarvedRatio.Or(math.NaN())})
	}
	for i := range p.compared.List {
		l := &p.compared.List[i]
		style := look.Value
		if i == 0 { // of the display
			style = look.Payload
		}
		s.MinX = max(s.MinX, 1.2*l.AgeMS.Of(l.AgeMS.P50).Or(0))
		s.Dots = append(s.Dots, chart.Dot{XY: chart.XY{X: l.AgeMS.Of(l.AgeMS.P50).Or(math.NaN()), Y: 100 * l.StarvedRatio.Or(math.NaN())},
			Name: dotName(i), Style: chart.Style(style)})
	}
	return s
}

// drawTable draws the heading and one row for each policy, at most rows of them, from row y on. Columns from the right:
// the median age minus that of the best fixed delay, that delay, jumps, the ages, and the starved ticks.
func (p *playouts) drawTable(c *look.Canvas, y, rows int) {
	if rows == 0 {
		return
	}
	right := c.W - 2
	columns := []struct {
		heading string
		width   int
		value   func(l *figures.PlayoutPolicy) string
	}{
		{"starved", 8, func(l *figures.PlayoutPolicy) string { return l.StarvedRatio.Times(100).Text(2) + " %" }},
		{"age p50/95", 11, func(l *figures.PlayoutPolicy) string {
			return l.AgeMS.Of(l.AgeMS.P50).Text(0) + "/" + l.AgeMS.Of(l.AgeMS.P95).Text(0)
		}},
		{"best fixed", 11, func(l *figures.PlayoutPolicy) string { return l.BestFixedMS.Text(0) }},
		{"vs it", 6, func(l *figures.PlayoutPolicy) string {
			return l.VsBestFixedMS.FormatWith(func(v float64) string {
				if v > 0 {
					return "+" + units.Fixed(v, 0)
				}
				return units.Fixed(v, 0)
			}, "-")
		}},
	}
	nameEnd := right
	for _, k := range columns {
		nameEnd -= k.width
	}
	c.Clip(2, y, nameEnd-2, look.Dim, "policy")
	x := nameEnd
	for _, k := range columns {
		x += k.width
		c.TextRight(x, y, look.Dim, k.heading)
	}
	for i := range min(rows-1, len(p.compared.List)) {
		l, row := &p.compared.List[i], y+1+i
		c.Set(2, row, look.Value, dotName(i))
		c.Clip(4, row, nameEnd-4, look.Plain, l.Label)
		x := nameEnd
		for _, k := range columns {
			x += k.width
			c.TextRight(x, row, look.Value, k.value(l))
		}
	}
}
