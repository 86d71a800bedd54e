package ui

import (
	"path/filepath"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/golden"
)

// Times in ticks after which notices and pending settings expire.
const noteLasts, noteFresh, askLasts = 120, 20, 20

// compareGolden compares a screen with testdata/name.golden.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", name+".golden"), got+"\n")
}

// screen returns a dashboard of w by h cells without colours.
func screen(lab room.Lab, w, h int, opt Options) *dashboard {
	if opt.Renderer == nil {
		opt.Renderer = labtest.PlainRenderer()
	}
	m := newDashboardWith(lab, opt, fakeCatalog())
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return m
}

// TestGoldenRemote checks that the screen of a session over a network shows only what the network
// reports.
func TestGoldenRemote(t *testing.T) {
	compareGolden(t, "live-160x48-remote", screen(newRemote(), 160, 48, Options{}).View())
	m := screen(newRemote(), 80, 24, Options{})
	press(m, "tab", "tab", "tab", "tab")
	compareGolden(t, "live-80x24-remote", m.View())
	press(m, "3")
	compareGolden(t, "packets-80x24-remote", m.View())
	press(m, "5")
	compareGolden(t, "compare-80x24-remote", m.View())
}

func TestGoldenScreens(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		keys []string
		opt  Options
	}{
		{name: "live-160x48", w: 160, h: 48},
		{name: "live-160x48-ascii", w: 160, h: 48, opt: Options{ASCII: true}},
		{name: "live-80x24-controls", w: 80, h: 24, keys: []string{"tab"}},
		{name: "live-80x24-packets", w: 80, h: 24, keys: []string{"tab", "tab", "left", "left"}},
		{name: "live-80x24-bits", w: 80, h: 24, keys: []string{"tab", "tab", "tab"}},
		{name: "live-80x24-now", w: 80, h: 24, keys: []string{"tab", "tab", "tab", "tab"}},
		{name: "live-80x24-changes", w: 80, h: 24, keys: []string{"shift+tab"}},
		{name: "live-80x24-charts", w: 80, h: 24},
		{name: "live-20x5", w: 20, h: 5},
		{name: "live-112x32", w: 112, h: 32},
		{name: "help-80x24", w: 80, h: 24, keys: []string{"?"}},
		{name: "help-100x30", w: 100, h: 30, keys: []string{"3", "?"}},
		{name: "help-160x48", w: 160, h: 48, keys: []string{"4", "?"}},
		{name: "help-200x60", w: 200, h: 60, keys: []string{"2", "?"}},
		{name: "leave-80x24", w: 80, h: 24, keys: []string{"q"}},
		{name: "leave-100x30", w: 100, h: 30, keys: []string{"q", "down"}},
		{name: "leave-160x48", w: 160, h: 48, keys: []string{"q"}},
		{name: "leave-200x60", w: 200, h: 60, keys: []string{"q", "G"}},
		{name: "leave-20x5", w: 20, h: 5, keys: []string{"q"}},
		{name: "picker-160x48", w: 160, h: 48, keys: []string{"enter"}},
		{name: "more-80x24", w: 80, h: 24,
			keys: []string{"tab", "/", "netem delay 50ms 10ms loss 1% seed 1", "enter", "/", "up netem off", "enter", "down",
				"down", "down", "down", "right", "up"}},
		{name: "model-160x48", w: 160, h: 48,
			keys: []string{"/", "loss gilbert-elliott p=1% r=20%", "enter", "/", "up loss 2%", "enter", "d"}},
		{name: "command-80x24", w: 80, h: 24, keys: []string{"/", "l", "o"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := screen(labtest.NewLab(), c.w, c.h, c.opt)
			press(m, c.keys...)
			compareGolden(t, c.name, m.View())
		})
	}
}
