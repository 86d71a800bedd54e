package ui

import (
	"strings"
	"testing"
)

func TestHelpUsesTheWidth(t *testing.T) {
	m := screen(newFakeLab(), 220, 60, Options{})
	press(m, "?")
	if v := m.View(); !strings.Contains(v, "any key closes") || !strings.Contains(v, "T   tainted       damaged, yet decoded") || !strings.Contains(v, "leave") {
		t.Errorf("not all of the help is in sight:\n%s", v)
	}
}

func TestHelpSaysThatThereIsMore(t *testing.T) {
	m := screen(newFakeLab(), 60, 20, Options{})
	press(m, "?")
	h := m.over.(*helpBox)
	if h.rows <= h.room || !strings.Contains(m.View(), " ↓  arrows") {
		t.Errorf("nothing says that there is more:\n%s", m.View())
	}
	for range 100 {
		press(m, "down")
	}
	if v := m.View(); !strings.Contains(v, " ↑  arrows") || !strings.Contains(v, "quit") {
		t.Errorf("the end of the help:\n%s", v)
	}
}
