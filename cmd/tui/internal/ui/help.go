package ui

import (
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/tour"

	tea "github.com/charmbracelet/bubbletea"
)

// helpBox is the overlay that lists all keys of the page and all commands: first those of the
// open page, then all. It is generated from the key bindings and the commands.
type helpBox struct {
	lines       [][]look.Span
	width       int // largest width of a line in columns
	first       int // first visible row
	visibleRows int // number of rows of the last drawing
	columnRows  int // number of rows of the longest column of the list

	search helpSearch
}

// newHelp returns the help for a page on a screen of w columns. here is the name of the page. The
// help lists the keys of the tour, if open, the keys with their meaning on the page, the general
// keys of the footer in one paragraph, all keys by group, and the sections of parts.
func newHelp(here string, keys []helpKey, parts []HelpPart, w int) *helpBox {
	h := &helpBox{width: min(w-room.OverlayMargin-helpEdges, maxHelpWidth)}
	afterTour := slices.IndexFunc(keys, func(k helpKey) bool { return k.group != tour.Group })
	for _, k := range keys[:afterTour] {
		if len(h.lines) == 0 {
			h.addTitle(k.group)
		}
		h.addKey(k.label, k.help)
	}
	if afterTour < len(keys) {
		h.addTitle("Here: " + here)
	}
	var general []look.Span // keys without a meaning of their own on this page
	for _, k := range keys[afterTour:] {
		switch {
		case k.pageHelp != "":
			h.addKey(k.label, k.pageHelp)
		case k.brief != "":
			unbroken := func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") }
			general = append(general, look.Key.Span(unbroken(k.label)), look.Dim.Span(unbroken(" "+k.brief)+"   "))
		}
	}
	for _, line := range look.Flow(general, h.width-5) {
		h.lines = append(h.lines, append([]look.Span{look.Plain.Span("  ")}, line...))
	}
	group := ""
	for _, k := range keys[afterTour:] {
		if k.help == "" {
			continue
		}
		if k.group != group {
			h.addTitle(k.group)
			group = k.group
		}
		h.addKey(k.label, k.help)
	}
	for _, p := range parts {
		h.addTitle(p.Title)
		for _, e := range p.Entries {
			h.addEntry(p.Ink, e.Text, e.Head...)
		}
	}
	return h
}

// HelpPart is a section of the help.
type HelpPart struct {
	Title   string
	Ink     look.Ink // of the texts
	Entries []HelpEntry
}

// HelpEntry describes a key, a symbol or a command; Head is its name.
type HelpEntry struct {
	Head []look.Span
	Text string
}

// commandHelp returns the help of the commands.
func commandHelp(d command.Context) HelpPart {
	part := HelpPart{Title: "Commands, after /", Ink: look.Dim}
	for _, v := range command.Verbs(d) {
		name := look.PadRight(strings.TrimSpace(v.Name+" "+v.Args)+" ", 24)
		part.Entries = append(part.Entries, HelpEntry{[]look.Span{look.Key.Span("  " + name)}, v.Help})
	}
	return part
}

// addKey adds a line that describes keys.
func (h *helpBox) addKey(label, text string) {
	h.addEntry(look.Plain, text, look.Key.Span("  "+look.PadRight(label+" ", 14)))
}

// maxHelpWidth is the largest width of a line, so that two columns fit on a wide screen.
const maxHelpWidth = 74

// addEntry adds the description of a key, a symbol or a command, in as many lines as it needs.
func (h *helpBox) addEntry(style look.Ink, text string, head ...look.Span) {
	const minText, indent = 24, 18
	headWidth := look.SpansWidth(head)
	if h.width-headWidth < minText { // the head is long: the text starts on the next line
		h.lines = append(h.lines, head)
		headWidth, head = indent, []look.Span{look.Plain.Span(strings.Repeat(" ", indent))}
	}
	for _, line := range look.Wrap(text, max(h.width-headWidth, 1)) {
		h.lines = append(h.lines, append(head[:len(head):len(head)], style.Span(line)))
		head = []look.Span{look.Plain.Span(strings.Repeat(" ", headWidth))}
	}
}

// addTitle adds the title of a section, after an empty line.
func (h *helpBox) addTitle(s string) {
	if len(h.lines) > 0 {
		h.lines = append(h.lines, nil)
	}
	h.lines = append(h.lines, []look.Span{look.Title.Span(s)})
}

