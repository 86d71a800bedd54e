package controls

import (
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/internal/units"
)

// drawControl draws a control on row y: cursor, name, value, and a gauge of the value between its
// bounds. It returns the column after them.
func (p *Pane) drawControl(c *look.Canvas, th *look.Theme, y int, ctl *control) int {
	label, value := look.Dim, look.Value
	if cur, _ := p.current(); cur.command == ctl.command {
		label, value = look.Chosen, look.Chosen
		c.Text(2, y, look.Chosen, th.Chosen)
	}
	if ctl.overridden && value == look.Value {
		label, value = look.Faint, look.Dim
	}
	text, name := ctl.label, 12
	if ctl.block != "" {
		text = th.Dot + " " + text
		name = max(name, p.maxLabelWidth(ctl.block)+6)
	}
	c.Clip(4, y, c.W-5, label, text)
	x := 2 + name
	shown := look.SpeedText(th, p.speed)
	if ctl.Get != nil {
		shown = ctl.Show(p.cfg)
	}
	if ctl.isText || len(ctl.Options) > 0 {
		return p.drawText(c, th, x, y, value, shown, ctl)
	}
	if model, params, ok := strings.Cut(shown, " "); ok && strings.Contains(params, "=") {
		return p.drawText(c, th, x, y, value, model, ctl) // its params have rows of their own
	}
	return p.drawNumber(c, th, x, y, value, shown, ctl)
}

// drawText draws a value that is text, as far as there is room.
func (p *Pane) drawText(c *look.Canvas, th *look.Theme, x, y int, k look.Ink, shown string, ctl *control) int {
	note := p.otherLinkValue(th, ctl)
	if look.TextWidth(note) > 14 {
		note = strings.Fields(note)[0] + " differs"
	}
	if ctl.overridden {
		note = "set by netem " + note
	}
	room := c.W - 2 - x
	if note != "" {
		room -= look.TextWidth(note) + 2
	}
	end := c.Clip(x, y, room, k, shown)
	if cur, _ := p.current(); ctl.isText && shown == "off" && cur.command == ctl.command {
		end = c.Clip(end+2, y, room-look.TextWidth(shown)-2, look.Dim, "enter to type")
	}
	if note == "" {
		return end
	}
	return c.Clip(end+2, y, c.W-4-end, look.Dim, note)
}

// drawNumber draws a value with its unit, a gauge if it has bounds, and the value of the other
// link if it differs.
func (p *Pane) drawNumber(c *look.Canvas, th *look.Theme, x, y int, k look.Ink, shown string, ctl *control) int {
	const digits, unitWidth, gauge = 7, 7, 14
	n, unit := units.Split(shown)
	if n == "" {
		n, unit = unit, ""
	}
	c.Right(x+digits, y, k, n)
	end := c.Clip(x+digits+1, y, c.W-2-x-digits-1, look.Dim, unit)
	x = max(x+digits+unitWidth, end+1)
	switch {
	case ctl.overridden:
		end = c.Clip(x, y, c.W-2-x, look.Dim, "set by netem")
		x = max(x+gauge, end) + 2
	case ctl.Gauge != nil && x+gauge < c.W-2:
		p.drawGauge(c, th, x, y, gauge, ctl.Gauge(p.cfg))
		end = x + gauge
		x = end + 2
	}
	if note := p.otherLinkValue(th, ctl); note != "" {
		end = c.Clip(x, y, c.W-2-x, look.Dim, note)
	}
	return end
}

// otherLinkValue returns the value of the other link with its arrow, or "" if it is the same.
func (p *Pane) otherLinkValue(th *look.Theme, ctl *control) string {
	if ctl.otherRow == nil {
		return ""
	}
	text := ctl.otherRow.Text(p.cfg)
	if text == "" || text == ctl.Text(p.cfg) {
		return ""
	}
	arrow := th.Up
	if ctl.direction.Other() == config.DownOnly {
		arrow = th.Down
	}
	if n, unit := units.Split(text); n != "" {
		text = n + " " + unit
	}
	return strings.TrimRight(arrow+" "+text, " ")
}

// maxLabelWidth returns the width of the longest label of a block.
func (p *Pane) maxLabelWidth(block string) int {
	n := 0
	for _, c := range p.all {
		if c.block == block {
			n = max(n, look.TextWidth(c.label))
		}
	}
	return n
}

// drawGauge draws a bar of w columns, filled to level, which is in 0..1.
func (p *Pane) drawGauge(c *look.Canvas, th *look.Theme, x, y, w int, level float64) {
	on := int(level*float64(w) + 0.5)
	c.Fill(x, y, w, look.Faint, th.GaugeOff)
	c.Fill(x, y, min(max(on, 0), w), look.Gauge, th.GaugeOn)
}
