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
	Schema     *frame.Schema            // names the slots
	Recent     meters.Recent            // figures and bit budget of the last two seconds
	lastMinute [encoders.MaxSlots]int64 // budget units charged to each slot in the last minute; the largest slots get their own column

	emptyText string // shown if no slot was charged
}

func (p *Bits) Name() string { return "Bits" }

// Observe implements room.Observer. It changes the pane if a slow redraw is due (see room.View.RedrawDue), and only if
// the budget, or the text for an empty budget, differs.
func (p *Bits) Observe(v room.View) bool {
	recent := v.ActiveLane().Recent
	emptyText := NothingSentText(v.Snap, v.ActiveLane())
	if !v.RedrawDue || recent.Budget == p.Recent.Budget && (recent.Budget.Total() > 0 || emptyText == p.emptyText) {
		return false
	}
	p.emptyText = emptyText
	p.Schema, p.Recent = v.Snap.Schema, recent
	var sum encoders.Budget
	for _, s := range meters.Tail(v.ActiveLane().Samples, time.Minute) {
		sum.Add(&s.Budget)
	}
	sum.Add(&recent.Budget)
	if sum.Total() > 0 { // otherwise the ranks of the last minute with packets stay
		p.lastMinute = sum.Units
	}
	return true
}

// Parts returns the slots that were charged, as parts of the budget.
func (p *Bits) Parts() []Part { return BudgetParts(&p.Recent.Budget, p.Schema) }

// Draw implements room.Pane: a bar of all parts, and below it their figures in the layout that fits.
// If not all parts fit, those with the most bits in the last minute are drawn on their own.
func (p *Bits) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Bit budget", look.Dim.Span("payload, last 2 s"))
	parts := p.Parts()
	if len(parts) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, p.emptyText)
		return
	}
	layout := p.chooseLayout(parts, c.W-4, c.H-3) // without the frame and the row of the bar
	parts = LimitParts(parts, layout.capacity, func(slot int) float64 { return float64(p.lastMinute[slot]) })
	StackedBar(c, th, 2, 1, c.W-4, parts)
	layout.draw(c, th, parts)
}

// StackedBar draws parts from (x, y) side by side in one bar, with their names inside where they
// fit. A share of 1 takes w columns. Without colours, shades distinguish the parts.
func StackedBar(c *look.Canvas, th *look.Theme, x, y, w int, parts []Part) {
	barStart, shareSum := x, 0.0
	for _, part := range parts {
		shareSum += part.Share // rounding the sum, not each share, makes the bar as long as the total
		end := barStart + min(max(int(shareSum*float64(w)+0.5), 0), w)
		if th.Color {
			c.Fill(x, y, end-x, look.BarStyle(part.Slot), ' ')
		} else {
			c.Fill(x, y, end-x, look.Plain, look.Shade(part.Slot))
		}
		if label := " " + part.Name + " "; look.TextWidth(label) <= end-x {
			c.Text(x, y, look.BarStyle(part.Slot), label)
		}
		x = max(x, end)
	}
}
