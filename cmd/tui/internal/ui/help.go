package ui

import (
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// helpBox is the overlay with the help: one list of keys and commands, which it takes from the key bindings and the
// command table. First come the keys with a meaning of their own in the present place, then all others, then
// further sections; each key is listed once. "/" filters the list.
type helpBox struct {
	sections    []helpSection
	width       int // largest width of a line in columns
	first       int // first visible line
	visibleRows int // lines that the last drawing showed
	numLines    int // lines of the list that the last drawing had

	typing bool            // whether the filter is being typed
	filter controls.Editor // words that an entry must contain; "" for all entries
	back   room.Request    // opens again what the help was opened from
}

// helpSection is a heading with the entries below it.
type helpSection struct {
	title   string
	entries []helpEntry
}

// helpEntry is the description of a key, a symbol or a command, in one or more lines.
type helpEntry struct {
	lines [][]look.Span
	text  string // the whole text in lower case, for the filter
}

// newHelp returns the help on a screen of w columns. It lists keys: under the heading here, those with a meaning of
// their own on the page, then all others. The sections of parts follow.
func newHelp(here string, keys []helpKey, parts []HelpPart, w int) *helpBox {
	h := &helpBox{width: min(w-room.OverlayMargin-helpEdges, maxHelpWidth)}
	for _, k := range keys {
		if k.pageHelp != "" {
			h.addKey(here, k.label, k.pageHelp)
		}
	}
	for _, k := range keys {
		if k.pageHelp == "" {
			h.addKey("Everywhere", k.label, k.help)
		}
	}
	for _, p := range parts {
		for _, e := range p.Entries {
			h.addEntry(p.Title, p.Style, e.Text, e.Head...)
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

func commandHelp(d command.Context) HelpPart {
	part := HelpPart{Title: "Commands, after /", Style: look.Dim}
	const nameColumns = 24
	for _, v := range command.Verbs(d) {
		name := look.PadRight(strings.TrimSpace(v.Name+" "+v.Args)+" ", nameColumns)
		part.Entries = append(part.Entries, HelpEntry{[]look.Span{look.Key.Span("  " + name)}, v.Help})
	}
	return part
}

func mouseHelp() HelpPart {
	entry := func(name, text string) HelpEntry {
		const nameColumns = 14
		return HelpEntry{[]look.Span{look.Key.Span("  " + look.PadRight(name, nameColumns))}, text}
	}
	return HelpPart{Title: "Mouse", Style: look.Plain, Entries: []HelpEntry{
		entry("click", "select a page, a pane, or what is under the pointer; an entry of the footer: press its key"),
		entry("wheel", "over charts: shorter or longer time range; over a list: previous, next; over a control: increase, decrease its value")}}
}

// addKey adds the description of keys to a section: their names, label, and text to the right of it.
func (h *helpBox) addKey(section, label, text string) {
	const labelColumns = 14
	h.addEntry(section, look.Plain, text, look.Key.Span("  "+look.PadRight(label+" ", labelColumns)))
}

// maxHelpWidth is the largest width of a line. helpEdges is the width of both borders of the box with their margins.
const maxHelpWidth, helpEdges = 110, 4

// addEntry adds the description of a key, a symbol or a command to the last section, or to a new one if that has
// another title: head, its name, and text to the right of it, in as many lines as it needs.
func (h *helpBox) addEntry(section string, style look.Style, text string, head ...look.Span) {
	if n := len(h.sections); n == 0 || h.sections[n-1].title != section {
		h.sections = append(h.sections, helpSection{title: section})
	}
	to := &h.sections[len(h.sections)-1]
	entry := helpEntry{text: strings.ToLower(section + " " + look.SpansText(head) + " " + text)}
	const minTextWidth, indent = 24, 18 // columns; indent is that of a text below its head
	headWidth := look.SpansWidth(head)
	if h.width-headWidth < minTextWidth { // the head is long: the text starts on the next line
		entry.lines = append(entry.lines, head)
		headWidth, head = indent, []look.Span{look.Plain.Span(strings.Repeat(" ", indent))}
	}
	for _, line := range look.Wrap(text, max(h.width-headWidth, 1)) {
		entry.lines = append(entry.lines, append(head[:len(head):len(head)], style.Span(line)))
		head = []look.Span{look.Plain.Span(strings.Repeat(" ", headWidth))}
	}
	to.entries = append(to.entries, entry)
}

// lines returns the lines of the entries that contain all words of the filter, below the titles of their sections.
func (h *helpBox) lines() (lines [][]look.Span) {
	words := strings.Fields(strings.ToLower(h.filter.String()))
	for _, section := range h.sections {
		hasTitle := false
		for _, e := range section.entries {
			if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(e.text, w) }) {
				continue
			}
			if !hasTitle {
				hasTitle = true
				if len(lines) > 0 {
					lines = append(lines, nil)
				}
				lines = append(lines, []look.Span{look.Title.Span(section.title)})
			}
			lines = append(lines, e.lines...)
		}
	}
	return lines
}

// scroll scrolls the text down by n lines, or up if n is negative.
func (h *helpBox) scroll(n int) {
	h.first = min(max(h.first+n, 0), max(h.numLines-h.visibleRows, 0))
}

// Key implements room.Overlay: it edits the filter, or scrolls. Any other key closes the help.
func (h *helpBox) Key(msg tea.KeyMsg) room.Request {
	filtered := h.filter.String() != ""
	step := room.ReadStep(msg) // 0 if the key does not scroll
	switch {
	case msg.Type == tea.KeyEsc && (h.typing || filtered),
		msg.Type == tea.KeyBackspace && h.typing && !filtered: // backspace deletes the "/"
		h.typing, h.first = false, 0
		h.filter.Set("")
	case h.typing && msg.Type == tea.KeyEnter:
		h.typing = false
	case h.typing && room.ListStep(msg) == 0:
		h.filter.Key(msg)
		h.first = 0
	case step != 0:
		h.scroll(step)
	case msg.String() == "/":
		h.typing = true
	default:
		r := h.back
		r.Closes = true
		return r
	}
	return room.Request{}
}

// Bindings returns the keys of the help, for the footer.
func (h *helpBox) Bindings() []room.Binding {
	if h.typing || h.filter.String() != "" {
		return []room.Binding{room.OverlayKey("↑↓", "scroll", ""), room.OverlayKey("esc", "show all", "")}
	}
	return []room.Binding{room.OverlayKey("↑↓", "scroll", ""), room.OverlayKey("/", "filter", ""), room.OverlayKey("esc", "close", "")}
}

// frameRows is the number of rows of the upper and the lower edge of the help.
const frameRows = 2

// Size implements room.Overlay: the help takes the space of its lines, in the middle of the screen.
func (h *helpBox) Size(maxWidth, maxHeight int) (width, height int, right bool) {
	lines := 0
	for _, section := range h.sections {
		lines += 2 // title, and an empty line before it
		for _, e := range section.entries {
			lines += len(e.lines)
		}
	}
	return min(maxWidth, h.width+helpEdges), min(maxHeight, lines-1+frameRows), false
}

// Draw implements room.Overlay. It stores the sizes by which Key scrolls.
func (h *helpBox) Draw(c *look.Canvas, th *look.Theme) {
	lines := h.lines()
	h.visibleRows, h.numLines = c.H-frameRows, len(lines)
	h.scroll(0)
	const focused = true
	c.Frame(th, focused, "Help", h.hint(th, look.TitleSpace(c.W, "Help"))...)
	for row := range min(h.visibleRows, len(lines)-h.first) {
		c.Spans(2, 1+row, c.W-helpEdges, lines[h.first+row]...)
	}
	if len(lines) == 0 {
		c.Text(2, 1, look.Dim, "no entry contains this")
	}
}

// hint returns the filter and, if not all lines are visible, the scroll position, in w columns.
func (h *helpBox) hint(th *look.Theme, w int) (spans []look.Span) {
	if filter := h.filter.String(); h.typing || filter != "" {
		if h.typing {
			filter += "_"
		}
		spans = []look.Span{look.Plain.Span("/" + filter + " ")}
	}
	if h.numLines <= h.visibleRows {
		return look.Fit(w, spans)
	}
	last := min(h.first+h.visibleRows, h.numLines)
	more := ""
	if h.first > 0 {
		more = " " + th.Up
	}
	if last < h.numLines {
		more += " " + th.Down
	}
	spans = append(spans, look.Plain.Span(strconv.Itoa(last)+"/"+strconv.Itoa(h.numLines)+more))
	return look.Fit(w, append(spans, look.Dim.Span("  / filters")), spans)
}
