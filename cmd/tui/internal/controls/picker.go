package controls

import (
	"fmt"
	"slices"
	"strings"

	"wirelab/experiment/config"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/setting"

	tea "github.com/charmbracelet/bubbletea"
)

// picker is a list to choose one name from. Typing filters the list.
type picker struct {
	title            string
	command          string // the command that sets the chosen name
	all              []setting.Option
	current          string // the name that is set
	needsParams      bool   // choosing a name opens a line to type its parameters
	filter           string
	cursor           int
	descriptionBelow bool // whether the description of a name is below the list, not to its right

	shadows []string     // the encoders of the shadows; nil if this is not a list of encoders
	card    *encoderCard // describes the encoder under the cursor; nil if this is not a list of encoders
	preview *preview     // describes the name under the cursor; nil for none
}

// preview draws a description of the selected name.
type preview struct {
	lines func(name string, w int, ascii bool) []string // returns lines of at most w columns
	cache map[string][]string                           // by name, width and character set, because lines is slow
}

// draw draws the preview of a name in w columns and h rows.
func (p *preview) draw(c *look.Canvas, th *look.Theme, x, y, w, h int, name string) {
	key := fmt.Sprint(name, " ", w, th.Ascii)
	lines, ok := p.cache[key]
	if !ok {
		if p.cache == nil {
			p.cache = map[string][]string{}
		}
		lines = p.lines(name, w, th.Ascii)
		p.cache[key] = lines
	}
	for i, line := range lines[:min(len(lines), h)] {
		c.Clip(x, y+i, w, look.Plain, line)
	}
}

// minPreviewWidth is the smallest width of a legible preview.
const minPreviewWidth = 40

// NewPicker returns a list of names for a command; now is the name that is set.
func NewPicker(title, word string, list []setting.Option, now string) *picker {
	p := &picker{title: title, command: word, all: list, current: now}
	p.cursor = max(slices.IndexFunc(list, func(c setting.Option) bool { return c.Name == now }), 0)
	return p
}

// matches returns the options that match the filter.
func (p *picker) matches() []setting.Option {
	if p.filter == "" {
		return p.all
	}
	var out []setting.Option
	for _, c := range p.all {
		if strings.Contains(strings.ToLower(c.Name+" "+c.Summary), p.filter) {
			out = append(out, c)
		}
	}
	return out
}

// move moves the cursor by n.
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

// Size implements room.Overlay.
func (p *picker) Size(w, h int) (ow, oh int, right bool) {
	switch {
	case p.layoutRight(w, h):
		const edges = 4 // the overlay area is this much narrower than the screen
		return room.RightColumn(w + edges), min(h, len(p.all)+maxDescriptionRows), true
	case p.preview != nil || p.card != nil:
		return min(w, 104), min(h, 40), false
	}
	return min(w, 96), min(h, len(p.all)+4), false
}

// Key handles a key, first in the card.
func (p *picker) Key(msg tea.KeyMsg) room.Request {
	if p.card != nil {
		if r, ok := p.handleCardKey(msg); ok {
			return r
		}
	}
	filter := []rune(p.filter)
	switch n := room.ListStep(msg); {
	case n != 0:
		p.move(n)
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

// shadowKey returns the key that adds the encoder as a shadow: "v" unless a filter is typed that
// "v" could continue, else "ctrl+v".
func (p *picker) shadowKey() string {
	longer := *p
	longer.filter += "v"
	if p.filter == "" || len(longer.matches()) == 0 {
		return "v"
	}
	return "ctrl+v"
}

// accept closes the list and chooses the name under the cursor.
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

// toggleShadow adds the encoder under the cursor as a shadow, or removes it if it is one.
func (p *picker) toggleShadow() room.Request {
	name, ok := p.selected()
	if !ok {
		return room.Request{}
	}
	word := "shadow "
	if slices.Contains(p.shadows, name) {
		word += "off "
	}
	return room.Request{Line: word + name, Accepted: func(cfg *config.Config) { p.shadows = append([]string{}, ShadowNames(cfg)...) }}
}

// Draw implements room.Overlay. The columns of a row are: 2 cursor, 3 symbol of the shadow, 4
// marker of the current value, 6 name and summary.
func (p *picker) Draw(c *look.Canvas, th *look.Theme) {
	c.Frame(th, true, p.title, p.hint(look.HeadRoom(c.W, p.title))...)
	nameWidth := 0
	for _, option := range p.all {
		nameWidth = max(nameWidth, look.TextWidth(option.Name))
	}
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
			c.Set(4, 2+y, look.Good, th.Outcome[1])
		}
		if i := slices.Index(p.shadows, option.Name); i >= 0 {
			c.Set(3, 2+y, look.ShadowInk(i), look.ShadowSign(th, i))
		}
		c.Clip(6, 2+y, nameWidth, style, option.Name)
		if p.preview == nil && (p.card == nil || p.descriptionBelow) {
			c.Clip(6+nameWidth+2, 2+y, c.W-10-nameWidth, look.Dim, option.Summary)
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
	case !ok:
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

// hint returns the help for the keys, in the longest form that fits in room columns.
func (p *picker) hint(room int) []look.Span {
	words := []string{"type to filter, enter selects, esc closes", "enter selects, esc closes"}
	switch {
	case p.filter != "" && p.shadows != nil:
		words = []string{"filter " + p.filter + ": space tries, " + p.shadowKey() + " shadow, tab params", p.filter + ": space tries, " +
			p.shadowKey() + " shadow", p.filter}
	case p.filter != "":
		words = []string{"filter " + p.filter, p.filter}
	case p.shadows != nil:
		words = []string{"enter selects, space tries, v shadow, tab params, esc", "space tries, v shadow, tab params", "v shadow, tab params"}
	}
	options := make([][]look.Span, len(words))
	for i, text := range words {
		options[i] = []look.Span{look.Dim.Span(text)}
	}
	return look.Fit(room, options...)
}

// maxDescriptionRows is the largest number of rows of the description below the list.
const maxDescriptionRows = 22

// drawRule draws the line between the list and the description of the selected name.
func (p *picker) drawRule(c *look.Canvas, th *look.Theme, x int) {
	for y := 1; y < c.H-1; y++ {
		c.Text(x, y, look.Border, th.Border.Left)
	}
}

// layoutRight reports whether the list is placed at the right of the screen, so that the charts
// stay visible, and sets descriptionBelow. It is if the screen of w columns and h rows has room
// for the description below the list.
func (p *picker) layoutRight(w, h int) bool {
	const descriptionRows = 14
	p.descriptionBelow = p.card != nil && w >= 100 && h >= len(p.all)+descriptionRows
	return p.descriptionBelow
}
