package page

import (
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// addControl adds the send-rate controls of all lanes, and the newest decisions of the first one.
func (d *document) addControl(x *engine.Result) {
	t := newTable("Snapshots held back, and the time until delays and packets per second were normal after the last change of the links",
		"lane", "control", ">held back", ">of those due", ">rate cuts", ">rate, kbps", ">delay normal after, s", ">packets normal after, s")
	addRow := func(lane string, c *figures.Control) {
		if c == nil {
			return
		}
		var last figures.ControlStep
		if n := len(c.Steps); n > 0 {
			last = c.Steps[n-1]
		}
		t.Add(lane, c.Policy, formatNumber(float64(c.Held)), formatShare(c.HeldRatio), formatNumber(float64(c.RateCuts)), formatFigure(c.TargetKbps),
			formatFigure(last.DrainedS), formatFigure(last.RateS))
	}
	addRow(x.Lane, x.Totals.Control)
	for i := range x.Shadows {
		addRow(x.Shadows[i].Lane, x.Shadows[i].Totals.Control)
	}
	if len(t.Rows) == 0 {
		return
	}
	s := section{ID: "control", Title: "Send-rate control", Tables: []table{t}}
	if c := x.Totals.Control; c != nil && len(c.Decisions) > 0 {
		decisions := newTable("Newest decisions of lane "+x.Lane, ">from, s", ">to, s", ">snapshots held back", "decision")
		decisions.Folded = true
		for i := range c.Decisions {
			x := &c.Decisions[i]
			decisions.Add(formatNumber(x.TS), formatNumber(x.UntilS), formatNumber(float64(x.Held)), x.Text)
		}
		s.Tables = append(s.Tables, decisions)
	}
	d.Sections = append(d.Sections, s)
}
