package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

func clickAt(m *dashboard, x, y int, b tea.MouseButton) {
	m.Update(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: b})
	m.Update(room.Tick{})
}

// TestPagesCanBeClicked checks that a click on any column of a page's name in the header opens
// the page.
func TestPagesCanBeClicked(t *testing.T) {
	for _, w := range []int{104, 160, 250} {
		m := screen(labtest.NewLab(), w, 48, Options{})
		for _, p := range m.pages {
			head, _, _ := strings.Cut(m.View(), "\n")
			at := look.TextWidth(head[:strings.Index(head, p.Name())])
			for dx := range p.Name() {
				m.open = 0
				if clickAt(m, at+dx, 0, tea.MouseButtonLeft); m.page() != p {
					t.Errorf("%d columns: a click on letter %d of %s shows %s", w, dx, p.Name(), m.page().Name())
				}
				m.openPage(0)
				m.Update(room.Tick{})
				m.render()
			}
		}
		for x := range w { // no click may panic
			clickAt(m, x, 0, tea.MouseButtonLeft)
			checkView(t, m)
		}
	}
}

// TestWheelGoesThroughLists checks that scrolling down moves down in a list.
func TestWheelGoesThroughLists(t *testing.T) {
	for _, key := range []string{"2", "3"} {
		marks := map[string]int{}
		for _, how := range []string{"wheel", "arrow"} {
			m := screen(labtest.NewLab(), 160, 48, Options{})
			press(m, key)
			was := m.View()
			for range 2 {
				if how == "wheel" {
					clickAt(m, 40, 10, tea.MouseButtonWheelDown)
				} else {
					press(m, "down")
				}
			}
			m.Update(room.Tick{})
			if m.View() == was {
				t.Errorf("page %s: the %s does nothing", key, how)
			}
			marks[m.View()]++
		}
		if len(marks) != 1 {
			t.Errorf("page %s: the wheel goes elsewhere than the arrow", key)
		}
	}
}

func TestWheelScrollsOverlays(t *testing.T) {
	m := screen(labtest.NewLab(), 80, 24, Options{})
	press(m, "?")
	clickAt(m, 40, 10, tea.MouseButtonWheelDown)
	clickAt(m, 40, 10, tea.MouseButtonWheelDown)
	clickAt(m, 40, 10, tea.MouseButtonWheelUp)
	if h := m.overlay.(*helpBox); h.first != 1 {
		t.Errorf("the help begins at line %d", h.first)
	}
	press(m, "esc", "e")
	cursor := func() int {
		before, _, _ := strings.Cut(m.View(), "▸")
		return strings.Count(before, "\n")
	}
	before := cursor()
	clickAt(m, 40, 10, tea.MouseButtonWheelDown)
	if at := cursor(); at != before+1 {
		t.Errorf("the list is at %d, was at %d", at, before)
	}
}

// TestHelpBeginsWithTheTour checks that the help starts with the keys of the tour if it is open,
// else with those of the page.
func TestHelpBeginsWithTheTour(t *testing.T) {
	for keys, want := range map[string]string{"": "Here: 1 Live", "4": "Here: 4 World", "t": "Tour"} {
		m := screen(labtest.NewEcho(), 80, 24, Options{})
		if keys != "" {
			press(m, keys)
		}
		press(m, "?")
		if first := m.overlay.(*helpBox).lines[0][0].Text; !strings.HasPrefix(first, want) {
			t.Errorf("after %q the help begins with %q", keys, first)
		}
	}
}
