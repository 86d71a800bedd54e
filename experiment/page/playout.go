package page

import (
	"fmt"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// addPlayoutPolicies adds the compared playout policies: a chart of starvation against age, with the curve of fixed
// delays and each policy as a point, and a table.
func (d *document) addPlayoutPolicies(x *engine.Result) {
	p := x.Totals.Playout.Policies
	if p == nil || len(p.List) == 0 {
		return
	}
	t := newTable("Playout policies on the same arrivals", "policy", ">starved", ">age p50, ms", ">age p95, ms", ">longest freeze, ms", ">speed changes",
		">jumps", ">shifted, ms", ">best fixed delay, ms", ">p50 against it, ms")
	for i := range p.List {
		l := &p.List[i]
		t.Add(l.Label, formatShare(l.StarvedRatio), formatFigure(l.AgeMS.Of(l.AgeMS.P50)), formatFigure(l.AgeMS.Of(l.AgeMS.P95)), formatFigure(l.LongestFreezeMS),
			formatNumber(float64(l.SpeedChanges)), formatNumber(float64(l.Jumps)), formatNumber(l.ShiftedMS), formatFigure(l.BestFixedMS), formatFigure(l.VsBestFixedMS))
	}
	d.Sections = append(d.Sections, section{ID: "playout-policies", Title: "Playout policies",
		Lead: []string{"The line shows fixed playout delays on the same arrivals. A point on the line is as good as the fixed delay that would have been best " +
			"in hindsight; below and to the left is better."},
		Graphics: []graphic{playoutGraphic(p)}, Tables: []table{t}})
}

// playoutGraphic draws the curve of fixed delays as far as it is near the policies, and the policies as dots.
func playoutGraphic(p *figures.PlayoutComparison) graphic {
	g := graphic{Title: "Starvation against age", Width: 740, Height: 350, Description: "Each playout policy, and the curve of fixed delays; the table below lists the policies"}
	const leastShare, leastAge = 1, 20 // of the axes, in % and ms
	maxAge, maxStarved := float64(leastAge), float64(leastShare)
	for i := range p.List {
		maxAge, maxStarved = max(maxAge, p.List[i].AgeMS.P50*1.2), max(maxStarved, 100*p.List[i].StarvedRatio.Or(0)*1.5)
	}
	x, y := g.drawAxesTo(span{hi: maxAge}, span{hi: maxStarved}, "median age of the displayed state, ms", "starved, % of display ticks")
	path := ""
	for _, f := range p.Fixed {
		age, known := f.AgeMS.Value()
		starved := 100 * f.StarvedRatio.Or(0)
		if !known || age > maxAge || starved > maxStarved {
			continue
		}
		verb := " L"
		if path == "" {
			verb = "M"
		}
		path += verb + x(age) + " " + y(starved)
	}
	g.Paths = append(g.Paths, curve{path, "frontier l1"})
	g.Key = append(g.Key, stripPart{Name: "fixed delays", Color: 1})
	for i := range p.List {
		l := &p.List[i]
		color := 2 + i%(maxLines-1)
		g.Dots = append(g.Dots, dot{X: x(l.AgeMS.P50), Y: y(100 * l.StarvedRatio.Or(0)), R: "5.5", Class: fmt.Sprintf("i%d", color),
			Title: fmt.Sprintf("%s: %s starved, %s ms", l.Label, formatShare(l.StarvedRatio), formatNumber(l.AgeMS.P50))})
		g.Key = append(g.Key, stripPart{Name: l.Label, Color: color})
	}
	return g
}