// scroll scrolls the text down by n rows, or up if n is negative.
func (h *helpBox) scroll(n int) {
	h.first = min(max(h.first+n, 0), max(h.columnRows-h.visibleRows, 0))
}

// Key implements room.Overlay: it scrolls, searches, or closes the help.
func (h *helpBox) Key(msg tea.KeyMsg) room.Request {
	if line, ok := h.search.key(msg, h.lines); ok {
		if line >= 0 && h.columnRows > 0 {
			h.scroll(line%h.columnRows - h.visibleRows/2 - h.first) // to the row of the line within its column
		}
		return room.Request{}
	}
	n := room.ReadStep(msg)
	if n != 0 {
		h.scroll(n)
	}
	return room.Request{Closes: n == 0}
}

// helpGap is the number of blanks between two columns of the list. helpEdges is the width of both
// borders of the box with their margins.
const helpGap, helpEdges = 3, 4

// columns splits the list into columns and returns their widths and the number of rows. It makes
// as many columns as are needed to show all lines in room rows, or fewer if they do not fit in w
// columns.
func (h *helpBox) columns(w, room int) (widths []int, rows int) {
	maxColumns := (len(h.lines) + max(room, 1) - 1) / max(room, 1)
	for n := maxColumns; ; n-- {
		rows = (len(h.lines) + max(n, 1) - 1) / max(n, 1)
		widths = widths[:0]
		total := helpEdges - helpGap // no gap after the last column
		for from := 0; from < len(h.lines); from += rows {
			width := 0
			for _, line := range h.lines[from:min(from+rows, len(h.lines))] {
				width = max(width, look.SpansWidth(line))
			}
			widths = append(widths, width+helpGap)
			total += width + helpGap
		}
		if total <= w || n <= 1 {
			return widths, rows
		}
	}
}

// Size implements room.Overlay.
func (h *helpBox) Size(w, hh int) (ow, oh int, right bool) {
	widths, rows := h.columns(w, hh-2)
	total := helpEdges - helpGap
	for _, n := range widths {
		total += n
	}
	return min(w, total), min(hh, rows+2), false
}

// Draw implements room.Overlay.
func (h *helpBox) Draw(c *look.Canvas, th *look.Theme) {
	h.visibleRows = c.H - 2
	widths, rows := h.columns(c.W, h.visibleRows)
	h.columnRows = rows
	first := min(h.first, max(rows-h.visibleRows, 0))
	found := h.search.matches(h.lines)
	c.Frame(th, true, "Help", h.hint(th, first, look.HeadRoom(c.W, "Help"))...)
	x := 2
	for i, width := range widths {
		for y := first; y < min(rows, first+h.visibleRows) && i*rows+y < len(h.lines); y++ {
			c.Spans(x, 1+y-first, min(width-1, c.W-2-x), h.lines[i*rows+y]...)
			if slices.Contains(found, i*rows+y) {
				c.Text(x-1, 1+y-first, look.Chosen, th.Chosen)
			}
		}
		x += width
	}
}

// hint returns the help for the keys in w columns, with the scroll position if not all lines are
// visible.
func (h *helpBox) hint(th *look.Theme, first, w int) []look.Span {
	if text := h.search.status(h.lines); text != "" {
		return look.Fit(w, []look.Span{look.Plain.Span(text), look.Dim.Span("  n next, N previous, esc ends the search")}, []look.Span{look.Plain.Span(text)})
	}
	if h.columnRows <= h.visibleRows {
		return look.Fit(w, []look.Span{look.Dim.Span("/ searches, any other key closes")}, []look.Span{look.Dim.Span("any key closes")})
	}
	last := min(first+h.visibleRows, h.columnRows)
	more := ""
	if first > 0 {
		more = " " + th.Up
	}
	if last < h.columnRows {
		more += " " + th.Down
	}
	position := look.Plain.Span(strconv.Itoa(last) + "/" + strconv.Itoa(h.columnRows) + more)
	return look.Fit(w, []look.Span{position, look.Dim.Span("  arrows scroll, / searches, any other key closes")},
		[]look.Span{position, look.Dim.Span("  arrows scroll")}, []look.Span{position})
}
