package controls

import (
	"fmt"
	"slices"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"

	"wirelab/cmd/tui/internal/fuzzy"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/setting"

	tea "github.com/charmbracelet/bubbletea"
)

// picker is an overlay with a list to choose one name from, such as an encoder or a theme. Typing
// filters the list.
type picker struct {
	title            string
	command          string // the command that sets the chosen name
	all              []setting.Option
	current          string // the name that is set
	needsParams      bool   // choosing a name opens a line to type its parameters
	filter           string // in lower case; "" shows all names
	cursor           int    // index in matches
	descriptionBelow bool   // whether the description of a name is below the list, not to its right; set by layoutRight

	shadows []string     // the encoders of the shadows; nil if this is not a list of encoders
	card    *encoderCard // describes the encoder under the cursor; nil if this is not a list of encoders
	preview *preview     // describes the name under the cursor; nil for none
}

// preview draws a description of the selected name.
type preview struct {
	lines func(name string, w int) []string // returns lines of at most w columns
	cache map[string][]string               // by name, width and character set, because lines is slow
}

// draw draws the preview of a name at (x, y) in w columns and h rows.
func (p *preview) draw(c *look.Canvas, th *look.Theme, x, y, w, h int, name string) {
	cacheKey := fmt.Sprint(name, " ", w)
	lines, ok := p.cache[cacheKey]
	if !ok {
		if p.cache == nil {
			p.cache = map[string][]string{}
		}
		lines = p.lines(name, w)
		p.cache[cacheKey] = lines
	}
	for i, line := range lines[:min(len(lines), h)] {
		c.Clip(x, y+i, w, look.Plain, line)
	}
}

// minPreviewWidth is the smallest width of a legible preview.
const minPreviewWidth = 40

// NewPicker returns a list to choose an argument of a command from; current is the name that is
// set, on which the cursor is at first.
func NewPicker(title, command string, list []setting.Option, current string) *picker {
	p := &picker{title: title, command: command, all: list, current: current}
	p.cursor = max(slices.IndexFunc(list, func(c setting.Option) bool { return c.Name == current }), 0)
	return p
}

// SetOptions replaces the options. The cursor stays on its name.
func (p *picker) SetOptions(list []setting.Option) {
	name, _ := p.selected()
	p.all = list
	p.cursor = max(slices.IndexFunc(p.matches(), func(c setting.Option) bool { return c.Name == name }), 0)
}

