package ui

import (
	"cmp"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// HelpRow is a row of the help: a key, a symbol or another name, and its description. A row without a description is
// the heading of a section.
type HelpRow struct {
	Name look.Span
	Text string
}

// keyRow returns the row of a binding in the help.
func keyRow(b *room.Binding, text string) HelpRow { return HelpRow{look.Key.Span(b.Label), text} }

// heading returns the heading of a section of the help.
func heading(title string) HelpRow { return HelpRow{Name: look.Title.Span(title)} }

// help returns the help for the command line or the overlay that is open, or else for the open page. Closing it
// opens line or overlay again.
func (s *Shell) help() room.Overlay {
	box := &helpBox{}
	if keys := s.modalKeys(); keys != nil {
		for _, b := range keys {
			box.rows = append(box.rows, keyRow(&b, cmp.Or(b.Help, b.Brief)))
		}
		box.back.Overlay = s.overlay
		if s.overlay == nil { // the command line
			box.back.Edit = cmp.Or(s.line.Text(), " ")
			s.line.Open = false
		}
		return box
	}
	here, everywhere := s.helpKeys()
	box.rows = append([]HelpRow{heading("Page " + s.page().Name)}, here...)
	box.rows = append(append(box.rows, heading("Everywhere")), everywhere...)
	box.rows = append(box.rows,
		HelpRow{look.Key.Span("click"), "select a page, a pane or what is under the pointer; in the footer, press the key"},
		HelpRow{look.Key.Span("wheel"), "over charts: time range; over a list: previous, next; over a control: change its value"})
	box.rows = append(box.rows, s.screen.Help()...)
	return box
}

// helpKeys returns the keys with a meaning of their own on the open page, and those that have the same meaning on all
// pages. Both lack the keys that have no effect on the page.
func (s *Shell) helpKeys() (here, everywhere []HelpRow) {
	if s.tour != nil {
		for _, b := range s.tour.Keys() {
			here = append(here, keyRow(&b, b.Help))
		}
	}
	page := s.page()
	for _, b := range page.Bindings() {
		here = append(here, keyRow(&b, b.Help))
	}
	for _, b := range s.commonKeys() {
		key := b.Keys()[0]
		switch text := page.KeyHelp(key); {
		case b.Help == "", isIdle(b), hasBinding(page, key):
		case text != "":
			here = append(here, keyRow(&b, text))
		default:
			everywhere = append(everywhere, keyRow(&b, b.Help))
		}
	}
	return here, everywhere
}

// helpBox is the overlay with the help. The arrow keys scroll it; other keys close it.
type helpBox struct {
	rows   []HelpRow
	scroll int          // index of the first visible line
	back   room.Request // opens again what the help was opened from
}

// maxHelpWidth is the largest width of the help. helpNameWidth is that of the column with names.
const maxHelpWidth, helpNameWidth = 110, 16

// lines returns the help in lines of w columns, with an empty line above each heading.
func (b *helpBox) lines(w int) (lines [][]look.Span) {
	for i, row := range b.rows {
		if row.Text == "" {
			if i > 0 {
				lines = append(lines, nil)
			}
			lines = append(lines, []look.Span{row.Name})
			continue
		}
		name := row.Name.Style.Span("  " + look.PadRight(row.Name.Text, helpNameWidth))
		for _, text := range look.Wrap(row.Text, w-helpNameWidth-2) {
			lines = append(lines, []look.Span{name, look.Plain.Span(text)})
			name = look.Plain.Span(strings.Repeat(" ", helpNameWidth+2))
		}
	}
	return lines
}

// Size implements room.Overlay: the help takes the space of its lines, in the middle of the screen.
func (b *helpBox) Size(maxWidth, maxHeight int) (width, height int, right bool) {
	width = min(maxWidth, maxHelpWidth)
	return width, min(maxHeight, len(b.lines(width-4))+2), false
}

// Draw implements room.Overlay.
func (b *helpBox) Draw(c *look.Canvas, th *look.Theme) {
	c.Frame(th, look.Focused, "Help")
	lines, rows := b.lines(c.W-4), c.H-2
	b.scroll = max(min(b.scroll, len(lines)-rows), 0)
	for i, line := range lines[b.scroll:min(b.scroll+rows, len(lines))] {
		c.Spans(2, 1+i, c.W-4, line...)
	}
	c.MoreBelow(th, max(len(lines)-b.scroll-rows, 0))
}

// Key implements room.Overlay. Draw limits the scrolling.
func (b *helpBox) Key(msg tea.KeyMsg) room.Request {
	step := room.ReadStep(msg)
	b.scroll = max(b.scroll+step, 0)
	if step != 0 {
		return room.Request{}
	}
	r := b.back
	r.Closes = true
	if msg.String() == "/" {
		r = room.Request{Closes: true, Edit: " "}
	}
	return r
}

// Bindings returns the keys of the help, for the footer.
func (b *helpBox) Bindings() []room.Binding {
	return []room.Binding{room.OverlayKey("↑↓", "scroll", ""), room.OverlayKey("/", "all commands", ""), room.OverlayKey("esc", "close", "")}
}
