package ui

import (
	"fmt"
	"strings"

	"wirelab/cmd/tui/internal/look"
)

// The smallest screen that shows anything, unless the screen is content with fewer rows.
const minWidth, minHeight = 60, 20

// small is a screen, or a box, that has something to show where there is no room for pages.
type small interface {
	// Small returns a text, and whether it replaces the request for a larger terminal.
	Small() (text string, alone bool)
}

// short is a screen that needs fewer than minHeight rows.
type short interface{ MinHeight() int }

// least returns how many rows the screen needs.
func (s *Shell) least() int {
	if x, ok := s.screen.(short); ok {
		return x.MinHeight()
	}
	return minHeight
}

// tooSmall reports whether there is no room for pages.
func (s *Shell) tooSmall() bool { return s.w < minWidth || s.h < s.least() }

// compose puts the screen together from the lines of the page and what is around it.
func (s *Shell) compose() {
	s.stale, s.note.Stale = false, false
	switch {
	case s.w <= 0 || s.h <= 0 || s.patience.ticks > 0:
		s.picture = ""
	case s.tooSmall():
		c := look.NewCanvas(s.w, s.h)
		c.Centre(0, look.Plain, s.smallText())
		s.picture = strings.Join(c.Lines(s.theme), "\n")
	default:
		header, panel := s.screen.Header(s.w), s.tourPanel()
		lines := append(make([]string, 0, s.h), s.drawHeader(&header)...)
		above := len(lines)
		lines = append(lines, s.page().Lines(s.theme, s.w, s.h-above-1-len(panel))...)
		lines = append(lines, panel...)
		if s.over != nil {
			lines = append(lines[:above:above], lay(lines[above:], s.over, s.theme, s.w)...)
		}
		if note := s.note.Lines(s.theme, s.w); note == nil {
			keys, special := s.keysNow(header.Keys)
			lines = append(lines, s.footer(keys, special))
		} else { // it covers what stands below
			lines = append(lines[:s.h-len(note):s.h-len(note)], note...)
		}
		if s.line.Open {
			c := look.NewCanvas(s.w, s.line.Rows(s.w))
			s.line.Draw(c, s.theme, s.screen.Context())
			copy(lines[s.h-c.H:], c.Lines(s.theme))
		}
		s.picture = strings.Join(lines, "\n")
	}
}

// tourPanel is the panel of the tour, nil without a tour.
func (s *Shell) tourPanel() []string {
	if s.tour == nil {
		return nil
	}
	return s.tour.Panel(s.theme, s.w)
}

// smallText requests a larger terminal.
func (s *Shell) smallText() string {
	text := fmt.Sprintf("Wirelab needs a terminal of %d x %d or more; this one is %d x %d. Make it larger, or press q to quit.",
		minWidth, s.least(), s.w, s.h)
	for _, x := range []any{s.over, s.screen} {
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
