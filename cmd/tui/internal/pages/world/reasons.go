package world

import (
	"strconv"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/worldview"
	"wirelab/experiment/live"
	"wirelab/experiment/view"
)

// Reasons implements room.Reasoner: it shows the priorities of rows under the budget of the active encoder, then the world
// again.
func (p *worldMap) Reasons() (room.Request, bool) {
	if !p.hasBudget && p.priorities == nil {
		return room.Request{}, false
	}
	on := p.priorities == nil
	p.shown = p.figures[0]
	p.dirty = true
	return room.Request{Command: &live.Command{Priorities: &on}, Redraw: true}, true
}

// prioritySides returns the maps of errors and ages by row under a budget, and the reasons of priorities.
func (p *worldMap) prioritySides(w int) []side {
	rows, item := p.priorities, p.schema.Item
	text := func(text string) func(int) []look.Span {
		return func(maxWidth int) []look.Span { return look.Fit(maxWidth, []look.Span{look.Dim.Span(text)}, nil) }
	}
	errors := side{title: "Error by " + item, figure: text("expected by the sender"), heat: &worldview.Heat{Unit: rows.Unit, Bounds: errorBounds,
		Value: func(row int) float64 { return rows.Rows[row].Error }}}
	ages := side{title: "Age by " + item, figure: text("at the receiver"), heat: &worldview.Heat{Unit: "ms", Bounds: [...]float64{34, 100, 300, 900},
		Value: func(row int) float64 { return float64(rows.Ages[row].Milliseconds()) }}}
	if rows.Ages == nil {
		ages.missing = "unknown: the receiver is on another machine, or shows no view frames yet"
	}
	reasons := side{title: "Priorities", figure: text(rows.Policy), draw: p.drawReasons}
	const minTriple = 150 // the width from which the map of ages stands beside that of errors
	if w < minTriple {
		return []side{errors, reasons}
	}
	return []side{errors, ages, reasons}
}

// drawReasons lists the rows that should be sent, the most urgent first, with the reasons of their priorities.
func (p *worldMap) drawReasons(c *look.Canvas) {
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
	y := c.Wrap(2, 1, c.W-4, look.Dim, text) + 1
	for rank, row := range rows.Ranked {
		if y >= c.H-1 {
			return
		}
		r := &rows.Rows[row]
		x := c.Clip(2, y, c.W-4, look.Value, strconv.Itoa(rank+1)+". "+panes.RowName(p.schema, row)+"  ")
		for _, line := range look.Wrap(r.Text(rows.Unit), max(c.W-2-x, 1)) {
			if y >= c.H-1 {
				return
			}
			c.Clip(x, y, c.W-2-x, look.Plain, line)
			y++
		}
	}
}
