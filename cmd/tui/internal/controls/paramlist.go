package controls

import (
	"fmt"
	"regexp"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
)

// paramList is the state of the parameters below the list of encoders.
type paramList struct {
	cursor int    // index of the selected parameter
	typing bool   // input is being edited
	input  Editor // the typed value of the selected parameter
	err    string // why the last change was refused; "" if it was not
}

// paramRows returns the parameters of the selected encoder; nil without one.
func (l *EncoderList) paramRows() (list []config.Row) {
	if l.Item < 0 {
		return nil
	}
	for _, info := range l.cat.Codec(l.encoders[l.Item].Name).ParamInfo() {
		list = append(list, config.ParamRow(info))
	}
	return list
}

// selected returns a configuration with the selected encoder, to read its parameters from.
func (l *EncoderList) selected() *config.Config {
	return &config.Config{Encoder: l.encoders[l.Item].Clone(), Codecs: l.cfg.Codecs}
}

// focusParams moves the focus to the parameters of the selected encoder, if it has any.
func (l *EncoderList) focusParams() room.Request {
	l.DetailsFocused = len(l.paramRows()) > 0
	l.params = paramList{}
	return room.Request{}
}

// Key implements room.Overlay.
func (l *EncoderList) Key(msg tea.KeyMsg) room.Request {
	p := &l.params
	switch {
	case !l.DetailsFocused:
		return l.Picker.Key(msg)
	case p.typing:
		return l.typeParam(msg)
	}
	rows := l.paramRows()
	p.err = ""
	step := room.ReadStep(msg)
	switch {
	case step != 0:
		p.cursor = min(max(p.cursor+step, 0), len(rows)-1)
	case msg.Type == tea.KeyEsc, msg.Type == tea.KeyTab, msg.Type == tea.KeyShiftTab:
		l.DetailsFocused = false
	case msg.Type == tea.KeyLeft, msg.String() == "h":
		return l.stepParam(rows, -1)
	case msg.Type == tea.KeyRight, msg.String() == "l":
		return l.stepParam(rows, 1)
	case msg.Type == tea.KeyEnter:
		p.typing = true
		p.input.Set(rows[p.cursor].Text(l.selected()))
	case msg.Type == tea.KeyRunes && l.accepts(string(msg.Runes)):
		p.typing = true
		p.input.Set(string(msg.Runes))
	}
	return room.Request{}
}

// numberStart is what the beginning of a number looks like.
var numberStart = regexp.MustCompile(`^[-+]?[0-9]*[.]?[0-9]*$`)

// accepts reports whether text can be the beginning of a value of the selected parameter.
func (l *EncoderList) accepts(text string) bool {
	info := l.cat.Codec(l.encoders[l.Item].Name).ParamInfo()[l.params.cursor]
	switch info.Type {
	case "string":
		return true
	case "bool":
		return strings.HasPrefix("true", text) || strings.HasPrefix("false", text)
	}
	return numberStart.MatchString(text)
}

// stepParam changes the selected parameter by n steps.
func (l *EncoderList) stepParam(rows []config.Row, n int) room.Request {
	if next, ok := rows[l.params.cursor].Step(l.selected(), n); ok {
		return l.setParam(next)
	}
	return room.Request{}
}

// typeParam handles a key while the value of a parameter is typed. Enter sets the value; if it is refused, the text
// stays, so that it can be corrected.
func (l *EncoderList) typeParam(msg tea.KeyMsg) room.Request {
	p := &l.params
	switch msg.Type {
	case tea.KeyEsc:
		p.typing, p.err = false, ""
	case tea.KeyEnter:
		return l.setParam(strings.TrimSpace(p.input.String()))
	default:
		p.err = ""
		before := p.input.String()
		p.input.Key(msg)
		if len(p.input.Text) > len([]rune(before)) && !l.accepts(p.input.String()) {
			p.input.Set(before)
		}
	}
	return room.Request{}
}

