package ui

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
)

// boxSizes are the sizes at which boxes are checked: the smallest, usual ones, and a large one.
var boxSizes = [][2]int{{minWidth, minHeight}, {80, 24}, {120, 36}, {160, 48}, {200, 60}}

// TestBoxes opens each box over the page, moves its cursor to the end and back, filters it until nothing matches, and
// changes the size of the screen after each of these keys. The screen is filled exactly, tabs and footer stay, the
// frame of the box is whole, and the selected row is visible.
func TestBoxes(t *testing.T) {
	reports := labtest.WriteReports(t)
	packets := on(labtest.NewPackets)
	shadows := on(func() *labtest.Lab { return &labtest.Lab{Snap: labtest.FourShadows()} })
	withReports := func(w, h int, opt Options) *dashboard {
		opt.ReportsDir = reports
		return reportScreen(labtest.NewLab(), w, h, opt)
	}
	for name, box := range map[string]struct {
		open  func(w, h int, opt Options) *dashboard
		keys  string
		title string
		list  bool // a row is selected
	}{
		"help":            {packets, "?", "Help", false},
		"help of packets": {packets, "3 ?", "Help", false},
		"encoders":        {packets, "e", "Encoder", true},
		"shadow":          {packets, "v", "Add a shadow", true},
		"parameters":      {packets, "e down tab", "Encoder", true},
		"profiles":        {packets, "p", "Link profile", true},
		"themes":          {packets, "/theme", "Theme", true},
		"problems":        {packets, "x", "Problems", true},
		"quit":            {packets, "q", "Quit?", true},
		"shadows":         {shadows, "2 r", "Compare with", true},
		"crowd explained": {on(func() room.Lab { return newCrowdLab(200) }), "x", "Crowd", false},
		"flow explained":  {on(newTransportLab), "6 x", "Flow", false},
		"report":          {withReports, "down down down down enter", "2026-02-01-100000-rotor", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, keys := range []string{"", "end pgdown", "home pgup", "/ z z x x up down", "enter k j G g"} {
				for _, size := range boxSizes {
					m := box.open(160, 48, Options{})
					press(m, box.keys)
					for _, key := range strings.Fields(keys) {
						if m.overlay != nil {
							press(m, key)
						}
					}
					for _, next := range append([][2]int{size}, boxSizes...) {
						m.Update(tea.WindowSizeMsg{Width: next[0], Height: next[1]})
						press(m)
						view := ansi.Strip(m.View())
						labtest.CheckScreen(t, keys, view, next[0], next[1])
						checkBox(t, m, view, box.title, box.list && !strings.Contains(keys, "z"))
					}
				}
			}
		})
	}
}

// checkBox checks that the box with a title, if it is still open, leaves header and footer, has a whole frame, and shows
// the selected row.
func checkBox(t *testing.T, m *dashboard, view, title string, list bool) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if m.overlay == nil {
		return
	}
	if !strings.Contains(lines[0], "LIVE") || !strings.Contains(lines[0], "["+string(rune('1'+m.open))) {
		t.Fatalf("no tabs:\n%s", view)
	}
	if !strings.Contains(lines[len(lines)-1], "esc ") {
		t.Fatalf("the footer lacks esc:\n%s", view)
	}
	top := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, title) })
	if top < 0 {
		t.Fatalf("no %q:\n%s", title, view)
	}
	if list && !strings.Contains(strings.Join(lines[1:], "\n"), m.theme.Chosen) {
		t.Fatalf("the selected row is not visible:\n%s", view)
	}
}
