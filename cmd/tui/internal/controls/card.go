package controls

import (
	"fmt"
	"strings"

	"wirelab/experiment/config"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// encoderCard describes the encoder under the cursor in the list of encoders: its idea, its
// source and its parameters, which can be changed in the card.
type encoderCard struct {
	cat     *Catalog
	cfg     *config.Config // the current settings
	focused bool           // whether the parameters receive the keys
	cursor  int            // index of the selected parameter
	typing  bool           // whether input is being edited
	input   Editor         // the typed value of the selected parameter
	err     string         // why the last change was refused; "" if it was not
}

// params returns the parameters of an encoder; nil if the encoder is unknown.
func (e *encoderCard) params(name string) (list []config.Row) {
	if codec := e.cat.Codec(name); codec != nil {
		for _, info := range codec.ParamInfo() {
			list = append(list, config.ParamRow(info))
		}
	}
	return list
}

// configFor returns a configuration to read the parameters of the named encoder from: the current
// one if that encoder is active, otherwise one in which all its parameters have defaults.
func (e *encoderCard) configFor(name string) *config.Config {
	if e.cfg.Encoder.Name == name {
		return e.cfg
	}
	return &config.Config{Encoder: config.Encoder{Name: name}}
}

// handleCardKey handles a key for the card of the encoder under the cursor: tab moves the focus to
// its parameters, and a blank makes the encoder active without closing the list. false means that
// the list must handle the key.
func (p *picker) handleCardKey(msg tea.KeyMsg) (room.Request, bool) {
	e := p.card
	name, ok := p.selected()
	switch {
	case !ok: // no encoder matches the filter
	case e.typing:
		return p.handleTypingKey(name, msg), true
	case e.focused:
		return p.handleParamKey(name, msg), true
	case msg.Type == tea.KeyTab && len(e.params(name)) > 0:
		e.focused, e.cursor = true, 0
		return room.Request{}, true
	case msg.Type == tea.KeySpace: // names contain no blanks, so a blank is free for this
		return p.requestChange(config.NewChange("encoder.name", name)), true
	}
	return room.Request{}, false
}

// handleParamKey handles a key while the parameters of the named encoder have the focus: it moves
// the cursor, changes the value by one step, or begins to edit it.
func (p *picker) handleParamKey(name string, msg tea.KeyMsg) room.Request {
	e := p.card
	list := e.params(name)
	e.err = ""
	switch step := room.ListStep(msg); {
	case step != 0:
		e.cursor = min(max(e.cursor+step, 0), len(list)-1)
	case msg.Type == tea.KeyEsc, msg.Type == tea.KeyTab, msg.Type == tea.KeyShiftTab:
		e.focused = false
	case msg.Type == tea.KeyLeft, msg.Type == tea.KeyRight:
		steps := 1
		if msg.Type == tea.KeyLeft {
			steps = -1
		}
		if next, ok := list[e.cursor].Step(e.configFor(name), steps); ok {
			return p.setParam(name, next)
		}
	case msg.Type == tea.KeyEnter:
		e.typing = true
		e.input.Set(list[e.cursor].Text(e.configFor(name)))
	case msg.Type == tea.KeyRunes:
		e.typing = true
		e.input.Set(string(msg.Runes))
	}
	return room.Request{}
}

// handleTypingKey handles a key while the value of a parameter is typed. Enter sets the value; if
// it is refused, the text stays, so that it can be corrected.
func (p *picker) handleTypingKey(name string, msg tea.KeyMsg) room.Request {
	e := p.card
	switch msg.Type {
	case tea.KeyEsc:
		e.typing, e.err = false, ""
	case tea.KeyEnter:
		return p.setParam(name, strings.TrimSpace(e.input.String()))
	default:
		e.err = ""
		e.input.Key(msg)
	}
	return room.Request{}
}

// setParam returns the request to set the selected parameter to v. It first makes the named
// encoder the active one if it is not, because only the active encoder has parameters to set.
func (p *picker) setParam(name string, v any) room.Request {
	e := p.card
	ch := config.NewChange(e.params(name)[e.cursor].Key, v)
	if e.cfg.Encoder.Name != name {
		ch = config.NewChange("encoder.name", name).Merge(ch)
	}
	return p.requestChange(ch)
}

// requestChange returns the request for a change. The list stays open: if the change is accepted,
// it shows the new settings, and typing ends; if the change is refused, it shows the error.
func (p *picker) requestChange(ch config.Change) room.Request {
	e := p.card
	e.err = ""
	r := room.Change(ch)
	r.Accepted = func(cfg *config.Config) { e.cfg, p.current, e.typing = cfg, cfg.Encoder.Name, false }
	r.Refused = func(err error) { e.err = err.Error() }
	return r
}

// draw draws the card of the named encoder at (x, y) in w columns and at most h rows: summary,
// source, parameters, and below them an error or the help of the selected parameter.
func (e *encoderCard) draw(c *look.Canvas, th *look.Theme, x, y, w, h int, name string) {
	codec := e.cat.Codec(name)
	if codec == nil {
		return
	}
	end := y + h
	for _, line := range look.Wrap(codec.Summary, w) {
		c.Clip(x, y, w, look.Plain, line)
		y++
	}
	for _, line := range look.Wrap("source: "+codec.Source, w) {
		if codec.Source != "" && y < end {
			c.Clip(x, y, w, look.Dim, line)
			y++
		}
	}
	list := e.params(name)
	y++
	if len(list) == 0 {
		c.Clip(x, y, w, look.Dim, "no parameters")
		return
	}
	hint := "tab selects the parameters"
	if e.focused {
		hint = "←→ change, or type a value; esc returns to the list"
	}
	c.Clip(x, y, w, look.Dim, hint)
	below, helpStyle := e.helpLines(list, w)
	rows := end - y - 1 - len(below)
	first := min(max(e.cursor-rows/2, 0), max(len(list)-rows, 0)) // scroll so that the cursor is in the middle
	for i := first; i < len(list) && i-first < rows; i++ {
		y++
		e.drawParam(c, th, x, y, w, name, i, list[i])
	}
	for i, line := range below {
		c.Clip(x, y+1+i, w, helpStyle, line)
	}
}

// helpLines returns the lines below the parameters, wrapped to w columns, and their style: the
// error about the last change, or the help of the selected parameter. Without the focus there are
// none.
func (e *encoderCard) helpLines(list []config.Row, w int) ([]string, look.Style) {
	const maxLines = 3
	if !e.focused {
		return nil, look.Dim
	}
	text, style := paramName(list[e.cursor])+": "+list[e.cursor].Help, look.Dim
	if e.err != "" {
		text, style = e.err, look.Bad
	}
	lines := look.Wrap(text, w)
	return lines[:min(len(lines), maxLines)], style
}

// drawParam draws parameter i of the named encoder, described by r, in one row: name, value, unit,
// bounds and help. While its value is typed, the row shows only the name and the typed text.
func (e *encoderCard) drawParam(c *look.Canvas, th *look.Theme, x, y, w int, name string, i int, r config.Row) {
	labelStyle, valueStyle := look.Dim, look.Value
	selected := e.focused && i == e.cursor
	if selected {
		labelStyle, valueStyle = look.Chosen, look.Chosen
		c.Text(x, y, look.Chosen, th.Chosen)
	}
	const labelWidth, valueWidth, extraTyped = 18, 8, 8 // in columns; a typed value may be longer
	label := x + 2                                      // after the cursor of the list
	c.Clip(label, y, labelWidth, labelStyle, paramName(r))
	if selected && e.typing {
		end := c.Clip(label+labelWidth+1, y, valueWidth+extraTyped, look.Value, e.input.String())
		c.Text(end, y, look.Cursor, "_")
		return
	}
	c.TextRight(label+labelWidth+valueWidth, y, valueStyle, r.Text(e.configFor(name)))
	next := label + labelWidth + valueWidth + 1 // the next free column
	next = c.Clip(next, y, x+w-next, look.Dim, r.Unit) + 1
	if r.Min != r.Max { // the parameter is a number with bounds
		next = c.Clip(next, y, x+w-next, look.Faint, fmt.Sprintf("%g..%g ", r.Min, r.Max))
	}
	if !e.focused { // with the focus, helpLines shows the help
		c.Clip(next, y, x+w-next, look.Dim, r.Help)
	}
}

// paramName returns the name of the parameter that a row sets.
func paramName(r config.Row) string { return strings.TrimPrefix(r.Key, "encoder.params.") }
