package transport

import (
	"math"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// playouts shows the compared playout policies as points on the curve of fixed delays, starved against age, and as a
// table with the best fixed delay in hindsight.
type playouts struct {
	compared *figures.PlayoutComparison // nil without a comparison
	past     bool                       // the comparison is of the run up to now, not up to the time cursor
	isSet    bool                       // policies are compared
}

func (p *playouts) Name() string { return "Playout" }

// Observe implements room.Observer: the figures change when a slow redraw is due (see room.View.RedrawDue).
func (p *playouts) Observe(v room.View) bool {
	if !v.RedrawDue {
		return false
	}
	before := p.compared
	p.compared, p.past = nil, v.Cut()
	p.isSet = v.Cfg.Receiver.PlayoutCompare != ""
	if lanes := v.Newest().Lanes; len(lanes) > 0 {
		p.compared = lanes[0].Totals.Playout.Policies
	}
	return before != nil || p.compared != nil
}

// Absent implements room.Absent: no policies are compared.
func (p *playouts) Absent() bool { return p.compared == nil && !p.isSet }

// rows returns the rows of the table with its heading and the frame, 3 before the first figures.
func (p *playouts) rows() int {
	if p.compared == nil {
		return 3
	}
	return len(p.compared.List) + 3
}

// dotName returns the letter of policy i in chart and table.
func dotName(i int) rune { return rune('a' + i%26) }

func (p *playouts) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	title := "Playout policies: starved %"
	if p.compared == nil {
		c.Frame(th, focused, title)
		c.Clip(2, 1, c.W-4, look.Dim, "no figures yet: the display has not begun")
		return
	}
	about := th.Dot + " fixed delays"
	if p.past {
		about = "up to now"
	}
	s := &panes.ScatterTable{Title: title, About: about, Spec: chart.ScatterSpec{AxisX: " age ms", MinX: 20, MinY: 1}}
	for i := range p.compared.Fixed {
		f := &p.compared.Fixed[i]
		s.Spec.Curve = append(s.Spec.Curve, chart.XY{X: f.AgeMS.Or(math.NaN()), Y: 100 * f.StarvedRatio.Or(math.NaN())})
	}
	list := p.compared.List
	for i := range list {
		l := &list[i]
		style := look.Value
		if i == 0 { // of the display
			style = look.Payload
		}
		s.Spec.MinX = max(s.Spec.MinX, 1.2*l.AgeMS.Of(l.AgeMS.P50).Or(0))
		s.Add(l.Label, chart.Dot{XY: chart.XY{X: l.AgeMS.Of(l.AgeMS.P50).Or(math.NaN()), Y: 100 * l.StarvedRatio.Or(math.NaN())},
			Name: dotName(i), Style: chart.Style(style)})
	}
	s.AddColumn("starved", 7, func(i int) string { return list[i].StarvedRatio.Times(100).Text(1) + " %" })
	s.AddColumn("age p50/95", 10, func(i int) string {
		age := &list[i].AgeMS
		return age.Of(age.P50).Text(0) + "/" + age.Of(age.P95).Text(0)
	})
	s.AddColumn("best fixed", 10, func(i int) string { return list[i].BestFixedMS.Text(0) + " ms" })
	// The median age minus that of the best fixed delay.
	s.AddColumn("vs it", 6, func(i int) string { return units.Signed(list[i].VsBestFixedMS.Or(math.NaN()), 0) + " ms" })
	s.Draw(c, th, focused)
}
