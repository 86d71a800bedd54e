package ui

import (
	"regexp"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// Header is what a screen shows above the page, and the keys that the footer lists.
type Header struct {
	Title func(w int) []look.Span // the first line, in at most w columns
	// TitleWidth is the width that the title needs. If it does not fit beside the names of the pages, only the open
	// page has its name.
	TitleWidth int
	Badge      look.Span      // the state of the session, at the right edge
	Alarm      string         // if not "", replaces the first line, in red
	Below      [][]look.Span  // further lines below the first
	Keys       []room.Binding // if not nil, replaces the keys of the page in the footer
}

// drawHeader returns the lines above the page: the title at the left, then the pages, and the badge at the right edge,
// then the further lines of h.
func (s *Shell) drawHeader(h *Header) []string {
	c := look.NewCanvas(s.w, 1+len(h.Below))
	// The first arguments of the drawing functions are column, row and, except for TextRight, the
	// largest width. TextRight takes the column at which the text ends.
	for i, line := range h.Below {
		c.Spans(1, 1+i, s.w-1, line...)
	}
	if h.Alarm != "" {
		c.Fill(0, 0, s.w, look.Alarm, ' ')
		c.Clip(1, 0, s.w-2, look.Alarm, h.Alarm)
		return c.Lines(s.theme)
	}
	tabs, start, _ := s.tabs(h)
	c.Spans(1, 0, start-2, h.Title(start-2)...)
	c.Spans(start, 0, s.w, tabs...)
	c.TextRight(s.w, 0, h.Badge.Style, h.Badge.Text)
	return c.Lines(s.theme)
}

// tabs returns the digits and names of the pages for the first line of the header, the column at which they start, and
// whether all have their names. If the title needs the space, only the open page has its name. There are no tabs if there
// is only one page.
func (s *Shell) tabs(h *Header) (tabs []look.Span, start int, named bool) {
	const minBadge = 10 // columns; most badges take less, so that the tabs stay in their place when the badge changes
	end := s.w - max(look.TextWidth(h.Badge.Text), minBadge) - 1
	if len(s.pages) < 2 {
		return nil, s.w - look.TextWidth(h.Badge.Text), true
	}
	longest := 0
	for _, p := range s.pages {
		longest = max(longest, look.TextWidth(p.Name))
	}
	for _, named = range []bool{true, false} {
		tabs = nil
		for i, p := range s.pages {
			text, after := strconv.Itoa(i+1), ""
			if named {
				after = " "
			}
			if named || i == s.open {
				text += " " + p.Name
			}
			if i == s.open { // brackets, because the theme may have no colours
				tabs = append(tabs, look.Focus.Span("["+text+"]"))
			} else {
				tabs = append(tabs, look.Dim.Span(" "+text+after))
			}
		}
		start = end - look.SpansWidth(tabs)
		if !named { // the same place for all pages
			start -= longest - look.TextWidth(s.page().Name)
		}
		if start > h.TitleWidth+1 {
			break
		}
	}
	return tabs, start, named
}

// tabAt returns the index of the page whose name is at column x of the header; -1 if no name is there.
func (s *Shell) tabAt(x int) int {
	h := s.screen.Header(s.w)
	tabs, start, _ := s.tabs(&h)
	for i, tab := range tabs {
		x -= look.TextWidth(tab.Text)
		if x >= start-look.TextWidth(tab.Text) && x < start {
			return i
		}
	}
	return -1
}

// namesAllPages reports whether the header has the names of all pages.
func (s *Shell) namesAllPages() bool {
	h := s.screen.Header(s.w)
	_, _, named := s.tabs(&h)
	return named
}

// footer returns the line with the most important keys. keys and special are the results of
// footerKeys: special is set if keys are not those of the page.
func (s *Shell) footer(keys []room.Binding, special bool) string {
	c := look.NewCanvas(s.w, 1)
	for i, h := range s.hints(keys, special, s.w-2) {
		if i > 0 && s.hintGap() > narrowGap {
			c.Text(h.x-wideGap, 0, look.Faint, " "+s.theme.Dot+" ")
		}
		c.Spans(h.x, 0, s.w-h.x, h.spans()...)
	}
	return c.Lines(s.theme)[0]
}

// clickFooter presses the key of the footer whose entry is at column x, or dismisses the notice that covers the
// footer, except while the command line or an overlay is open.
func (s *Shell) clickFooter(x int) tea.Cmd {
	if s.notice.Visible() && s.modalKeys() == nil {
		s.notice.Dismiss()
		return nil
	}
	keys, special := s.footerKeys(s.screen.Header(s.w).Keys)
	for _, h := range s.hints(keys, special, s.w-2) {
		if x >= h.x && x < h.x+h.width() {
			if press := room.KeyPress(h.keyAt(x - h.x)); len(press.Runes) < 2 { // not a word for several keys
				return s.handleKeys(press)
			}
		}
	}
	return nil
}

// hint is an entry of the footer.
type hint struct {
	label       string // of one or more keys, such as "n N" or "↑↓"
	description string
	rank        hintRank
	x           int // column of the footer; 0 if the entry does not fit
}

// hintRank orders the entries of a footer without enough space for all: those with smaller ranks are shown first.
type hintRank int

const (
	programHint hintRank = iota // help, quitting, commands, panes and pages, and esc
	pinnedHint
	arrowHint
	otherHint
	numHintRanks
)

// The widths of the separator between two entries of the footer: blanks, or a dot between blanks on wide screens.
const narrowGap, wideGap = 2, 3

// hintGap returns the width of the separators. In ASCII the dot would look like a key.
func (s *Shell) hintGap() int {
	const wide = 104
	if s.w < wide || s.theme.Ascii {
		return narrowGap
	}
	return wideGap
}

func (h *hint) width() int { return look.TextWidth(h.label) + 1 + look.TextWidth(h.description) }

// spans returns label and description.
func (h *hint) spans() []look.Span {
	return []look.Span{look.Key.Span(h.label), look.Dim.Span(" " + h.description)}
}

// labelParts matches the parts of a label: arrows, which follow each other, other keys, and blanks between them.
var labelParts = regexp.MustCompile("[←↑↓→]|[^ ←↑↓→]+| +")

// keyAt returns the key that a click on column x of the entry presses: that of the label under the pointer, or
// the first one of the label for a click on the description.
func (h *hint) keyAt(x int) string {
	parts := labelParts.FindAllString(h.label, -1)
	for _, part := range parts {
		x -= look.TextWidth(part)
		if x < 0 && part[0] != ' ' {
			return part
		}
	}
	return parts[0]
}

// hints returns the entries of the footer that fit in w columns from column 1, in the order of keys. If some do not
// fit, hintRank selects those that are shown. Unless special is set, which means that keys are not those of the page,
// the first entry is followed by the arrow keys of the page.
func (s *Shell) hints(keys []room.Binding, special bool, w int) []hint {
	var all []hint
	_, explains := room.Find[room.Reasoner](s.page())
	for _, k := range keys {
		if k.Brief == "" { // the footer does not list this key
			continue
		}
		h := hint{label: k.Label, description: k.Brief, rank: otherHint}
		switch {
		case slices.Contains([]string{"help", "quit", "command", "pane", "page"}, k.Brief), k.Label == "esc":
			h.rank = programHint
		case k.Pinned:
			h.rank = pinnedHint
		case explains && k.Brief == "why":
			h.rank = arrowHint
		}
		all = append(all, h)
		if len(all) == 1 && !special {
			for _, arrow := range s.page().Arrows() { // symbol of the arrow keys, and description
				h := hint{label: arrow[0], description: arrow[1], rank: arrowHint}
				if arrow[0] == "esc" {
					h.rank = pinnedHint
				}
				all = append(all, h)
			}
		}
	}
	for i := range all {
		all[i].label = s.theme.KeyLabel(all[i].label)
	}
	gap := s.hintGap()
	left := w + gap // one gap more, since the last entry has no separator
	for rank := range numHintRanks {
		for i := range all {
			n := all[i].width() + gap
			if all[i].rank == rank && n <= left {
				all[i].x = 1
				left -= n
			}
		}
	}
	all = slices.DeleteFunc(all, func(h hint) bool { return h.x == 0 })
	for i := 1; i < len(all); i++ {
		all[i].x = all[i-1].x + all[i-1].width() + gap
	}
	return all
}
