package ui

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment"
)

// bitsPane shows what the bits of the last two seconds were spent on.
type bitsPane struct {
	schema *frame.Schema
	recent experiment.Recent
	seen   bool
}

func (p *bitsPane) name() string { return "Bits" }

func (p *bitsPane) observe(v sight) bool {
	r := v.lane().Recent
	if p.seen && (!v.slow || r.Budget == p.recent.Budget) {
		return false
	}
	p.schema, p.recent, p.seen = v.snap.Schema, r, true
	return true
}

// part is one slot of the account.
type part struct {
	name  string
	share float64 // 0..1
	ink   int     // its place among the colours
}

// parts lists the slots that were charged, in their fixed order, so that a part
// keeps its place and its colour whatever the encoder.
func (p *bitsPane) parts() []part {
	var out []part
	total := p.recent.Budget.Total()
	if total <= 0 {
		return nil
	}
	for k := range encoders.Slot(encoders.MaxSlots) {
		if u := p.recent.Budget.Units[k]; u > 0 {
			out = append(out, part{k.Name(p.schema), float64(u) / float64(total), int(k)})
		}
	}
	return out
}

func (p *bitsPane) draw(c *canvas, th *theme, focused bool) {
	c.frame(th, focused, "Where the bits go", span{inkDim, "payload of the last 2 s"})
	parts := p.parts()
	if len(parts) == 0 {
		c.clip(2, 1, c.w-4, inkDim, "nothing has been sent yet")
		return
	}
	p.bar(c, th, parts, 1)
	if c.h >= 5+len(parts) {
		p.rows(c, th, parts)
	} else {
		p.columns(c, th, parts)
	}
}

// bar draws the parts as one stacked bar with their names in it.
func (p *bitsPane) bar(c *canvas, th *theme, parts []part, y int) {
	w := c.w - 4
	x, sum := 2, 0.0
	for _, part := range parts {
		sum += part.share
		end := 2 + int(sum*float64(w)+0.5)
		label := " " + part.name + " "
		if th.color {
			c.fill(x, y, end-x, barInk(part.ink), ' ')
		} else {
			c.fill(x, y, end-x, inkPlain, th.shade(part.ink))
		}
		if textWidth(label) <= end-x {
			c.text(x, y, barInk(part.ink), label)
		}
		x = end
	}
}

// columns writes the numbers side by side, as many parts as there is room for.
func (p *bitsPane) columns(c *canvas, th *theme, parts []part) {
	const least = 14
	w := max((c.w-4)/len(parts), least)
	for i, part := range parts {
		x := 2 + i*w
		room := min(w-1, c.w-2-x)
		if room < least-1 {
			break
		}
		lines := [][]span{
			{{slotInk(part.ink), string(th.swatch(part.ink)) + " "}, {inkPlain, part.name}},
			{{inkValue, padLeft(fixed(100*part.share, 1), 6)}, {inkDim, " %"}},
			{{inkPlain, padLeft(fixed(part.share*p.recent.PayloadKbps, 1), 6)}, {inkDim, " kbps"}},
			{{inkPlain, padLeft(fixed(part.share*p.recent.BitsPerChanged, 2), 6)}, {inkDim, " bits"}},
		}
		if c.h-3 < 2 { // one line: name and share together
			lines = [][]span{{lines[0][0], lines[0][1], {inkValue, " " + fixed(100*part.share, 0) + "%"}}}
		}
		for j, line := range lines {
			if y := 2 + j; y < c.h-1 {
				c.spans(x, y, room, line...)
			}
		}
	}
}

// rows writes the numbers one part a line, with a bar each.
func (p *bitsPane) rows(c *canvas, th *theme, parts []part) {
	const name, numbers = 16, 34
	head := "share      kbps   bits/changed"
	c.right(c.w-2, 3, inkDim, head)
	for i, part := range parts {
		y := 4 + i
		c.spans(2, y, name-1, span{slotInk(part.ink), string(th.swatch(part.ink)) + " "}, span{inkPlain, part.name})
		bar := max(c.w-4-name-numbers, 0)
		c.fill(2+name, y, int(part.share*float64(bar)+0.5), slotInk(part.ink), th.swatch(part.ink))
		c.right(c.w-2, y, inkPlain, padLeft(fixed(part.share*p.recent.BitsPerChanged, 2), 11))
		c.right(c.w-15, y, inkPlain, fixed(part.share*p.recent.PayloadKbps, 1))
		c.right(c.w-25, y, inkValue, fixed(100*part.share, 1)+" %")
	}
}
