package ui

import (
	"fmt"
	"strings"

	"wirelab/cmd/tui/internal/look"
)

// The smallest terminal for pages, in columns and rows; see short for an exception.
const minWidth, minHeight = 60, 20

// small is a screen or an overlay that shows a text if the terminal is too small for pages.
type small interface {
	// Small returns the text. If alone is set, the text replaces the request for a larger terminal.
	Small() (text string, alone bool)
}

// short is a screen that needs fewer than minHeight rows.
type short interface{ MinHeight() int }

// minRows returns the smallest height of the screen in rows.
func (s *Shell) minRows() int {
	if x, ok := s.screen.(short); ok {
		return x.MinHeight()
	}
	return minHeight
}

// tooSmall reports whether the terminal is too small for pages.
func (s *Shell) tooSmall() bool { return s.w < minWidth || s.h < s.minRows() }

// render composes the view from the lines of the page and the elements around it.
func (s *Shell) render() {
	s.dirty, s.notice.Stale = false, false
	switch {
	case s.w <= 0 || s.h <= 0 || s.startDelay.ticks > 0:
		s.view = ""
	case s.tooSmall():
		c := look.NewCanvas(s.w, s.h)
		c.Centre(0, look.Plain, s.smallText())
		s.view = strings.Join(c.Lines(s.theme), "\n")
	default:
		header, panel := s.screen.Header(s.w), s.tourPanel()
		lines := append(make([]string, 0, s.h), s.drawHeader(&header)...)
		above := len(lines)
		lines = append(lines, s.page().Lines(s.theme, s.w, s.h-above-1-len(panel))...)
		lines = append(lines, panel...)
		if s.overlay != nil {
			lines = append(lines[:above:above], drawOverlay(lines[above:], s.overlay, s.theme, s.w)...)
		}
		if note := s.notice.Lines(s.theme, s.w); note == nil {
			keys, special := s.footerKeys(header.Keys)
			lines = append(lines, s.footer(keys, special))
		} else { // the notice covers the footer and the last lines of the page
			lines = append(lines[:s.h-len(note):s.h-len(note)], note...)
		}
		if s.line.Open {
			c := look.NewCanvas(s.w, s.line.Rows(s.w))
			s.line.Draw(c, s.theme, s.screen.Context())
			copy(lines[s.h-c.H:], c.Lines(s.theme))
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

// smallText returns the text for a terminal that is too small.
func (s *Shell) smallText() string {
	text := fmt.Sprintf("Wirelab needs a terminal of %d x %d or more; this one is %d x %d. Make it larger, or press q to quit.",
		minWidth, s.minRows(), s.w, s.h)
	for _, x := range []any{s.overlay, s.screen} {
		if x, ok := x.(small); ok {
			if more, alone := x.Small(); alone {
				return more
			} else if more != "" {
				text += " " + more
			}
		}
	}
	return text
}