// matches returns the options whose name matches the filter, best first, see fuzzy.Rank; then those whose summary
// contains it.
func (p *picker) matches() []setting.Option {
	if p.filter == "" {
		return p.all
	}
	var out []setting.Option
	for _, i := range fuzzy.Rank(p.filter, setting.Names(p.all)) {
		out = append(out, p.all[i])
	}
	for _, c := range p.all {
		if strings.Contains(strings.ToLower(c.Summary), p.filter) && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// move moves the cursor n names down, or up if n is negative.
func (p *picker) move(n int) { p.cursor = min(max(p.cursor+n, 0), max(len(p.matches())-1, 0)) }

// setFilter changes the filter and moves the cursor to the first match.
func (p *picker) setFilter(filter string) { p.filter, p.cursor = strings.ToLower(filter), 0 }

// selected returns the name under the cursor; false if nothing matches the filter.
func (p *picker) selected() (string, bool) {
	list := p.matches()
	if p.cursor >= len(list) {
		return "", false
	}
	return list[p.cursor].Name, true
}

// Size implements room.Overlay. With a preview or a card it takes the size of a legible description
// next to the list, or the right column of the screen if the description fits below the list
// there. Otherwise it is as high as the list.
func (p *picker) Size(w, h int) (width, height int, right bool) {
	switch {
	case p.layoutRight(w, h):
		const minChartWidth = 90 // of the charts beside the list
		width = room.RightColumn(w + room.OverlayMargin)
		nameWidth, summaryWidth := p.columnWidths()
		if whole := nameWidth + summaryWidth + otherColumns; whole <= w-minChartWidth {
			width = max(width, whole)
		}
		return width, min(h, len(p.all)+maxDescriptionRows), true
	case p.preview != nil || p.card != nil:
		return min(w, 104), min(h, 40), false
	}
	const edges = 4 // rows: the frame and an empty row above and below the list
	return min(w, 96), min(h, len(p.all)+edges), false
}

// otherColumns are the columns of a row of the list beside name and summary.
const otherColumns = 10

// columnWidths returns the widths of the longest name and of the longest summary.
func (p *picker) columnWidths() (name, summary int) {
	for _, option := range p.all {
		name, summary = max(name, look.TextWidth(option.Name)), max(summary, look.TextWidth(option.Summary))
	}
	return name, summary
}

// Key implements room.Overlay. The card, if any, handles a key first. Other keys move the cursor,
// edit the filter, choose the name, or close the list.
func (p *picker) Key(msg tea.KeyMsg) room.Request {
	if p.card != nil {
		if r, ok := p.handleCardKey(msg); ok {
			return r
		}
	}
	filter := []rune(p.filter)
	switch step := room.ListStep(msg); { // 0 if the key does not move the cursor
	case step != 0:
		p.move(step)
	case msg.Type == tea.KeyEsc:
		return room.Request{Closes: true}
	case msg.Type == tea.KeyEnter:
		return p.accept()
	case msg.Type == tea.KeyBackspace && len(filter) > 0:
		p.setFilter(string(filter[:len(filter)-1]))
	case msg.Type == tea.KeyCtrlU, msg.Type == tea.KeyCtrlW:
		p.setFilter("")
	case p.shadows != nil && (msg.Type == tea.KeyCtrlV || msg.String() == p.shadowKey()):
		return p.toggleShadow()
	case msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace:
		p.setFilter(p.filter + string(msg.Runes))
	}
	return room.Request{}
}

// shadowKey returns the key that adds the encoder as a shadow: "ctrl+v" while "v" could continue
// the typed filter, otherwise "v".
func (p *picker) shadowKey() string {
	longer := *p
	longer.filter += "v"
	if p.filter == "" || len(longer.matches()) == 0 {
		return "v"
	}
	return "ctrl+v"
}

// accept returns the request to close the list and to set the name under the cursor: to execute
// the command or, for a name with parameters, to open it for typing. If no name matches the
// filter, the list only closes.
func (p *picker) accept() room.Request {
	name, ok := p.selected()
	switch {
	case !ok:
		return room.Request{Closes: true}
	case p.needsParams:
		return room.Request{Closes: true, Edit: p.command + " " + name + " "}
	}
	return room.Request{Closes: true, Line: p.command + " " + name}
}

// toggleShadow returns the request to add the encoder under the cursor as a shadow, or to remove
// it if it is one. The list stays open.
func (p *picker) toggleShadow() room.Request {
	name, ok := p.selected()
	if !ok {
		return room.Request{}
	}
	line := "shadow "
	if slices.Contains(p.shadows, name) {
		line += "off "
	}
	return room.Request{Line: line + name, Accepted: func(cfg *config.Config) { p.shadows = append([]string{}, ShadowNames(cfg)...) }}
}

// Draw implements room.Overlay. A row has the cursor at column 2, the symbol of the shadow at 3,
// the marker of the current value at 4, and name and summary from 6.
func (p *picker) Draw(c *look.Canvas, th *look.Theme) {
	filter := look.Dim.Span("type to filter")
	if p.filter != "" {
		filter = look.Plain.Span("filter " + p.filter)
	}
	c.Frame(th, look.Focused, p.title, look.Fit(look.TitleSpace(c.W, p.title), []look.Span{filter}, nil)...)
	nameWidth, _ := p.columnWidths()
	list, rows := p.matches(), c.H-4
	if p.descriptionBelow {
		rows = min(rows, len(p.all))
	}
	first := min(max(p.cursor-rows/2, 0), max(len(list)-rows, 0)) // scroll so that the cursor is in the middle
	for y := 0; y < rows && first+y < len(list); y++ {
		option := list[first+y]
		style := look.Plain
		if first+y == p.cursor {
			style = look.Chosen
			c.Text(2, 2+y, style, th.Chosen)
		}
		if option.Name == p.current {
			c.Set(4, 2+y, look.Good, th.Outcome[packetlog.Decoded]) // a filled circle
		}
		if i := slices.Index(p.shadows, option.Name); i >= 0 {
			c.Set(3, 2+y, look.ShadowStyle(i), look.ShadowSymbol(i))
		}
		c.Clip(6, 2+y, nameWidth, style, option.Name)
		if p.preview == nil && (p.card == nil || p.descriptionBelow) {
			c.Clip(6+nameWidth+2, 2+y, c.W-otherColumns-nameWidth, look.Dim, option.Summary)
		}
	}
	if len(list) == 0 {
		c.Text(6, 2, look.Dim, "no match")
	}
	if first+rows < len(list) {
		c.Text(4, c.H-1, look.Dim, " more below ")
	}
	selectedName, ok := p.selected()
	x := 6 + nameWidth + 3
	w := c.W - x - 2
	switch {
	case !ok: // no name matches the filter
	case p.descriptionBelow:
		c.Divider(th, rows+3, p.card.focused, selectedName)
		p.card.draw(c, th, 2, rows+4, c.W-4, c.H-rows-5, selectedName)
	case p.card != nil:
		p.drawRule(c, th, x-2)
		p.card.draw(c, th, x, 2, w, c.H-3, selectedName)
	case p.preview != nil && w >= minPreviewWidth:
		p.drawRule(c, th, x-2)
		p.preview.draw(c, th, x, 2, w, c.H-3, selectedName)
	}
}

// Bindings returns the keys of the list, for the footer and the help. Only the list of encoders has keys to activate
// an encoder without closing the list, to add a shadow and to set parameters.
func (p *picker) Bindings() []room.Binding {
	key := room.OverlayKey
	if p.card != nil && p.card.focused {
		return []room.Binding{key("↑↓", "parameter", "select a parameter"), key("←→", "change", "decrease, increase the value; or type it"),
			key("enter", "set", "type the value, or set the typed value"), key("esc", "list", "return to the list of encoders")}
	}
	list := []room.Binding{key("enter", "select", "select the name under the cursor, and close the list").Pin()}
	if p.shadows != nil {
		list = append(list, key("space", "select, stay", "make the encoder active; the list stays open").Pin(),
			key(p.shadowKey(), "shadow", "run the encoder as a shadow, on the same frames and losses, or remove it").Pin(),
			key("tab", "parameters", "set the parameters of the encoder").Pin())
	}
	return append(list, key("↑↓", "move", "move the cursor"), key("a-z", "", "filter: type part of a name or of a summary; letters may be left out"),
		key("esc", "close", "close the list").Pin())
}

// maxDescriptionRows is the largest number of rows of the description below the list.
const maxDescriptionRows = 22

// drawRule draws a vertical line at column x, between the list and the description of the selected
// name.
func (p *picker) drawRule(c *look.Canvas, th *look.Theme, x int) {
	for y := 1; y < c.H-1; y++ {
		c.Text(x, y, look.Border, th.Border.Left)
	}
}

// layoutRight reports whether the list is placed at the right of a screen of w columns and h rows,
// so that the charts stay visible, with the description below the list. It stores the result in
// descriptionBelow. Only a list of encoders can be placed there, if it and its description fit.
func (p *picker) layoutRight(w, h int) bool {
	const descriptionRows = 14
	p.descriptionBelow = p.card != nil && w >= 100 && h >= len(p.all)+descriptionRows
	return p.descriptionBelow
}
