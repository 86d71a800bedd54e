package controls

import (
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/internal/units"
)

// line draws one control: cursor, name, value, and a gauge of where it stands
// between its least and its most. It returns the column after them.
func (p *Pane) line(c *look.Canvas, th *look.Theme, y int, ctl *control) int {
	label, value := look.Dim, look.Value
	if cur, _ := p.current(); cur.word == ctl.word {
		label, value = look.Chosen, look.Chosen
		c.Text(2, y, look.Chosen, th.Chosen)
	}
	if ctl.held && value == look.Value {
		label, value = look.Faint, look.Dim
	}
	text, name := ctl.label, 12
	if ctl.nest != "" {
		text = th.Dot + " " + text
		name = max(name, p.longest(ctl.nest)+6)
	}
	c.Clip(4, y, c.W-5, label, text)
	x := 2 + name
	shown := look.SpeedText(th, p.speed)
	if ctl.Get != nil {
		shown = ctl.Show(p.cfg)
	}
	if ctl.words || len(ctl.Options) > 0 {
		return p.phrase(c, th, x, y, value, shown, ctl)
	}
	if model, params, ok := strings.Cut(shown, " "); ok && strings.Contains(params, "=") {
		return p.phrase(c, th, x, y, value, model, ctl) // its params have rows of their own
	}
	return p.number(c, th, x, y, value, shown, ctl)
}

// phrase draws a value that is words, as far as there is room.
func (p *Pane) phrase(c *look.Canvas, th *look.Theme, x, y int, k look.Ink, shown string, ctl *control) int {
	mark := p.otherWay(th, ctl)
	if look.TextWidth(mark) > 14 {
		mark = strings.Fields(mark)[0] + " differs"
	}
	if ctl.held {
		mark = "waits: netem " + mark
	}
	room := c.W - 2 - x
	if mark != "" {
		room -= look.TextWidth(mark) + 2
	}
	end := c.Clip(x, y, room, k, shown)
	if cur, _ := p.current(); ctl.words && shown == "off" && cur.word == ctl.word {
		end = c.Clip(end+2, y, room-look.TextWidth(shown)-2, look.Dim, "enter types it")
	}
	if mark == "" {
		return end
	}
	return c.Clip(end+2, y, c.W-4-end, look.Dim, mark)
}

// number draws a value that has a unit and perhaps a gauge, and beside it that of
// the other direction if it is another.
func (p *Pane) number(c *look.Canvas, th *look.Theme, x, y int, k look.Ink, shown string, ctl *control) int {
	const digits, unitWidth, gauge = 7, 7, 14
	n, unit := units.Split(shown)
	if n == "" {
		n, unit = unit, ""
	}
	c.Right(x+digits, y, k, n)
	end := c.Clip(x+digits+1, y, c.W-2-x-digits-1, look.Dim, unit)
	x = max(x+digits+unitWidth, end+1)
	switch {
	case ctl.held:
		end = c.Clip(x, y, c.W-2-x, look.Dim, "waits: netem")
		x = max(x+gauge, end) + 2
	case ctl.Gauge != nil && x+gauge < c.W-2:
		p.gauge(c, th, x, y, gauge, ctl.Gauge(p.cfg))
		end = x + gauge
		x = end + 2
	}
	if mark := p.otherWay(th, ctl); mark != "" {
		end = c.Clip(x, y, c.W-2-x, look.Dim, mark)
	}
	return end
}

// otherWay is the value of the link that is not shown, behind its arrow; "" if it
// is the same.
func (p *Pane) otherWay(th *look.Theme, ctl *control) string {
	if ctl.other == nil {
		return ""
	}
	text := ctl.other.Text(p.cfg)
	if text == "" || text == ctl.Text(p.cfg) {
		return ""
	}
	arrow := th.Up
	if ctl.way.Other() == config.DownOnly {
		arrow = th.Down
	}
	if n, unit := units.Split(text); n != "" {
		text = n + " " + unit
	}
	return strings.TrimRight(arrow+" "+text, " ")
}

// longest is the width of the longest label of a block.
func (p *Pane) longest(nest string) int {
	n := 0
	for _, c := range p.all {
		if c.nest == nest {
			n = max(n, look.TextWidth(c.label))
		}
	}
	return n
}

func (p *Pane) gauge(c *look.Canvas, th *look.Theme, x, y, w int, level float64) {
	on := int(level*float64(w) + 0.5)
	c.Fill(x, y, w, look.Faint, th.GaugeOff)
	c.Fill(x, y, min(max(on, 0), w), look.Gauge, th.GaugeOn)
}
