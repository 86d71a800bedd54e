package panes

import (
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine/meters"
)

// Bits shows what the bits of the last two seconds were spent on.
type Bits struct {
	Schema *frame.Schema
	Recent meters.Recent
	usual  [encoders.MaxSlots]int64 // what each slot took in the last minute: which are worth a place of their own
	seen   bool

	nothing string // why there is nothing to show
}

// Name implements room.Pane.
func (p *Bits) Name() string { return "Bits" }

// Observe implements room.Pane.
func (p *Bits) Observe(v room.View) bool {
	r := v.Lane().Recent
	nothing := NothingSent(v.Lane())
	if p.seen && (!v.Slow || r.Budget == p.Recent.Budget && (r.Budget.Total() > 0 || nothing == p.nothing)) {
		return false
	}
	p.nothing = nothing
	p.Schema, p.Recent, p.seen = v.Snap.Schema, r, true
	var sum encoders.Budget
	for _, s := range meters.Tail(v.Lane().Samples, time.Minute) {
		sum.Add(&s.Budget)
	}
	sum.Add(&r.Budget)
	if sum.Total() > 0 {
		p.usual = sum.Units
	}
	return true
}

// Parts lists the slots that were charged.
func (p *Bits) Parts() []Part { return PartsOf(&p.Recent.Budget, p.Schema) }

// Draw implements room.Pane.
func (p *Bits) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Where the bits go", look.Dim.Span("payload of the last 2 s"))
	parts := p.Parts()
	if len(parts) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, p.nothing)
		return
	}
	l := p.layout(parts, c.W-4, c.H-3)
	parts = AtMost(parts, l.room, func(k int) float64 { return float64(p.usual[k]) })
	StackedBar(c, th, 2, 1, c.W-4, parts)
	l.draw(c, th, parts)
}

// StackedBar draws parts from (x, y) as one bar of which all together would take w columns, with
// their names in it.
func StackedBar(c *look.Canvas, th *look.Theme, x, y, w int, parts []Part) {
	from, sum := x, 0.0
	for _, part := range parts {
		sum += part.Share
		end := from + min(max(int(sum*float64(w)+0.5), 0), w)
		if th.Color {
			c.Fill(x, y, end-x, look.BarInk(part.Ink), ' ')
		} else {
			c.Fill(x, y, end-x, look.Plain, th.Shade(part.Ink))
		}
		if label := " " + part.Name + " "; look.TextWidth(label) <= end-x {
			c.Text(x, y, look.BarInk(part.Ink), label)
		}
		x = max(x, end)
	}
}
