package ui

import (
	"cmp"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// TestHelpIsOneList checks that the help lists every key and command once, from top to bottom, with the keys that
// have a meaning of their own on the page first.
func TestHelpIsOneList(t *testing.T) {
	m := screen(labtest.NewLab(), 220, 300, Options{})
	press(m, "3", "?")
	v := m.View()
	last := 0
	for _, want := range []string{"Here: 3 Packets", "previous or next packet", "Everywhere", "undo the last change; again",
		"damaged, or rejected", "Commands, after /", "quit without asking"} {
		at := strings.Index(v[last:], want)
		if at < 0 {
			t.Fatalf("%q is missing, or not in order:\n%s", want, v)
		}
		last += at
	}
	for _, once := range []string{"next filter: all", "undo the last change; again", "start the guided tour in eight steps"} {
		if n := strings.Count(v, once); n != 1 {
			t.Errorf("%q is listed %d times", once, n)
		}
	}
}

// TestHelpFilter checks that the help shows only the entries that contain the typed words, and all again after esc.
func TestHelpFilter(t *testing.T) {
	m := screen(labtest.NewLab(), 80, 24, Options{})
	press(m, "?")
	all := m.View()
	press(m, "/", "undo")
	if v := m.View(); !strings.Contains(v, "undo the last change") || strings.Contains(v, "show this list") || !strings.Contains(v, "/undo_") {
		t.Errorf("the filter shows:\n%s", v)
	}
	press(m, "enter", "esc")
	if m.View() != all {
		t.Errorf("after esc:\n%s", m.View())
	}
	if press(m, "/", "qqqq"); !strings.Contains(m.View(), "no entry contains this") {
		t.Errorf("nothing matches, but it shows:\n%s", m.View())
	}
	if press(m, "esc", "esc"); m.overlay != nil {
		t.Error("esc does not close the help")
	}
}

// TestHelpShowsScrollPosition checks that the help shows when there are further rows.
func TestHelpShowsScrollPosition(t *testing.T) {
	m := screen(labtest.NewLab(), 60, 20, Options{})
	press(m, "?")
	h := m.overlay.(*helpBox)
	if h.numLines <= h.visibleRows || !strings.Contains(m.View(), " ↓  / filters") {
		t.Errorf("no hint that there are further rows:\n%s", m.View())
	}
	for range 300 {
		press(m, "down")
	}
	if v := m.View(); !strings.Contains(v, " ↑  / filters") || !strings.Contains(v, "quit") {
		t.Errorf("the end of the help:\n%s", v)
	}
}

// TestHelpOfOverlays checks that footer and help list the keys of what is open over the page, and that closing the
// help opens it again.
func TestHelpOfOverlays(t *testing.T) {
	for keys, want := range map[string][2]string{ // in the footer, in the help
		"e":       {"space select, stay", "make the encoder active; the list stays open"},
		"p":       {"enter select", "select the name under the cursor"},
		"/ p a u": {"tab complete", "complete the last word"},
		"q":       {"s save and quit", "save and quit"},
	} {
		m := screen(labtest.NewLab(), 120, 40, Options{})
		press(m, strings.Fields(keys)...)
		before := m.View()
		if row := lastRow(m); !strings.Contains(row, want[0]) || !strings.Contains(row, "F1 help") || strings.Contains(row, "space pause") {
			t.Errorf("after %s the footer is %q", keys, row)
		}
		if press(m, "f1"); !strings.Contains(m.View(), want[1]) || strings.Contains(lastRow(m), "F1") {
			t.Errorf("the help after %s:\n%s", keys, m.View())
		}
		if press(m, "esc"); m.View() != before {
			t.Errorf("after the help of %s is closed:\n%s", keys, m.View())
		}
	}
}

// text returns the whole text of the help in one line.
func (h *helpBox) text() string {
	var words []string
	for _, line := range h.lines() {
		words = append(words, strings.Fields(look.SpansText(line))...)
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
		for _, line := range h.lines() {
			if n := look.SpansWidth(line); n > w-room.OverlayMargin-helpEdges {
				t.Errorf("%d columns: a line of %d: %v", w, n, line)
			}
		}
		said := h.text()
		for _, k := range helpKeys(m.page(), m.commonKeys()) {
			if text := cmp.Or(k.pageHelp, k.help); !strings.Contains(said, text) {
				t.Errorf("%d columns: %q is lacking", w, text)
			}
		}
		for _, v := range command.Verbs(m.Context()) {
			if !strings.Contains(said, strings.Join(strings.Fields(v.Help), " ")) {
				t.Errorf("%d columns: %q is lacking", w, v.Help)
			}
		}
	}
}
