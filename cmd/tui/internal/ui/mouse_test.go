package ui

import (
	"strconv"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
)

func clickAt(m *dashboard, x, y int, b tea.MouseButton) {
	m.Update(tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: b})
	tick(m, 1)
}

// TestPagesCanBeClicked checks that a click on any column of a page's name or digit in the header opens the page.
func TestPagesCanBeClicked(t *testing.T) {
	for _, w := range []int{minWidth, 104, 160} {
		m := screen(labtest.NewLab(), w, 48)
		for i, p := range m.pages {
			name := strconv.Itoa(i + 1)
			if w == 160 {
				name += " " + p.Name
			}
			m.openPage((i + 1) % len(m.pages))
			m.render()
			head := header(m)
			at := look.TextWidth(head[:strings.LastIndex(head, name)])
			for dx := range name {
				m.openPage((i + 1) % len(m.pages))
				if clickAt(m, at+dx, 0, tea.MouseButtonLeft); m.page() != p {
					t.Errorf("%d columns: a click on letter %d of %s shows %s", w, dx, name, m.page().Name)
				}
			}
		}
		for x := range w { // no click may panic
			clickAt(m, x, 0, tea.MouseButtonLeft)
			checkView(t, m)
		}
	}
}

// TestWheelChangesOnlyControls turns the wheel over every part of every page, with the focus on the controls and
// elsewhere: outside of the pane of controls, no setting changes.
func TestWheelChangesOnlyControls(t *testing.T) {
	for _, size := range [][2]int{{160, 48}, {80, 24}} {
		for _, keys := range []string{"1", "1 tab", "2", "3", "4", "5", "6", "7"} {
			lab := labtest.NewLab()
			m := screen(lab, size[0], size[1])
			press(m, keys)
			for y := 0; y < size[1]; y += 3 {
				for x := 0; x < size[0]; x += 19 {
					if overControls(m.View(), x, y) {
						continue
					}
					lab.Got = nil
					clickAt(m, x, y, tea.MouseButtonWheelUp)
					clickAt(m, x, y, tea.MouseButtonWheelDown)
					for _, c := range lab.Got {
						if c.Change != nil || c.Speed != nil {
							t.Fatalf("%v, keys %v: the wheel at %d, %d sends %s", size, keys, x, y, spell(lab.Got))
						}
					}
				}
			}
		}
	}
}

// overControls reports whether (x, y) of a screen is in the pane of controls, according to its frame.
func overControls(view string, x, y int) bool {
	lines := strings.Split(view, "\n")
	for top, line := range lines {
		for _, corner := range []string{"╭━ Controls", "╭─ Controls"} {
			left, pane, ok := strings.Cut(line, corner)
			if !ok {
				continue
			}
			x0 := look.TextWidth(left)
			x1 := x0 + look.TextWidth(corner+pane[:strings.Index(pane, "╮")])
			bottom := top
			for []rune(lines[bottom])[x0] != '╰' {
				bottom++
			}
			return x >= x0 && x <= x1 && y >= top && y <= bottom
		}
	}
	return false
}

// TestWheelZoomsCharts checks that the wheel over the charts of each page changes their time span, also while the
// controls have the focus, and that turning it back restores the page.
func TestWheelZoomsCharts(t *testing.T) {
	for _, c := range []struct {
		key           string
		x, y          int
		before, after string // labels of the time axis
	}{{"1", 40, 10, "50s┬", "25s┬"}, {"2", 40, 10, "50s┬", "25s┬"}, {"4", 20, 42, "30s┬", "15s┬"}, {"5", 40, 40, "50s┬", "25s┬"}} {
		m := large(labtest.NewLab())
		press(m, c.key)
		was := m.View()
		if !strings.Contains(was, c.before) {
			t.Fatalf("page %s does not begin with a minute:\n%s", c.key, was)
		}
		clickAt(m, c.x, c.y, tea.MouseButtonWheelUp)
		checkShown(t, m, c.after)
		checkLacking(t, m, c.before)
		if clickAt(m, c.x, c.y, tea.MouseButtonWheelDown); m.View() != was {
			t.Errorf("page %s: turned back, the page differs:\n%s", c.key, m.View())
		}
	}
}

// TestFooterCanBeClicked clicks every entry of the footer: it does what its key does.
func TestFooterCanBeClicked(t *testing.T) {
	for _, w := range []int{160, 80} {
		for _, page := range strings.Fields(map[int]string{160: "1 2 3 4 5 6", 80: "1 4 6"}[w]) {
			open := func() (*dashboard, *labtest.Lab) {
				lab := newTransportLab()
				m := screen(lab, w, 48)
				press(m, page)
				return m, lab
			}
			m, _ := open()
			keys, special := m.footerKeys(nil)
			for _, h := range m.hints(keys, special, w-2) {
				if h.description == "page" {
					continue // several keys, of which a click presses none
				}
				symbols := []rune(h.label)
				for _, dx := range []int{0, len(symbols) - 1} {
					clicked, clickedLab := open()
					clickAt(clicked, h.x+dx, 47, tea.MouseButtonLeft)
					pressed, pressedLab := open()
					labels := strings.Fields(h.label) // of several keys
					key := labels[min(dx, len(labels)-1)]
					if strings.ContainsAny(h.label, "↑←") {
						key = string(symbols[dx])
					}
					press(pressed, key)
					if clicked.View() != pressed.View() || spell(clickedLab.Got) != spell(pressedLab.Got) {
						t.Errorf("page %s: column %d of %q in the footer is not the key %s, but sends %q:\n%s", page, dx, h.label, key,
							spell(clickedLab.Got), clicked.View())
					}
				}
			}
		}
	}
}

// TestWheelGoesThroughLists checks that scrolling down moves down in a list.
func TestWheelGoesThroughLists(t *testing.T) {
	for key, x := range map[string]int{"2": 140, "3": 40} {
		marks := map[string]int{}
		for _, how := range []string{"wheel", "arrow"} {
			m := large(labtest.NewLab())
			press(m, key)
			was := m.View()
			for range 2 {
				if how == "wheel" {
					clickAt(m, x, 10, tea.MouseButtonWheelDown)
				} else {
					press(m, "down")
				}
			}
			tick(m, 1)
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
	m := screen(labtest.NewLab(), 80, 24)
	press(m, "?")
	clickAt(m, 40, 10, tea.MouseButtonWheelDown)
	clickAt(m, 40, 10, tea.MouseButtonWheelDown)
	clickAt(m, 40, 10, tea.MouseButtonWheelUp)
	scrolled := m.View()
	press(m, "g down")
	if m.View() != scrolled {
		t.Errorf("the help is not scrolled by one line:\n%s", scrolled)
	}
	press(m, "esc e")
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
