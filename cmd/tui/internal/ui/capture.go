package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/room"
)

// screenText returns a screen without colours and without blanks at the ends of lines.
func screenText(view string) string {
	var b strings.Builder
	for line := range strings.Lines(ansi.Strip(view)) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}

// copySelection copies the selection of the page, or without one the text of the screen, to the clipboard of the
// terminal (sequence OSC 52). The terminal does not reply, so the notice names only what was sent.
func (s *Shell) copySelection() room.Request {
	if s.sendFirst == nil {
		return room.Refusal("there is no terminal whose clipboard could be set")
	}
	text, what := s.page().Selection(), "the selection"
	if text == "" {
		text, what = screenText(s.view), "the screen"
	}
	s.sendFirst(ansi.SetSystemClipboard(text))
	return room.Request{Notice: fmt.Sprintf("sent %s to the terminal's clipboard: %d characters", what, len([]rune(text)))}
}
