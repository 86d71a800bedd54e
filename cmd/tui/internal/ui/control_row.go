package ui

import "strings"

// line draws one control: cursor, name, value, and a gauge of where it stands
// between its least and its most. It returns the column after them.
func (p *controlsPane) line(c *canvas, th *theme, y int, ctl *control) int {
	label, value := inkDim, inkValue
	if cur, _, _ := p.current(); cur.word == ctl.word {
		label, value = inkChosen, inkChosen
		c.text(2, y, inkChosen, th.chosen)
	}
	held := ctl.held != nil && ctl.held(p.cfg)
	if held && value == inkValue {
		label, value = inkFaint, inkDim
	}
	text, name := ctl.label, 12
	if ctl.nest != "" {
		text = th.dot + " " + text
		name = max(name, p.longest(ctl.nest)+6)
	}
	c.clip(4, y, c.w-5, label, text)
	x := 2 + name
	shown := speedText(th, p.speed)
	if ctl.value != nil {
		shown = ctl.value(p.cfg)
	}
	if ctl.words || ctl.choices != nil {
		return p.phrase(c, th, x, y, value, shown, ctl, held)
	}
	if model, params, ok := strings.Cut(shown, " "); ok && strings.Contains(params, "=") {
		return p.phrase(c, th, x, y, value, model, ctl, held) // its params have rows of their own
	}
	return p.number(c, th, x, y, value, shown, ctl, held)
}

// phrase draws a value that is words, as far as there is room.
func (p *controlsPane) phrase(c *canvas, th *theme, x, y int, k ink, shown string, ctl *control, held bool) int {
	mark := p.otherWay(th, ctl)
	if textWidth(mark) > 14 {
		mark = strings.Fields(mark)[0] + " differs"
	}
	if held {
		mark = "waits: netem " + mark
	}
	room := c.w - 2 - x
	if mark != "" {
		room -= textWidth(mark) + 2
	}
	end := c.clip(x, y, room, k, shown)
	if cur, _, _ := p.current(); ctl.words && shown == "off" && cur.word == ctl.word {
		end = c.clip(end+2, y, room-textWidth(shown)-2, inkDim, "enter types it")
	}
	if mark == "" {
		return end
	}
	return c.clip(end+2, y, c.w-4-end, inkDim, mark)
}

// number draws a value that has a unit and perhaps a gauge, and beside it that of
// the other direction if it is another.
func (p *controlsPane) number(c *canvas, th *theme, x, y int, k ink, shown string, ctl *control, held bool) int {
	const digits, units, gauge = 7, 7, 14
	n, unit := splitUnit(shown)
	if n == "" {
		n, unit = unit, ""
	}
	c.right(x+digits, y, k, n)
	end := c.clip(x+digits+1, y, c.w-2-x-digits-1, inkDim, unit)
	x = max(x+digits+units, end+1)
	switch {
	case held:
		end = c.clip(x, y, c.w-2-x, inkDim, "waits: netem")
		x = max(x+gauge, end) + 2
	case ctl.level != nil && x+gauge < c.w-2:
		p.gauge(c, th, x, y, gauge, ctl.level(p.cfg))
		end = x + gauge
		x = end + 2
	}
	if mark := p.otherWay(th, ctl); mark != "" {
		end = c.clip(x, y, c.w-2-x, inkDim, mark)
	}
	return end
}

// otherWay is the value of the link that is not shown, behind its arrow; "" if it
// is the same.
func (p *controlsPane) otherWay(th *theme, ctl *control) string {
	if ctl.other == nil || ctl.other(p.cfg) == "" {
		return ""
	}
	arrow := th.up
	if ctl.away == downOnly {
		arrow = th.down
	}
	text := ctl.other(p.cfg)
	if n, unit := splitUnit(text); n != "" {
		text = n + " " + unit
	}
	return strings.TrimRight(arrow+" "+text, " ")
}

// longest is the width of the longest label of a block.
func (p *controlsPane) longest(nest string) int {
	n := 0
	for _, c := range p.all {
		if c.nest == nest {
			n = max(n, textWidth(c.label))
		}
	}
	return n
}

func (p *controlsPane) gauge(c *canvas, th *theme, x, y, w int, level float64) {
	on := int(level*float64(w) + 0.5)
	c.fill(x, y, w, inkFaint, th.gaugeOff)
	c.fill(x, y, min(max(on, 0), w), inkGauge, th.gaugeOn)
}