// setParam sets the selected parameter to v: of the future shadow, or of the active encoder, which the selected one
// becomes first.
func (l *EncoderList) setParam(v any) room.Request {
	p := &l.params
	name, key := l.encoders[l.Item].Name, l.paramRows()[p.cursor].Key
	if !l.forShadow {
		ch := config.NewChange(key, v)
		if l.cfg.Encoder.Name != name {
			ch = config.NewChange("encoder.name", name).Merge(ch)
		}
		return l.request(ch)
	}
	next := l.selected()
	err := next.Set(key, v)
	if err == nil {
		err = next.Normalise()
	}
	if err != nil {
		p.err = err.Error()
		return room.Request{}
	}
	l.encoders[l.Item], p.typing, p.err = next.Encoder, false, ""
	return room.Request{}
}

// Bindings returns the keys of the list, or of the parameters if they have the focus.
func (l *EncoderList) Bindings() []room.Binding {
	if !l.DetailsFocused {
		return l.Picker.Bindings()
	}
	key := room.OverlayKey
	return []room.Binding{key("↑↓", "parameter", "select a parameter"), key("←→", "change", "decrease, increase the value; or type it"),
		key("enter", "set", "type the value, or set the typed value"), key("esc", "list", "return to the list of encoders")}
}

// draw draws the parameters from row y on, and below them an error or the help of the selected one.
func (p *paramList) draw(c *look.Canvas, th *look.Theme, y int, l *EncoderList) {
	list, hint := l.paramRows(), "tab selects the parameters"
	switch {
	case len(list) == 0:
		hint = "no parameters"
	case l.DetailsFocused:
		hint = "←→ change, or type a value; esc returns to the list"
	}
	c.Clip(0, y+1, c.W, look.Dim, th.KeyLabel(hint))
	below, helpStyle := p.helpLines(list, c.W, l.DetailsFocused)
	rows := max(c.H-y-2-len(below), 0)
	first := min(max(p.cursor-rows/2, 0), max(len(list)-rows, 0)) // scroll so that the cursor is in the middle
	y += 2
	for i := first; i < len(list) && i-first < rows; i++ {
		p.drawParam(c, th, y, i, &list[i], l)
		y++
	}
	for i, line := range below {
		c.Clip(0, y+i, c.W, helpStyle, line)
	}
}

// helpLines returns the lines below the parameters, wrapped to w columns, and their style: the error about the last
// change, or the help of the selected parameter. Without the focus there are none.
func (p *paramList) helpLines(list []config.Row, w int, focused bool) ([]string, look.Style) {
	const maxLines = 3
	if !focused {
		return nil, look.Dim
	}
	text, style := list[p.cursor].Label+": "+list[p.cursor].Help, look.Dim
	if p.err != "" {
		text, style = p.err, look.Bad
	}
	lines := look.Wrap(text, w)
	return lines[:min(len(lines), maxLines)], style
}

// drawParam draws parameter i, described by r, in one row: name, value, unit, bounds and help. While its value is
// typed, the row shows only the name and the typed text.
func (p *paramList) drawParam(c *look.Canvas, th *look.Theme, y, i int, r *config.Row, l *EncoderList) {
	labelStyle, valueStyle := look.Dim, look.Value
	selected := l.DetailsFocused && i == p.cursor
	if selected {
		labelStyle, valueStyle = look.Chosen, look.Chosen
		c.Text(0, y, look.Chosen, th.Chosen)
	}
	const label, labelWidth, valueWidth, extraTyped = 2, 18, 8, 8 // in columns; a typed value may be longer
	c.Clip(label, y, labelWidth, labelStyle, r.Label)
	if selected && p.typing {
		end := c.Clip(label+labelWidth+1, y, valueWidth+extraTyped, look.Value, p.input.String())
		c.Text(end, y, look.Cursor, "_")
		return
	}
	c.TextRight(label+labelWidth+valueWidth, y, valueStyle, r.Text(l.selected()))
	x := label + labelWidth + valueWidth + 1
	x = c.Clip(x, y, c.W-x, look.Dim, r.Unit) + 1
	if r.Min != r.Max { // the parameter is a number with bounds
		x = c.Clip(x, y, c.W-x, look.Faint, fmt.Sprintf("%g..%g ", r.Min, r.Max))
	}
	if !l.DetailsFocused { // with the focus, helpLines shows the help
		c.Clip(x, y, c.W-x, look.Dim, r.Help)
	}
}
