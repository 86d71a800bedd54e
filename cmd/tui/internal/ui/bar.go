package ui

import (
	"strconv"

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
		out = append(out, style.Span(left+strconv.Itoa(i+1)+" "+p.Name()+right))
	}
	return append(out, look.Plain.Span(" "))
}

// tabAt returns the index of the page whose name is at column x of the header; -1 if there is none.
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
	x := 1
	for i, piece := range s.hints(keys, special, s.w-2) {
		if i > 0 {
			x = c.Text(x, 0, look.Faint, " "+s.theme.Dot+" ")
		}
		x = c.Spans(x, 0, s.w-x, piece[:]...)
	}
	return c.Lines(s.theme)[0]
}

// hints returns key and description of the entries in the footer, in the order of keys. If they do
// not all fit in w columns, the pinned ones take precedence. Unless special is set, which means that
// keys are not those of the page, the first entry is followed by the keys that open pages and by the
// arrow keys of the page.
func (s *Shell) hints(keys []room.Binding, special bool, w int) [][2]look.Span {
	type hint struct {
		text [2]look.Span // key and description
		show bool         // first whether the hint is pinned, then whether it fits
	}
	var all []hint
	const notPinned = false
	add := func(key, description string, pinned bool) {
		all = append(all, hint{[2]look.Span{look.Key.Span(key), look.Dim.Span(" " + description)}, pinned})
	}
	for _, k := range keys {
		if k.Brief == "" { // the footer does not list this key
			continue
		}
		add(k.Help().Key, k.Brief, k.Pinned)
		if len(all) == 1 && !special {
			if s.w < tabsWidth && len(s.pages) > 1 { // the header has no room for the pages
				add("1-"+strconv.Itoa(len(s.pages)), "pages", notPinned)
			}
			if p, ok := s.page().(room.Hinter); ok {
				for _, arrow := range p.Arrows() { // symbol of the arrow keys, and description
					add(arrow[0], arrow[1], notPinned)
				}
			}
		}
	}
	const gap = 3               // width of the separator between two entries
	left := w + gap             // one gap more, since the last entry has no separator
	fit := func(h *hint) bool { // marks h to be shown if it fits, and reports whether it does
		n := look.SpansWidth(h.text[:]) + gap
		h.show = n <= left
		if h.show {
			left -= n
		}
		return h.show
	}
	for i := range all { // pinned entries take precedence
		if all[i].show {
			fit(&all[i])
		}
	}
	for i := range all { // the entries that are not pinned, until one does not fit
		if !all[i].show && !fit(&all[i]) {
			break
		}
	}
	var out [][2]look.Span
	for _, h := range all {
		if h.show {
			out = append(out, h.text)
		}
	}
	return out
}
