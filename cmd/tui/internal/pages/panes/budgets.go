package panes

import (
	"math"
	"strings"

	"wirelab/cmd/tui/internal/chart"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine"
	"wirelab/experiment/lockstep"
	"wirelab/internal/units"
)

// Budgets shows the lanes that have a budget as points, the error that their receivers show against kbps, and as a table.
type Budgets struct{ snap *engine.Snapshot }

func (p *Budgets) Name() string { return "Budgets" }

// Observe implements room.Observer: the figures change when a slow redraw is due (see room.View.RedrawDue). They are
// computed by Draw, because the pane is seldom shown.
func (p *Budgets) Observe(v room.View) bool {
	if v.RedrawDue {
		p.snap = v.Snap
	}
	return v.RedrawDue
}

// HasBudget reports whether a lane has a budget.
func HasBudget(snap *engine.Snapshot) bool {
	for i := range snap.Lanes {
		if snap.Lanes[i].Budget.Bps > 0 {
			return true
		}
	}
	return false
}

func (p *Budgets) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	x := lockstep.CompareBudgets(p.snap)
	if x == nil {
		c.Frame(th, focused, "Error against kbps", look.Dim.Span("no lane has a budget: /budget 64kbit"))
		return
	}
	s := &ScatterTable{Title: "Error against kbps: mean " + x.Unit, About: x.Period(0),
		Spec: chart.ScatterSpec{AxisX: " kbps used", MinX: 20, MinY: 10}}
	lanes := []*engine.BudgetLane{} // in the order of the rows
	for _, group := range x.ByLimit() {
		for _, i := range group {
			l := &x.Lanes[i]
			lanes = append(lanes, l)
			style := look.LaneStyle(p.laneIndex(l.Lane))
			s.Spec.MinX = max(s.Spec.MinX, 1.1*l.UsedKbps.Or(0))
			s.Add(x.Name(i), chart.Dot{XY: chart.XY{X: l.UsedKbps.Or(math.NaN()), Y: l.MeanError.Or(math.NaN())},
				Name: letterRune(l.Lane), Style: chart.Style(style)})
		}
	}
	s.AddColumn("budget", 6, func(i int) string { return units.Trimmed(lanes[i].LimitKbps, 1) })
	s.AddColumn("used", 5, func(i int) string { return lanes[i].UsedKbps.Text(1) })
	s.AddColumn("error "+x.Unit, 8, func(i int) string { return lanes[i].MeanError.Text(0) })
	s.AddColumn("vs best", 7, func(i int) string { return lanes[i].RatioText() })
	s.AddColumn("95 % CI", 12, func(i int) string { return lanes[i].Interval() })
	s.Notes = x.Findings()
	if len(x.Lanes) == 1 {
		s.Notes = []string{"Another point: /shadow " + x.Lanes[0].Encoder + " priority=round-robin, or budget=24kbit"}
	}
	s.Draw(c, th, focused)
}

// laneIndex returns the index of the lane with a letter in the snapshot.
func (p *Budgets) laneIndex(letter string) int {
	for i := range p.snap.Lanes {
		if p.snap.Lanes[i].Letter == letter {
			return i
		}
	}
	return 0
}

// letterRune returns the letter of a lane in one column: A to Z, and a to z for AA and those after it.
func letterRune(letter string) rune {
	if n := len(letter); n > 1 {
		letter = strings.ToLower(letter[n-1:])
	}
	for _, r := range letter {
		return r
	}
	return '?'
}
