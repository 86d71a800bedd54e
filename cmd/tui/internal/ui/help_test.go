package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// TestHelpUsesTheWidth checks that a wide screen shows all of the help.
func TestHelpUsesTheWidth(t *testing.T) {
	m := screen(labtest.NewLab(), 220, 76, Options{})
	press(m, "?")
	if v := m.View(); !strings.Contains(v, "any other key closes") || !strings.Contains(v, "T   tainted       damaged but decoded") ||
		!strings.Contains(v, "quit without asking") {
		t.Errorf("not all of the help is visible:\n%s", v)
	}
}

// TestHelpShowsScrollPosition checks that the help shows when there are further rows.
func TestHelpShowsScrollPosition(t *testing.T) {
	m := screen(labtest.NewLab(), 60, 20, Options{})
	press(m, "?")
	h := m.overlay.(*helpBox)
	if h.columnRows <= h.visibleRows || !strings.Contains(m.View(), " ↓  arrows") {
		t.Errorf("no hint that there are further rows:\n%s", m.View())
	}
	for range 300 {
		press(m, "down")
	}
	if v := m.View(); !strings.Contains(v, " ↑  arrows") || !strings.Contains(v, "quit") {
		t.Errorf("the end of the help:\n%s", v)
	}
}

// text returns the whole text of the help in one line.
func (h *helpBox) text() string {
	var words []string
	for _, line := range h.lines {
		for _, p := range line {
			words = append(words, strings.Fields(p.Text)...)
		}
	}
	return strings.Join(words, " ")
}

// TestHelpCutsNothing checks that the help of every key and command is complete on screens of
// every width.
func TestHelpCutsNothing(t *testing.T) {
	for _, w := range []int{minWidth, 80, 120, 160} {
		m := screen(labtest.NewLab(), w, 48, Options{})
		press(m, "?")
		h := m.overlay.(*helpBox)
		for _, line := range h.lines {
			if n := look.SpansWidth(line); n > w-room.OverlayMargin-helpEdges {
				t.Errorf("%d columns: a line of %d: %v", w, n, line)
			}
		}
		said := h.text()
		for _, k := range helpKeys(m.activeKeys(), m.page()) {
			if !strings.Contains(said, k.help) || !strings.Contains(said, k.pageHelp) {
				t.Errorf("%d columns: %q or %q is lacking", w, k.help, k.pageHelp)
			}
		}
		for _, v := range command.Verbs(m.Context()) {
			if !strings.Contains(said, strings.Join(strings.Fields(v.Help), " ")) {
				t.Errorf("%d columns: %q is lacking", w, v.Help)
			}
		}
	}
}
