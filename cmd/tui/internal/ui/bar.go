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
	Badge look.Span               // the state of the session, at the right edge
	Alarm string                  // if not "", replaces the first line, in red
	Below [][]look.Span           // further lines below the first
	Keys  []room.Binding          // if not nil, replaces the keys of the page in the footer
}

// drawHeader returns the lines above the page: the title at the left, the names of the pages if the
// screen is wide enough, and the badge at the right edge, then the further lines of h.
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
	titleWidth := s.w - 2 - look.TextWidth(h.Badge.Text)
	if tabs := s.tabs(); s.w >= tabsWidth {
		titleWidth -= look.SpansWidth(tabs)
		c.Spans(1+titleWidth, 0, s.w, tabs...)
	}
	c.Spans(1, 0, titleWidth, h.Title(titleWidth)...)
	c.TextRight(s.w, 0, h.Badge.Style, h.Badge.Text)
	return c.Lines(s.theme)
}

// tabsWidth is the smallest width of the screen at which the header lists the pages.
const tabsWidth = 104

// tabs returns the names of the pages with their keys, and a blank as the last element; nil if
// there is only one page.
func (s *Shell) tabs() []look.Span {
	if len(s.pages) < 2 {
		return nil
	}
	var out []look.Span
	for i, p := range s.pages {
		style := look.Dim
		if i == s.open {
			style = look.Focus
		}
		left, right := " ", " "
		if i == s.open { // brackets, because the theme may have no colours
			left, right = "[", "]"
		}
		out = append(out, style.Span(left+strconv.Itoa(i+1)+" "+p.Name+right))
	}
	return append(out, look.Plain.Span(" "))
}

// tabAt returns the index of the page whose name is at column x of the header; -1 if no name is there.
func (s *Shell) tabAt(x int) int {
	tabs := s.tabs() // at the right edge, before the badge
	start := s.w - 1 - look.TextWidth(s.screen.Header(s.w).Badge.Text) - look.SpansWidth(tabs)
	for i := range tabs[:max(len(tabs)-1, 0)] { // without the blank at the end
		end := start + look.TextWidth(tabs[i].Text)
		if x >= start && x < end && s.w >= tabsWidth {
			return i
		}
		start = end
	}
	return -1
}

// footer returns the line with the most important keys. keys and special are the results of
// footerKeys: special is set if keys are not those of the page.
func (s *Shell) footer(keys []room.Binding, special bool) string {
	c := look.NewCanvas(s.w, 1)
	for i, h := range s.hints(keys, special, s.w-2) {
		if i > 0 {
			c.Text(h.x-hintGap, 0, look.Faint, " "+s.theme.Dot+" ")
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
	x           int  // column of the footer
	show        bool // first whether the hint is pinned, then whether it fits
}

// hintGap is the width of the separator between two entries of the footer.
const hintGap = 3

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
// fit, the keys of help and quitting take precedence, then the pinned entries. Unless special is set, which means that keys are not those
// of the page, the first entry is followed by the arrow keys of the page.
func (s *Shell) hints(keys []room.Binding, special bool, w int) []hint {
	var all []hint
	for _, k := range keys {
		if k.Brief == "" { // the footer does not list this key
			continue
		}
		all = append(all, hint{label: k.Label, description: k.Brief, show: k.Pinned})
		if len(all) == 1 && !special {
			for _, arrow := range s.page().Arrows() { // symbol of the arrow keys, and description
				all = append(all, hint{label: arrow[0], description: arrow[1]})
			}
		}
	}
	left := w + hintGap         // one gap more, since the last entry has no separator
	fit := func(h *hint) bool { // marks h to be shown if it fits, and reports whether it does
		n := h.width() + hintGap
		h.show = n <= left
		if h.show {
			left -= n
		}
		return h.show
	}
	isFirst := func(h *hint) bool { return h.description == "help" || h.description == "quit" }
	for i := range all {
		if isFirst(&all[i]) {
			fit(&all[i])
		}
	}
	for i := range all { // then the other pinned ones
		if all[i].show && !isFirst(&all[i]) {
			fit(&all[i])
		}
	}
	for i := range all { // the entries that are not pinned, until one does not fit
		if !all[i].show && !isFirst(&all[i]) && !fit(&all[i]) {
			break
		}
	}
	x := 1
	all = slices.DeleteFunc(all, func(h hint) bool { return !h.show })
	for i := range all {
		all[i].x = x
		x += all[i].width() + hintGap
	}
	return all
}
