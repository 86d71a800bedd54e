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

// helpBox is the overlay with the help. It lists the keys of the open page, then all keys, then
// all commands, which it takes from the key bindings and the command table. The list is divided
// into columns of equal height, which scroll together.
type helpBox struct {
	lines       [][]look.Span
	width       int // largest width of a line in columns
	first       int // first visible row of the columns
	visibleRows int // rows of a column that the last drawing showed
	columnRows  int // number of rows of the longest column of the list

	search helpSearch
}

// newHelp returns the help for the page called pageName on a screen of w columns. The help lists
// the keys of the tour, if open, which are the first of keys; the keys with their meaning on the
// page; the other keys of the footer in one paragraph; all keys by group; and the sections of
// parts.
func newHelp(pageName string, keys []helpKey, parts []HelpPart, w int) *helpBox {
	h := &helpBox{width: min(w-room.OverlayMargin-helpEdges, maxHelpWidth)}
	afterTour := slices.IndexFunc(keys, func(k helpKey) bool { return k.group != tour.Group })
	for _, k := range keys[:afterTour] {
		if len(h.lines) == 0 {
			h.addTitle(k.group)
		}
		h.addKey(k.label, k.help)
	}
	if afterTour < len(keys) {
		h.addTitle("Here: " + pageName)
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
	const margins = 5 // columns: an indent of 2, and 3 at the right
	for _, line := range look.WrapSpans(general, h.width-margins) {
		h.lines = append(h.lines, append([]look.Span{look.Plain.Span("  ")}, line...))
	}
	group := ""
	for _, k := range keys[afterTour:] {
		if k.help == "" { // this key exists on the open page only, and is listed above
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
			h.addEntry(p.Style, e.Text, e.Head...)
		}
	}
	return h
}

// HelpPart is a section of the help.
type HelpPart struct {
	Title   string
	Style   look.Style // style of the texts of the entries
	Entries []HelpEntry
}

// HelpEntry describes a key, a symbol or a command; Head is its name.
type HelpEntry struct {
	Head []look.Span
	Text string // the description
}

// commandHelp returns the help of the commands.
func commandHelp(d command.Context) HelpPart {
	part := HelpPart{Title: "Commands, after /", Style: look.Dim}
	const nameColumns = 24
	for _, v := range command.Verbs(d) {
		name := look.PadRight(strings.TrimSpace(v.Name+" "+v.Args)+" ", nameColumns)
		part.Entries = append(part.Entries, HelpEntry{[]look.Span{look.Key.Span("  " + name)}, v.Help})
	}
	return part
}

// addKey adds the description of keys: their names, label, and text to the right of it.
func (h *helpBox) addKey(label, text string) {
	const labelColumns = 14
	h.addEntry(look.Plain, text, look.Key.Span("  "+look.PadRight(label+" ", labelColumns)))
}

// maxHelpWidth is the largest width of a line, so that two columns fit on a wide screen.
const maxHelpWidth = 74

// addEntry adds the description of a key, a symbol or a command: head, its name, and text to the
// right of it, in as many lines as it needs.
func (h *helpBox) addEntry(style look.Style, text string, head ...look.Span) {
	const minTextWidth, indent = 24, 18 // columns; indent is that of a text below its head
	headWidth := look.SpansWidth(head)
	if h.width-headWidth < minTextWidth { // the head is long: the text starts on the next line
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

// Key implements room.Overlay: it searches or scrolls. Any other key closes the help.
func (h *helpBox) Key(msg tea.KeyMsg) room.Request {
	if line, ok := h.search.key(msg, h.lines); ok {
		if line >= 0 && h.columnRows > 0 { // a match, and the help was drawn
			rowInColumn := line % h.columnRows
			h.scroll(rowInColumn - h.visibleRows/2 - h.first) // puts the match in the middle of the help
		}
		return room.Request{}
	}
	step := room.ReadStep(msg) // 0 if the key does not scroll
	if step != 0 {
		h.scroll(step)
	}
	return room.Request{Closes: step == 0}
}

// helpGap is the number of blanks between two columns of the list. helpEdges is the width of both
// borders of the box with their margins.
const helpGap, helpEdges = 3, 4

// columns splits the list into columns. It returns the width of each, with the gap after it, and
// the number of rows of the longest. It makes as many columns as are needed to show all lines in
// maxRows rows, or fewer if they do not fit in a box that is w columns of the screen wide.
func (h *helpBox) columns(w, maxRows int) (widths []int, rows int) {
	divideUp := func(a, b int) int { return (a + b - 1) / b }
	for n := divideUp(len(h.lines), max(maxRows, 1)); ; n-- {
		rows = divideUp(len(h.lines), max(n, 1))
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

// frameRows is the number of rows of the upper and the lower edge of the help.
const frameRows = 2

// Size implements room.Overlay: the help takes the space of its columns, in the middle of the
// screen.
func (h *helpBox) Size(maxWidth, maxHeight int) (width, height int, right bool) {
	widths, rows := h.columns(maxWidth, maxHeight-frameRows)
	total := helpEdges - helpGap // no gap after the last column
	for _, n := range widths {
		total += n
	}
	return min(maxWidth, total), min(maxHeight, rows+frameRows), false
}

// Draw implements room.Overlay. It stores the sizes by which Key scrolls, and marks the lines that
// match the search.
func (h *helpBox) Draw(c *look.Canvas, th *look.Theme) {
	h.visibleRows = c.H - frameRows
	widths, rows := h.columns(c.W, h.visibleRows)
	h.columnRows = rows
	first := min(h.first, max(rows-h.visibleRows, 0))
	found := h.search.matches(h.lines)
	const focused = true
	c.Frame(th, focused, "Help", h.hint(th, first, look.TitleSpace(c.W, "Help"))...)
	x := 2
	for column, width := range widths {
		for row := first; row < min(rows, first+h.visibleRows); row++ {
			line := column*rows + row
			if line >= len(h.lines) { // the last column is shorter
				break
			}
			y := 1 + row - first
			c.Spans(x, y, min(width-1, c.W-2-x), h.lines[line]...)
			if slices.Contains(found, line) {
				c.Text(x-1, y, look.Chosen, th.Chosen)
			}
		}
		x += width
	}
}

// hint returns the help for the keys in w columns: of the search while there is one, otherwise of
// the list, with the scroll position if not all rows are visible. first is the first visible row.
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
