package controls

import (
	"fmt"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/internal/units"
)

// drawControl draws a control on row y: cursor, label, value, and a gauge of the value between
// its bounds. It returns the column after them. Labels of a block, such as the parameters of the
// encoder, are indented, and their values are aligned. A control that a netem line overrides is
// dimmed unless it is selected.
func (p *Pane) drawControl(c *look.Canvas, th *look.Theme, y int, ctl *control) int {
	labelStyle, valueStyle := look.Dim, look.Value
	switch {
	case p.isSelected(ctl):
		labelStyle, valueStyle = look.Chosen, look.Chosen
		c.Text(2, y, look.Chosen, th.Chosen)
	case ctl.overridden:
		labelStyle, valueStyle = look.Faint, look.Dim
	}
	label, labelWidth := ctl.Label, 12 // including the columns of the cursor and a gap
	if ctl.block != "" {
		const extra = 6 // columns of the cursor, the dot with its blank, and a gap
		label = th.Dot + " " + label
		labelWidth = max(labelWidth, p.maxLabelWidth(ctl.block)+extra)
	}
	c.Clip(4, y, c.W-5, labelStyle, label)
	x := 2 + labelWidth
	text := look.FormatSpeed(th, p.speed)
	if ctl.isSetting() {
		text = ctl.Show(p.cfg)
	}
	if ctl.isText || len(ctl.Options) > 0 {
		return p.drawText(c, th, x, y, valueStyle, text, ctl)
	}
	// A loss model with parameters, "MODEL NAME=VALUE...": the parameters have rows of their own.
	if model, params, ok := strings.Cut(text, " "); ok && strings.Contains(params, "=") {
		return p.drawText(c, th, x, y, valueStyle, model, ctl)
	}
	return p.drawNumber(c, th, x, y, valueStyle, text, ctl)
}

// drawText draws a value that is text at (x, y), shortened to the space, and then a note: whether a
// netem line overrides the setting, and the value of the other link if it differs. Of a long value
// the note contains only that it differs. drawText returns the column after both.
func (p *Pane) drawText(c *look.Canvas, th *look.Theme, x, y int, style look.Style, text string, ctl *control) int {
	note := p.otherLinkValue(th, ctl)
	if look.TextWidth(note) > 14 { // too long: only the arrow of the other link
		note = strings.Fields(note)[0] + " differs"
	}
	if ctl.overridden {
		note = "set by netem " + note
	}
	width := c.W - 2 - x
	if note != "" {
		width -= look.TextWidth(note) + 2
	}
	end := c.Clip(x, y, width, style, text)
	if ctl.isText && text == "off" && p.isSelected(ctl) {
		end = c.Clip(end+2, y, width-look.TextWidth(text)-2, look.Dim, "enter to type")
	}
	if note == "" {
		return end
	}
	return c.Clip(end+2, y, c.W-4-end, look.Dim, note)
}

// drawNumber draws a number with its unit at (x, y), then a gauge if the value has bounds, and
// the value of the other link if it differs. It returns the column after them. The decimal
// digits, units and gauges of all rows are aligned.
func (p *Pane) drawNumber(c *look.Canvas, th *look.Theme, x, y int, style look.Style, text string, ctl *control) int {
	const numberWidth, unitWidth, maxGaugeWidth, noteWidth = 7, 7, 14, 13 // in columns
	number, unit := units.Split(text)
	if number == "" { // a word such as "off", which is in unit
		number, unit = unit, ""
	}
	c.TextRight(x+numberWidth, y, style, number)
	end := c.Clip(x+numberWidth+1, y, c.W-2-x-numberWidth-1, look.Dim, unit)
	x = max(x+numberWidth+unitWidth, end+1)
	gaugeWidth := max(min(maxGaugeWidth, c.W-2-x-noteWidth), 0)
	level, hasLevel := 0.0, false
	if ctl.isSetting() {
		level, hasLevel = ctl.Level(p.cfg)
	}
	switch {
	case ctl.overridden:
		end = c.Clip(x, y, c.W-2-x, look.Dim, "set by netem")
		x = max(x+gaugeWidth, end) + 2
	case hasLevel:
		if text == "off" { // also where it is the largest value, as of a rate
			level = 0
		}
		p.drawGauge(c, th, x, y, gaugeWidth, level)
		end = x + gaugeWidth
		x = end + 2
	}
	note := p.otherLinkValue(th, ctl)
	if note == "" && p.isSelected(ctl) {
		note = th.KeyLabel(ctl.neighbours(p.cfg))
	}
	if note != "" && look.TextWidth(note) <= c.W-2-x {
		end = c.Text(x, y, look.Dim, note)
	}
	return end
}

// neighbours returns the values to which the arrow keys lead, as "← 2%  → 5%"; "" without steps.
func (ctl *control) neighbours(cfg *config.Config) string {
	if !ctl.isSetting() || !ctl.canStep(cfg) {
		return ""
	}
	var list []string
	for i, arrow := range []string{"←", "→"} {
		if next, ok := ctl.Step(cfg, 2*i-1); ok {
			list = append(list, fmt.Sprint(arrow, " ", next))
		}
	}
	return strings.Join(list, "  ")
}

// otherLinkValue returns the value that the setting of a control has on the link that the control
// does not show, after the arrow of that link; "" if both links have the same value, or if the
// control is no setting of a link.
func (p *Pane) otherLinkValue(th *look.Theme, ctl *control) string {
	text := ctl.other
	if text == "" || text == ctl.Text(p.cfg) {
		return ""
	}
	arrow := th.Up
	if p.scope.direction == config.UpOnly {
		arrow = th.Down
	}
	if number, unit := units.Split(text); number != "" {
		text = number + " " + unit
	}
	return strings.TrimRight(arrow+" "+text, " ") // the unit may be empty
}

// isSelected reports whether the cursor is on a control.
func (p *Pane) isSelected(ctl *control) bool {
	selected, _ := p.current()
	return selected.Short == ctl.Short
}

// maxLabelWidth returns the width of the longest label of a block.
func (p *Pane) maxLabelWidth(block string) int {
	n := 0
	for _, c := range p.all {
		if c.block == block {
			n = max(n, look.TextWidth(c.Label))
		}
	}
	return n
}

// drawGauge draws a bar of w columns at (x, y), filled to level, which is in 0..1.
func (p *Pane) drawGauge(c *look.Canvas, th *look.Theme, x, y, w int, level float64) {
	filled := int(level*float64(w) + 0.5)
	c.Fill(x, y, w, look.Faint, th.GaugeOff)
	c.Fill(x, y, min(max(filled, 0), w), look.Gauge, th.GaugeOn)
}
