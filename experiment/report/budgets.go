package report

import (
	"wirelab/experiment/engine"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// BudgetTable returns a table of the lanes that have a budget, by limit and error.
func BudgetTable(c *engine.BudgetComparison) *texttable.Table {
	t := texttable.New("lane", "policy", ">budget, kbps", ">used, kbps", ">mean error, "+c.Unit, ">times the best of this budget", ">95 % CI")
	for _, group := range c.ByLimit() {
		for _, i := range group {
			l := &c.Lanes[i]
			t.Add(l.Lane, c.Name(i), units.Trimmed(l.LimitKbps, 1), l.UsedKbps.Text(1), l.MeanError.Text(0), l.RatioText(), l.Interval())
		}
	}
	return t
}
