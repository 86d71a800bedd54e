package panes

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine"
)

// Bits shows what the bits of the last two seconds were spent on.
type Bits struct {
	Schema *frame.Schema
	Recent engine.Recent
	seen   bool
}

// Name implements room.Pane.
func (p *Bits) Name() string { return "Bits" }

// Observe implements room.Pane.
func (p *Bits) Observe(v room.View) bool {
	r := v.Lane().Recent
	if p.seen && (!v.Slow || r.Budget == p.Recent.Budget) {
		return false
	}
	p.Schema, p.Recent, p.seen = v.Snap.Schema, r, true
	return true
}

// Part is one slot of the account.
type Part struct {
	Name  string
	Share float64 // 0..1
	Ink   int     // its place among the colours
}

// Parts lists the slots that were charged, in their fixed order, so that a part
// keeps its place and its colour whatever the encoder.
func (p *Bits) Parts() []Part {
	var out []Part
	total := p.Recent.Budget.Total()
	if total <= 0 {
		return nil
	}
	for k := range encoders.Slot(encoders.MaxSlots) {
		if u := p.Recent.Budget.Units[k]; u > 0 {
			out = append(out, Part{k.Name(p.Schema), float64(u) / float64(total), int(k)})
		}
	}
	return out
}

// Draw implements room.Pane.
func (p *Bits) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Where the bits go", look.Dim.Span("payload of the last 2 s"))
	parts := p.Parts()
	if len(parts) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, "nothing has been sent yet")
		return
	}
	p.bar(c, th, parts, 1)
	if c.H >= 5+len(parts) {
		p.rows(c, th, parts)
	} else {
		p.columns(c, th, parts)
	}
}

// bar draws the parts as one stacked bar with their names in it.
func (p *Bits) bar(c *look.Canvas, th *look.Theme, parts []Part, y int) {
	w := c.W - 4
	x, sum := 2, 0.0
	for _, part := range parts {
		sum += part.Share
		end := 2 + int(sum*float64(w)+0.5)
		label := " " + part.Name + " "
		if th.Color {
			c.Fill(x, y, end-x, look.BarInk(part.Ink), ' ')
		} else {
			c.Fill(x, y, end-x, look.Plain, th.Shade(part.Ink))
		}
		if look.TextWidth(label) <= end-x {
			c.Text(x, y, look.BarInk(part.Ink), label)
		}
		x = end
	}
}

// columns writes the numbers side by side, as many parts as there is room for.
func (p *Bits) columns(c *look.Canvas, th *look.Theme, parts []Part) {
	const least = 14
	w := max((c.W-4)/len(parts), least)
	for i, part := range parts {
		x := 2 + i*w
		room := min(w-1, c.W-2-x)
		if room < least-1 {
			break
		}
		lines := [][]look.Span{
			{look.SlotInk(part.Ink).Span(string(th.Swatch(part.Ink)) + " "), look.Plain.Span(part.Name)},
			{look.Value.Span(look.PadLeft(look.Fixed(100*part.Share, 1), 6)), look.Dim.Span(" %")},
			{look.Plain.Span(look.PadLeft(look.Fixed(part.Share*p.Recent.PayloadKbps, 1), 6)), look.Dim.Span(" kbps")},
			{look.Plain.Span(look.PadLeft(look.Fixed(part.Share*p.Recent.BitsPerChanged, 2), 6)), look.Dim.Span(" bits")},
		}
		if c.H-3 < 2 { // one line: name and share together
			lines = [][]look.Span{{lines[0][0], lines[0][1], look.Value.Span(" " + look.Fixed(100*part.Share, 0) + "%")}}
		}
		for j, line := range lines {
			if y := 2 + j; y < c.H-1 {
				c.Spans(x, y, room, line...)
			}
		}
	}
}

// rows writes the numbers one part a line, with a bar each.
func (p *Bits) rows(c *look.Canvas, th *look.Theme, parts []Part) {
	const name, numbers = 16, 34
	head := "share      kbps   bits/changed"
	c.Right(c.W-2, 3, look.Dim, head)
	for i, part := range parts {
		y := 4 + i
		c.Spans(2, y, name-1, look.SlotInk(part.Ink).Span(string(th.Swatch(part.Ink))+" "), look.Plain.Span(part.Name))
		bar := max(c.W-4-name-numbers, 0)
		c.Fill(2+name, y, int(part.Share*float64(bar)+0.5), look.SlotInk(part.Ink), th.Swatch(part.Ink))
		c.Right(c.W-2, y, look.Plain, look.PadLeft(look.Fixed(part.Share*p.Recent.BitsPerChanged, 2), 11))
		c.Right(c.W-15, y, look.Plain, look.Fixed(part.Share*p.Recent.PayloadKbps, 1))
		c.Right(c.W-25, y, look.Value, look.Fixed(100*part.Share, 1)+" %")
	}
}
