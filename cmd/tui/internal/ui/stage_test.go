package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/live"

	tea "github.com/charmbracelet/bubbletea"
)

// large returns a dashboard of 160 by 48 cells without colours.
func large(lab room.Lab) *dashboard { return screen(lab, 160, 48) }

// screen returns a dashboard of w by h cells, without colours unless opt has a renderer.
func screen(lab room.Lab, w, h int, opt ...Options) *dashboard {
	return screenWith(lab, w, h, append(opt, Options{})[0], fakeCatalog())
}

// screenWith is screen with the given catalog.
func screenWith(lab room.Lab, w, h int, opt Options, catalog *controls.Catalog) *dashboard {
	if opt.Renderer == nil {
		opt.Renderer = labtest.PlainRenderer()
	}
	m := newDashboardWith(lab, opt, catalog)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return m
}

// keysOf returns the keys of a text: words are keys, and parts between "; " that begin with / are typed commands.
func keysOf(text string) (keys []string) {
	for _, part := range strings.Split(text, "; ") {
		typed, isCommand := strings.CutPrefix(part, "/")
		if isCommand && typed != "" && typed[0] != ' ' {
			keys = append(keys, "/", typed, "enter")
		} else {
			keys = append(keys, strings.Fields(part)...)
		}
	}
	return keys
}

// press sends keys, see keysOf, and then a tick.
func press(m *dashboard, texts ...string) (last tea.Cmd) {
	for _, text := range texts {
		for _, key := range keysOf(text) {
			_, last = m.Update(labtest.KeyMsg(key))
		}
	}
	tick(m, 1)
	return last
}

// pressOnce sends a key, or a text in one message, whatever it contains, and then a tick.
func pressOnce(m *dashboard, key string) {
	m.Update(labtest.KeyMsg(key))
	tick(m, 1)
}

func tick(m *dashboard, n int) {
	for range n {
		m.Update(room.Tick{})
	}
}

// after sends a tick.
func after(m *dashboard) string {
	tick(m, 1)
	return m.View()
}

// redraw sends a tick at which all panes are drawn again.
func redraw(m *dashboard) {
	m.lab.Ticks = baseTicksPerRedraw - 1
	tick(m, 1)
}

func header(m *dashboard) string {
	row, _, _ := strings.Cut(m.View(), "\n")
	return row
}

func lastRow(m *dashboard) string {
	rows := strings.Split(m.View(), "\n")
	return rows[len(rows)-1]
}

// oneLine returns the words of a view with single blanks between them.
func oneLine(view string) string { return strings.Join(strings.Fields(view), " ") }

// checkView checks that the view fills the screen and has no line that is longer.
func checkView(t *testing.T, m *dashboard) {
	t.Helper()
	labtest.CheckScreen(t, "the screen", m.View(), m.w, m.h)
}

// checkShown checks that the screen contains texts.
func checkShown(t *testing.T, m *dashboard, texts ...string) {
	t.Helper()
	checkTexts(t, m.View(), true, texts)
}

// checkLacking checks that the screen contains none of the texts.
func checkLacking(t *testing.T, m *dashboard, texts ...string) {
	t.Helper()
	checkTexts(t, m.View(), false, texts)
}

func checkTexts(t *testing.T, view string, want bool, texts []string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(view, text) != want {
			t.Errorf("%q is shown: %v, want %v:\n%s", text, !want, want, view)
		}
	}
}

// checkSent checks the commands that the lab got, see spell.
func checkSent(t *testing.T, got []live.Command, want string) {
	t.Helper()
	if sent := spell(got); sent != want {
		t.Errorf("the lab got %q, want %q", sent, want)
	}
}
