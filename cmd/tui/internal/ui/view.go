package ui

import (
	"fmt"
	"strings"

	"wirelab/cmd/tui/internal/look"
)

// The smallest screen that shows anything.
const minWidth, minHeight = 60, 20

// compose puts the screen together from the lines of the panes.
func (m *Model) compose() {
	m.stale, m.lab.Note.Stale = false, false
	switch {
	case m.w <= 0 || m.h <= 0 || m.patience.ticks > 0:
		m.screen = ""
	case m.w < minWidth || m.h < minHeight:
		text := tooSmall(m.w, m.h)
		if b, ok := m.over.(*leaveBox); ok {
			text = b.tiny()
		}
		m.screen = strings.Join(centred(m.theme, m.w, m.h, text), "\n")
	default:
		lines, panel := make([]string, 0, m.h), m.tourPanel()
		bar := m.bar()
		lines = append(lines, bar.header())
		lines = append(lines, m.page().Lines(m.theme, m.w, m.h-2-len(panel))...)
		lines = append(lines, panel...)
		if m.over != nil {
			lines = append(lines[:1:1], lay(lines[1:], m.over, m.theme, m.w)...)
		}
		if note := m.lab.Note.Notice(m.theme, m.w); note == nil {
			lines = append(lines, bar.footer(m.keysNow()))
		} else { // it covers what stands below
			lines = append(lines[:m.h-len(note):m.h-len(note)], note...)
		}
		if m.line.Open {
			c := look.NewCanvas(m.w, m.line.Rows(m.w))
			m.line.Draw(c, m.theme, m.context())
			copy(lines[m.h-c.H:], c.Lines(m.theme))
		}
		m.screen = strings.Join(lines, "\n")
	}
}

// tooSmall says politely what is needed.
func tooSmall(w, h int) string {
	return fmt.Sprintf("Wirelab needs a terminal of %d x %d or more; this one is %d x %d. Make it larger, or press q to quit.",
		minWidth, minHeight, w, h)
}

// centred writes a text into the middle of an empty screen.
func centred(th *look.Theme, w, h int, text string) []string {
	c := look.NewCanvas(w, h)
	lines := look.Wrap(text, max(w-2, 1))
	for i, line := range lines {
		c.Text(max((w-look.TextWidth(line))/2, 0), max((h-len(lines))/2, 0)+i, look.Plain, line)
	}
	return c.Lines(th)
}
