package ui

import (
	"cmp"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// HelpRow is a row of the help: a key, a symbol or another name, and its description. A row without a description is
// the heading of a section.
type HelpRow struct {
	Name look.Span
	Text string
}

// keyRow returns the row of a binding in the help.
func (s *Shell) keyRow(b *room.Binding, text string) HelpRow {
	return HelpRow{look.Key.Span(s.theme.KeyLabel(b.Label)), text}
}

// heading returns the heading of a section of the help.
func heading(title string) HelpRow { return HelpRow{Name: look.Title.Span(title)} }

// helpTitle is the title of the help.
const helpTitle = "Help"

// showsHelp reports whether the help is open.
func (s *Shell) showsHelp() bool {
	box, ok := s.overlay.(*room.TextBox)
	return ok && box.Title == helpTitle
}

// help returns the help for the command line or the overlay that is open, or else for the open page. Closing it
// opens line or overlay again.
func (s *Shell) help() room.Overlay {
	commands := func() room.Request { return room.Request{Closes: true, Edit: " "} }
	box := &room.TextBox{Title: helpTitle, MaxWidth: 110, Keys: []room.Binding{room.Bind("/", "list all commands", commands).InFooter("all commands")}}
	rows := s.pageHelp
	if keys := s.modalKeys(); keys != nil {
		rows = func() (rows []HelpRow) {
			for _, b := range keys {
				rows = append(rows, s.keyRow(&b, cmp.Or(b.Help, b.Brief)))
			}
			return rows
		}
		box.OnClose.Overlay = s.overlay
		if s.overlay == nil { // the command line
			box.OnClose.Edit = cmp.Or(s.line.Text(), " ")
			s.line.Open = false
		}
	}
	list := rows()
	box.Text = func(w int) [][]look.Span { return helpLines(list, w) }
	return box
}

// pageHelp returns the help for the open page.
func (s *Shell) pageHelp() []HelpRow {
	here, everywhere := s.helpKeys()
	return slices.Concat([]HelpRow{heading("Page " + s.page().Name)}, here, []HelpRow{heading("Everywhere")}, everywhere, []HelpRow{
		{look.Key.Span("click"), "select; in the footer, press the key"},
		{look.Key.Span("wheel"), "over charts: time range; else move, change"},
	}, s.screen.Help())
}

// helpKeys returns the keys with a meaning of their own on the open page, and those that have the same meaning on all
// pages. Both lack the keys that have no effect on the page.
func (s *Shell) helpKeys() (here, everywhere []HelpRow) {
	if s.tour != nil {
		for _, b := range s.tour.Keys() {
			here = append(here, s.keyRow(&b, b.Help))
		}
	}
	page := s.page()
	for _, b := range page.Bindings() {
		here = append(here, s.keyRow(&b, b.Help))
	}
	for _, b := range s.commonKeys() {
		key := b.Keys()[0]
		switch text := page.KeyHelp(key); {
		case b.Help == "", isIdle(b), hasBinding(page, key):
		case text != "":
			here = append(here, s.keyRow(&b, text))
		default:
			everywhere = append(everywhere, s.keyRow(&b, b.Help))
		}
	}
	return here, everywhere
}

// helpLines returns the help in lines of w columns, with an empty line above each heading. The texts of a section begin
// in the same column.
func helpLines(rows []HelpRow, w int) (lines [][]look.Span) {
	isHeading := func(row HelpRow) bool { return row.Text == "" }
	for len(rows) > 0 {
		if isHeading(rows[0]) {
			if len(lines) > 0 {
				lines = append(lines, nil)
			}
			lines = append(lines, []look.Span{rows[0].Name})
			rows = rows[1:]
		}
		end := slices.IndexFunc(rows, isHeading)
		if end < 0 {
			end = len(rows)
		}
		lines = append(lines, sectionLines(rows[:end], w)...)
		rows = rows[end:]
	}
	return lines
}

// sectionLines returns the rows of a section of the help in lines of w columns.
func sectionLines(rows []HelpRow, w int) (lines [][]look.Span) {
	const indent, gap = 1, 2
	names := 0 // width of the longest name
	for _, row := range rows {
		names = max(names, look.TextWidth(row.Name.Text))
	}
	for _, row := range rows {
		name := row.Name.Style.Span(strings.Repeat(" ", indent) + look.PadRight(row.Name.Text, names+gap))
		for _, text := range look.Wrap(row.Text, w-indent-names-gap) {
			lines = append(lines, []look.Span{name, look.Plain.Span(text)})
			name = look.Plain.Span(strings.Repeat(" ", indent+names+gap))
		}
	}
	return lines
}
