package ui

import (
	"fmt"
	"strings"

	"wirelab/cmd/tui/internal/look"
)

// The smallest terminal for pages, in columns and rows.
const minWidth, minHeight = 60, 18

// smallScreen is a screen or an overlay that has a text for terminals that are too small for pages.
type smallScreen interface {
	// Small returns the text; "" for none. If alone is set, the text replaces the request for a
	// larger terminal, otherwise it follows the request.
	Small() (text string, alone bool)
}

// tooSmall reports whether the terminal is too small for pages.
func (s *Shell) tooSmall() bool { return s.w < minWidth || s.h < minHeight }

// render stores in s.view what View returns: from top to bottom the header, the page, the panel of
// the tour, and the footer or a notice. The command line is drawn over the last lines.
func (s *Shell) render() {
	s.dirty, s.notice.Changed = false, false
	switch {
	case s.w <= 0 || s.h <= 0 || s.startDelay.ticks > 0: // the size or the background is not known yet
		s.view = ""
	case s.tooSmall():
		c := look.NewCanvas(s.w, s.h)
		c.Centre(0, look.Plain, s.smallText())
		s.view = strings.Join(c.Lines(s.theme), "\n")
	default:
		header, panel := s.screen.Header(s.w), s.tourPanel()
		lines := append(make([]string, 0, s.h), s.drawHeader(&header)...)
		headerRows := len(lines)
		const footerRows = 1
		lines = append(lines, s.pageLines(s.h-headerRows-footerRows-len(panel))...)
		lines = append(lines, panel...)
		keys, special := s.footerKeys(header.Keys)
		lines = append(lines, s.footer(keys, special))
		if notice := s.notice.Lines(s.theme, s.w); notice != nil {
			top := s.h - len(notice)
			if s.modalKeys() != nil { // the footer stays visible
				top -= footerRows
			}
			copy(lines[top:], notice)
		}
		if s.line.Open {
			c := s.line.Canvas(s.theme, s.screen.Context(), s.w, s.h-headerRows-footerRows)
			copy(lines[s.h-footerRows-c.H:], c.Lines(s.theme))
		}
		s.view = strings.Join(lines, "\n")
	}
}

// tourPanel returns the lines of the tour's panel, or nil without a tour.
func (s *Shell) tourPanel() []string {
	if s.tour == nil {
		return nil
	}
	return s.tour.Panel(s.theme, s.w)
}

// smallText returns the text for a terminal that is too small: the request for a larger one, then
// or instead the text of the overlay and of the screen, see smallScreen.
func (s *Shell) smallText() string {
	text := fmt.Sprintf("Wirelab needs a terminal of %d x %d or more; this one is %d x %d. Make it larger, or press q to quit.",
		minWidth, minHeight, s.w, s.h)
	for _, x := range []any{s.overlay, s.screen} {
		if small, ok := x.(smallScreen); ok {
			if further, alone := small.Small(); alone { // this text replaces the request
				return further
			} else if further != "" {
				text += " " + further
			}
		}
	}
	return text
}
