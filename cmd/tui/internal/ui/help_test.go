package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

func TestHelpUsesTheWidth(t *testing.T) {
	m := screen(labtest.NewLab(), 220, 76, Options{})
	press(m, "?")
	if v := m.View(); !strings.Contains(v, "any other key closes") || !strings.Contains(v, "T   tainted       damaged but decoded") ||
		!strings.Contains(v, "quit without asking") {
		t.Errorf("not all of the help is in sight:\n%s", v)
	}
}

func TestHelpSaysThatThereIsMore(t *testing.T) {
	m := screen(labtest.NewLab(), 60, 20, Options{})
	press(m, "?")
	h := m.overlay.(*helpBox)
	if h.columnRows <= h.visibleRows || !strings.Contains(m.View(), " ↓  arrows") {
		t.Errorf("nothing says that there is more:\n%s", m.View())
	}
	for range 300 {
		press(m, "down")
	}
	if v := m.View(); !strings.Contains(v, " ↑  arrows") || !strings.Contains(v, "quit") {
		t.Errorf("the end of the help:\n%s", v)
	}
}

// text is all that the box says, however it is broken into lines.
func (h *helpBox) text() string {
	var words []string
	for _, line := range h.lines {
		for _, p := range line {
			words = append(words, strings.Fields(p.Text)...)
		}
	}
	return strings.Join(words, " ")
}

// However narrow the screen, every key and every command is told in full.
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
