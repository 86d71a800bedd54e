package panes

import (
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine/meters"
)

// Bits shows the bit budget of the active encoder over the last two seconds.
type Bits struct {
	Schema     *frame.Schema
	Recent     meters.Recent
	lastMinute [encoders.MaxSlots]int64 // units charged to each slot in the last minute; the largest slots get their own column
	seen       bool

	emptyText string // shown if no slot was charged
}

// Name implements room.Pane.
func (p *Bits) Name() string { return "Bits" }

// Observe implements room.Pane.
func (p *Bits) Observe(v room.View) bool {
	r := v.ActiveLane().Recent
	nothing := NothingSentText(v.ActiveLane())
	if p.seen && (!v.Slow || r.Budget == p.Recent.Budget && (r.Budget.Total() > 0 || nothing == p.emptyText)) {
		return false
	}
	p.emptyText = nothing
	p.Schema, p.Recent, p.seen = v.Snap.Schema, r, true
	var sum encoders.Budget
	for _, s := range meters.Tail(v.ActiveLane().Samples, time.Minute) {
		sum.Add(&s.Budget)
	}
	sum.Add(&r.Budget)
	if sum.Total() > 0 {
		p.lastMinute = sum.Units
	}
	return true
}

// Parts returns the slots that were charged, as parts of the budget.
func (p *Bits) Parts() []Part { return BudgetParts(&p.Recent.Budget, p.Schema) }

// Draw implements room.Pane.
func (p *Bits) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Bit budget", look.Dim.Span("payload, last 2 s"))
	parts := p.Parts()
	if len(parts) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, p.emptyText)
		return
	}
	l := p.chooseLayout(parts, c.W-4, c.H-3)
	parts = LimitParts(parts, l.capacity, func(k int) float64 { return float64(p.lastMinute[k]) })
	StackedBar(c, th, 2, 1, c.W-4, parts)
	l.draw(c, th, parts)
}

// StackedBar draws parts from (x, y) side by side in one bar, with their names inside. A share of 1
// takes w columns.
func StackedBar(c *look.Canvas, th *look.Theme, x, y, w int, parts []Part) {
	from, sum := x, 0.0
	for _, part := range parts {
		sum += part.Share
		end := from + min(max(int(sum*float64(w)+0.5), 0), w)
		if th.Color {
			c.Fill(x, y, end-x, look.BarInk(part.Slot), ' ')
		} else {
			c.Fill(x, y, end-x, look.Plain, th.Shade(part.Slot))
		}
		if label := " " + part.Name + " "; look.TextWidth(label) <= end-x {
			c.Text(x, y, look.BarInk(part.Slot), label)
		}
		x = max(x, end)
	}
}
