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

// helpBox lists every key of the page and every command: first what is possible here, then
// everything. It derives itself from the key map and from the verbs: a new one appears here
// by itself.
type helpBox struct {
	lines [][]look.Span
	wide  int // columns that a line may take
	first int
	room  int // lines that the last picture had room for
	rows  int // lines of its longest column

	search helpSearch
}

// newHelp makes the list for a page on a screen of w columns.
func newHelp(here string, keys []helpKey, parts []HelpPart, w int) *helpBox {
	h := &helpBox{wide: min(w-room.OverlayMargin-helpEdges, mostHelp)}
	rest := slices.IndexFunc(keys, func(k helpKey) bool { return k.group != tour.Group })
	for _, k := range keys[:rest] {
		if len(h.lines) == 0 {
			h.title(k.group)
		}
		h.key(k.label, k.help)
	}
	if rest < len(keys) {
		h.title("Here: " + here)
	}
	var always []look.Span
	for _, k := range keys[rest:] {
		switch {
		case k.here != "":
			h.key(k.label, k.here)
		case k.brief != "":
			whole := func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") }
			always = append(always, look.Key.Span(whole(k.label)), look.Dim.Span(whole(" "+k.brief)+"   "))
		}
	}
	for _, line := range look.Flow(always, h.wide-5) {
		h.lines = append(h.lines, append([]look.Span{look.Plain.Span("  ")}, line...))
	}
	group := ""
	for _, k := range keys[rest:] {
		if k.help == "" {
			continue
		}
		if k.group != group {
			h.title(k.group)
			group = k.group
		}
		h.key(k.label, k.help)
	}
	for _, p := range parts {
		h.title(p.Title)
		for _, e := range p.Entries {
			h.entry(p.Ink, e.Text, e.Head...)
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

// HelpEntry is something that the help describes; the head names it.
type HelpEntry struct {
	Head []look.Span
	Text string
}

// commandHelp describes the commands.
func commandHelp(d command.Context) HelpPart {
	part := HelpPart{Title: "Commands, after /", Ink: look.Dim}
	for _, v := range command.Verbs(d) {
		name := look.PadRight(strings.TrimSpace(v.Name+" "+v.Args)+" ", 24)
		part.Entries = append(part.Entries, HelpEntry{[]look.Span{look.Key.Span("  " + name)}, v.Help})
	}
	return part
}

// key adds what keys are for.
func (h *helpBox) key(label, text string) {
	h.entry(look.Plain, text, look.Key.Span("  "+look.PadRight(label+" ", 14)))
}

// mostHelp is how wide a line of the list is at most: two fit a wide screen.
const mostHelp = 74

// entry adds what a key, a sign or a command is for, on as many lines as it needs.
func (h *helpBox) entry(k look.Ink, text string, head ...look.Span) {
	const least, indent = 24, 18
	at := look.SpansWidth(head)
	if h.wide-at < least { // what is named is long: its meaning stands below
		h.lines = append(h.lines, head)
		at, head = indent, []look.Span{look.Plain.Span(strings.Repeat(" ", indent))}
	}
	for _, line := range look.Wrap(text, max(h.wide-at, 1)) {
		h.lines = append(h.lines, append(head[:len(head):len(head)], k.Span(line)))
		head = []look.Span{look.Plain.Span(strings.Repeat(" ", at))}
	}
}

func (h *helpBox) title(s string) {
	if len(h.lines) > 0 {
		h.lines = append(h.lines, nil)
	}
	h.lines = append(h.lines, []look.Span{look.Title.Span(s)})
}

// scroll moves the text by n lines.
func (h *helpBox) scroll(n int) {
	h.first = min(max(h.first+n, 0), max(h.rows-h.room, 0))
}

// Key scrolls, searches, or closes the list.
func (h *helpBox) Key(msg tea.KeyMsg) room.Request {
	if line, ok := h.search.key(msg, h.lines); ok {
		if line >= 0 && h.rows > 0 {
			h.scroll(line%h.rows - h.room/2 - h.first)
		}
		return room.Request{}
	}
	n := room.ReadStep(msg)
	if n != 0 {
		h.scroll(n)
	}
	return room.Request{Closes: n == 0}
}

// helpGap parts two columns of the list; helpEdges are the columns of the box that
// are not the list's.
const helpGap, helpEdges = 3, 4

// columns splits the list into columns, each as wide as what it holds: as many as
// it takes to see all of it within w columns and room rows, or as many as fit.
func (h *helpBox) columns(w, room int) (widths []int, rows int) {
	most := (len(h.lines) + max(room, 1) - 1) / max(room, 1)
	for n := most; ; n-- {
		rows = (len(h.lines) + max(n, 1) - 1) / max(n, 1)
		widths = widths[:0]
		sum := helpEdges - helpGap
		for from := 0; from < len(h.lines); from += rows {
			wide := 0
			for _, line := range h.lines[from:min(from+rows, len(h.lines))] {
				wide = max(wide, look.SpansWidth(line))
			}
			widths = append(widths, wide+helpGap)
			sum += wide + helpGap
		}
		if sum <= w || n <= 1 {
			return widths, rows
		}
	}
}

func (h *helpBox) Size(w, hh int) (ow, oh int, right bool) {
	widths, rows := h.columns(w, hh-2)
	sum := helpEdges - helpGap
	for _, n := range widths {
		sum += n
	}
	return min(w, sum), min(hh, rows+2), false
}

func (h *helpBox) Draw(c *look.Canvas, th *look.Theme) {
	h.room = c.H - 2
	widths, rows := h.columns(c.W, h.room)
	h.rows = rows
	first := min(h.first, max(rows-h.room, 0))
	found := h.search.found(h.lines)
	c.Frame(th, true, "Help", h.hint(th, first, look.HeadRoom(c.W, "Help"))...)
	x := 2
	for i, wide := range widths {
		for y := first; y < min(rows, first+h.room) && i*rows+y < len(h.lines); y++ {
			c.Spans(x, 1+y-first, min(wide-1, c.W-2-x), h.lines[i*rows+y]...)
			if slices.Contains(found, i*rows+y) {
				c.Text(x-1, 1+y-first, look.Chosen, th.Chosen)
			}
		}
		x += wide
	}
}

// hint says in w columns what the keys do now and, if not all of it fits, how far down one
// has read and where there is more.
func (h *helpBox) hint(th *look.Theme, first, w int) []look.Span {
	if text := h.search.status(h.lines); text != "" {
		return look.Fit(w, []look.Span{look.Plain.Span(text), look.Dim.Span("  n next, N before, esc ends it")}, []look.Span{look.Plain.Span(text)})
	}
	if h.rows <= h.room {
		return look.Fit(w, []look.Span{look.Dim.Span("/ searches, any other key closes")}, []look.Span{look.Dim.Span("any key closes")})
	}
	last := min(first+h.room, h.rows)
	more := ""
	if first > 0 {
		more = " " + th.Up
	}
	if last < h.rows {
		more += " " + th.Down
	}
	far := look.Plain.Span(strconv.Itoa(last) + "/" + strconv.Itoa(h.rows) + more)
	return look.Fit(w, []look.Span{far, look.Dim.Span("  arrows scroll, / searches, any other key closes")},
		[]look.Span{far, look.Dim.Span("  arrows scroll")}, []look.Span{far})
}
