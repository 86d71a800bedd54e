package world

import (
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/live"
	"wirelab/experiment/view"
)

// minTripleReasons is the width from which the map of ages stands beside that of errors.
const minTripleReasons = 150

// ageSteps returns the upper bounds of the steps of the map of ages, in milliseconds.
func ageSteps() []float64 { return []float64{34, 100, 300, 900} }

// drawReasons lists the rows that should be sent, the most urgent first, with the reasons of their priorities.
func (p *views) drawReasons(c *look.Canvas) {
	rows := p.priorities
	var counts [view.TooLarge + 1]int
	for i := range rows.Rows {
		counts[rows.Rows[i].Standing]++
	}
	text := strconv.Itoa(counts[view.Waiting]) + " wait, " + strconv.Itoa(counts[view.UnderWay]) + " are under way, " +
		strconv.Itoa(counts[view.Blocked]) + " wait for an ack, " + strconv.Itoa(counts[view.Right]) + " are right"
	if n := counts[view.TooLarge]; n > 0 {
		text += ", " + strconv.Itoa(n) + " do not fit into a packet"
	}
	c.Clip(2, 1, c.W-4, look.Dim, text)
	y := 3
	for rank, row := range rows.Ranked {
		if y >= c.H-1 {
			break
		}
		r := &rows.Rows[row]
		x := c.Clip(2, y, c.W-4, look.Value, strconv.Itoa(rank+1)+". cube "+strconv.Itoa(row)+"  ")
		for _, line := range look.Wrap(r.Text(rows.Unit), max(c.W-2-x, 1)) {
			if y < c.H-1 {
				c.Clip(x, y, c.W-2-x, look.Plain, line)
			}
			y++
		}
	}
}

// budgetBinding returns the binding of the key that shows the priorities of rows, then error against kbps of all lanes
// with a budget, then the world again. Only the active encoder has priorities to show.
func (p *views) budgetBinding() room.Binding {
	help := "with a budget: error and age by cube, and why each cube has its priority; again: error against kbps of the encoder and its shadows"
	return room.Bind("x", help, func() room.Request {
		wasShown := p.showsBudgets
		p.showsBudgets = !wasShown && (p.priorities != nil || !p.hasBudget)
		p.dirty = true
		on := !wasShown && !p.showsBudgets
		if on == (p.priorities != nil) {
			return room.Request{}
		}
		return room.Request{Command: &live.Command{Priorities: &on}}
	}).InFooter("priorities").Unless(func() bool { return !p.anyBudget })
}
